/** The controller's knowledge about the cluster, in the form of its queries: who claims addresses on a network, which pool serves it, and so on. */
import { formatIpv4Address, type Ipv4Address, type MacAddress, mayBeKept } from '@vmdhcp/dhcp-allocator';
import { IPPOOL_FINALIZER, IPPOOL_NAME_LABEL, IPPOOL_NAMESPACE_LABEL, type NetworkConfig, networkKey } from '@vmdhcp/ippool-api';
import {
  compareByAge,
  isBeingDeleted,
  type KubernetesObject,
  keyOf,
  parseTime,
  readField,
  readList,
  readText,
} from '@vmdhcp/kube-runtime';
import type { LastOwners } from '../assignment/assignment-plan.js';
import type { MachineWithoutClaim } from '../assignment/pool-to-plan.js';
import { mayServeNetwork } from '../network/network-permission.js';
import {
  type InterfaceClaim,
  type NetworkClaims,
  type NetworkConfigClaims,
  readNetworkConfigClaims,
} from '../network-config/interface-claims.js';
import { MOST_INTERFACES } from '../virtual-machine/fit-entries.js';
import { readLeavingNetworks } from '../virtual-machine/leaving-networks.js';
import { type NetworksOfMachine, networksOfMachine } from '../virtual-machine/machine-interfaces.js';
import { type RememberedInterfaces, readRememberedInterfaces } from '../virtual-machine/remembered-interfaces.js';
import { type MachineKnowledge, type WantedInterface, wantedInterfaces } from '../virtual-machine/wanted-interfaces.js';
import type { InstanceSource, NewestInstance } from './instance-source.js';
import { MachinesWithoutClaim } from './machines-without-claim.js';
import { NetworkConfigIndex } from './network-config-index.js';
import { type PoolView, PoolViews } from './pool-views.js';
import { VirtualMachineIndex } from './virtual-machine-index.js';

/** Objects of one kind, by key. */
export interface ObjectSource {
  readonly get: (key: string) => KubernetesObject | undefined;
  readonly values: () => Iterable<KubernetesObject>;
}

export interface ClusterSources {
  readonly virtualMachines: ObjectSource;
  readonly networks: ObjectSource;
  readonly ipPools: ObjectSource;
  readonly networkConfigs: ObjectSource;
  /** The running virtual machines; default: none. */
  readonly instances?: Pick<InstanceSource, 'of' | 'isAbsent'>;
  /** The owners of addresses in the last recorded plans, by the key of their pool; default: not known. */
  readonly lastOwners?: ReadonlyMap<string, LastOwners>;
}

const NO_CLAIMS: Pick<NetworkConfigClaims, 'createdAt' | 'claims'> = { createdAt: '', claims: [] };

export class ClusterView {
  readonly #sources: ClusterSources;
  readonly #pools = new PoolViews();
  readonly #networkConfigs = new NetworkConfigIndex();
  readonly #virtualMachines = new VirtualMachineIndex();
  readonly #claims = new WeakMap<KubernetesObject, NetworkConfigClaims>();
  readonly #withoutClaim = new MachinesWithoutClaim();

  constructor(sources: ClusterSources) {
    this.#sources = sources;
  }

  pool(key: string): PoolView | undefined {
    const object = this.#sources.ipPools.get(key);
    return object === undefined ? undefined : this.#pools.of(object);
  }

  pools(): PoolView[] {
    return [...this.#sources.ipPools.values()].map((object) => this.#pools.of(object));
  }

  /**
   * The oldest pool that may serve the network and is not being deleted: two pools on one network would answer each other's clients. If several were
   * created in the same second, the network's labels decide.
   */
  servingPool(network: string): PoolView | undefined {
    const [oldest, ...others] = this.#poolsThatMayServe(network).filter((object) => !isBeingDeleted(object));
    if (oldest === undefined) return undefined;
    const labels = this.#sources.networks.get(network)?.metadata.labels ?? {};
    const isLabelled = ({ metadata: { namespace, name } }: KubernetesObject) =>
      labels[IPPOOL_NAMESPACE_LABEL] === namespace && labels[IPPOOL_NAME_LABEL] === name;
    const sameAge = others.filter(({ metadata }) => metadata.creationTimestamp === oldest.metadata.creationTimestamp);
    return this.#pools.of([oldest, ...sameAge].find(isLabelled) ?? oldest);
  }

  /** The deleted pool that stopped serving the network last, as long as it has its finalizer; undefined if another one serves the network. */
  endingPool(network: string): PoolView | undefined {
    if (this.servingPool(network) !== undefined) return undefined;
    const deletedAt = ({ metadata }: KubernetesObject) => parseTime(metadata.deletionTimestamp ?? '');
    const [last] = this.#poolsThatMayServe(network)
      .filter(({ metadata }) => metadata.finalizers?.includes(IPPOOL_FINALIZER) === true)
      .toSorted((one, other) => deletedAt(other) - deletedAt(one));
    return last && this.#pools.of(last);
  }

  /**
   * The config to which an ending pool leaves the address of a client: the only claimant, or the oldest one without an address. Undefined if a
   * claimant shows the address already.
   */
  heirOf({ network, reading, addressOf }: PoolView, macAddress: MacAddress): string | undefined {
    const address = addressOf.get(macAddress);
    if (address === undefined || !reading.ok || !mayBeKept(reading.pool, address)) return undefined;
    const claims = [...this.claimants(network, macAddress)].flatMap((key) => {
      const object = this.#sources.networkConfigs.get(key);
      const { createdAt, claims: own } = object === undefined ? NO_CLAIMS : this.claimsOf(object);
      const claim = own.find((one) => one.network === network && one.macAddress === macAddress);
      return claim === undefined || this.#isUnfounded(key, claim) ? [] : [{ key, createdAt, previous: claim.previous }];
    });
    if (claims.some(({ previous }) => previous === address)) return undefined;
    if (claims.length === 1) return claims[0]?.key;
    const without = claims.filter(({ previous }) => previous === undefined);
    return without.toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1))[0]?.key;
  }

  /** The oldest first. */
  #poolsThatMayServe(network: string): readonly KubernetesObject[] {
    return [...this.#pools.on(network)]
      .flatMap((key) => this.#sources.ipPools.get(key) ?? [])
      .filter((object) => this.#mayServe(object, network))
      .toSorted(compareByAge);
  }

  /** True if the namespace of the pool's network allows the pool to serve it. */
  mayServe({ object, network }: PoolView): boolean {
    return this.#mayServe(object, network);
  }

  #mayServe(pool: KubernetesObject, network: string): boolean {
    return mayServeNetwork(pool, network, this.#sources.networks.get(network));
  }

  /** Keys of the pools that name a network. */
  poolsOn(network: string): ReadonlySet<string> {
    return this.#pools.on(network);
  }

  claimsOf(object: KubernetesObject): NetworkConfigClaims {
    const known = this.#claims.get(object);
    if (known !== undefined) return known;
    const claims = readNetworkConfigClaims(object);
    this.#claims.set(object, claims);
    return claims;
  }

  /** Keys of the configs that claim addresses on a network. */
  configsOn(network: string): ReadonlySet<string> {
    return this.#networkConfigs.on(network);
  }

  /** The claims of those configs, by key, in a version that does not change. */
  claimsOn(network: string): NetworkClaims {
    return this.#networkConfigs.claimsOn(network);
  }

  /** The claims of those that have several interfaces. */
  *severalClaimsOn(network: string): Generator<NetworkConfigClaims> {
    const all = this.claimsOn(network);
    for (const key of this.#networkConfigs.withSeveral(network)) {
      const config = all.get(key);
      if (config !== undefined) yield config;
    }
  }

  /**
   * The trusted part of a config on these networks: an interface's address is ignored if its virtual machine has no such interface, but another one
   * has, because then some client wrote it there.
   */
  believed(config: NetworkConfigClaims, networks: ReadonlySet<string>): NetworkConfigClaims {
    const claims = config.claims.map((claim) =>
      networks.has(claim.network) && this.#isUnfounded(config.key, claim) ? withoutRecord(claim) : claim,
    );
    return { ...config, claims };
  }

  #isUnfounded(key: string, { network, macAddress, replaces = [] }: InterfaceClaim): boolean {
    const machinesWith = (one: MacAddress) => this.#virtualMachines.having(network, one);
    return !machinesWith(macAddress).has(key) && [macAddress, ...replaces].some((one) => machinesWith(one).size > 0);
  }

  /** Keys of the configs that claim a MAC address on a network. */
  claimants(network: string, macAddress: MacAddress): ReadonlySet<string> {
    return this.#networkConfigs.claiming(network, macAddress);
  }

  /** Interfaces of virtual machines that want an address on a network, by the key of their virtual machine. */
  *machinesWanting(network: string, address: Ipv4Address): Generator<readonly [key: string, macAddress: MacAddress]> {
    const text = formatIpv4Address(address);
    for (const key of this.#virtualMachines.wanting(network, text)) {
      for (const { networkName, ipAddress, macAddress } of this.#virtualMachines.interfacesOf(key)) {
        if (networkName === network && ipAddress === text) yield [key, macAddress];
      }
    }
  }

  /** Claims of configs to an address on a network, met or not, by the key of their config. */
  *configsWanting(network: string, address: Ipv4Address): Generator<readonly [key: string, macAddress: MacAddress]> {
    for (const key of this.#networkConfigs.wanting(network, address)) {
      const object = this.#sources.networkConfigs.get(key);
      for (const claim of object === undefined ? [] : this.claimsOf(object).claims) {
        if (claim.network === network && claim.wanted === address) yield [key, claim.macAddress];
      }
    }
  }

  /** Keys of the virtual machines with an interface on a network, as far as MAC addresses are known. Looks at all of them: networks rarely change. */
  machinesOn(network: string): Iterable<string> {
    return this.#virtualMachines.on(network);
  }

  /** Keys of the virtual machines that have an interface with this MAC address on this network. */
  machinesHaving(network: string, macAddress: MacAddress): ReadonlySet<string> {
    return this.#virtualMachines.having(network, macAddress);
  }

  /**
   * A virtual machine with this MAC address on this network that its config does not claim yet, or a virtual machine without a config that may still be
   * there: it runs, has this MAC address on another network, and no other machine has it here. Its recorded addresses are not free.
   */
  reservingMachine(network: string, macAddress: MacAddress): string | undefined {
    return this.#reservingMachine(network, macAddress, undefined);
  }

  #reservingMachine(network: string, macAddress: MacAddress, lastOwner: string | undefined): string | undefined {
    let found: string | undefined;
    for (const machine of this.#virtualMachines.having(network, macAddress)) {
      if (!this.#isUnclaimed(machine, network, macAddress)) continue;
      if (machine === lastOwner) return machine;
      found ??= machine;
    }
    return found ?? this.#leavingMachine(network, macAddress, lastOwner);
  }

  /**
   * True if a virtual machine still waits for its config to claim an interface. A paused config gives up its addresses, and one with as many interfaces of
   * its machine as fit claims no other.
   */
  #isUnclaimed(machine: string, network: string, macAddress: MacAddress): boolean {
    const config = this.#sources.networkConfigs.get(machine);
    if (config === undefined || isBeingDeleted(config)) return true;
    if (readField(config.spec, 'paused') === true || this.claimants(network, macAddress).has(machine)) return false;
    const own = this.claimsOf(config).claims.filter((one) => this.machinesHaving(one.network, one.macAddress).has(machine));
    return own.length < MOST_INTERFACES;
  }

  #leavingMachine(network: string, macAddress: MacAddress, lastOwner: string | undefined): string | undefined {
    if (!this.#isNobodys(network, macAddress)) return undefined;
    return this.#withoutClaim.runningElsewhere(network, macAddress).find((key) => key === (lastOwner ?? key));
  }

  #isNobodys(network: string, macAddress: MacAddress): boolean {
    return this.#virtualMachines.having(network, macAddress).size === 0 && this.claimants(network, macAddress).size === 0;
  }

  /** Undefined if not known. */
  #lastOwnerOf(pool: string, macAddress: MacAddress): string | undefined {
    return this.#sources.lastOwners?.get(pool)?.get(macAddress)?.owner;
  }

  /**
   * The addresses that pools record for the MAC addresses of a machine's guest, on networks where no machine has them now, unless another machine had
   * them last. A reservation is recorded although no machine has ever been there, and the record of an invalid pool cannot be freed.
   */
  #recordedElsewhere(machine: string, guest: NetworksOfMachine): NetworkConfig[] {
    const isIts = ({ key }: PoolView, macAddress: MacAddress) => (this.#lastOwnerOf(key, macAddress) ?? machine) === machine;
    return [...guest].flatMap(([macAddress, networks]) =>
      this.pools()
        .filter((pool) => !networks.has(pool.network) && hasRecorded(pool, macAddress) && isIts(pool, macAddress))
        .filter(({ network }) => this.#isNobodys(network, macAddress))
        .map(({ network }) => ({ networkName: network, macAddress })),
    );
  }

  /**
   * Recorded clients of a pool that belong to a virtual machine which does not claim them at the moment, even if another one claims the same MAC
   * address. If there are several such machines, it is the one that had the address last, if known.
   */
  reserved({ key, network, addressOf }: PoolView): Map<MacAddress, MachineWithoutClaim> {
    const reserved = new Map<MacAddress, MachineWithoutClaim>();
    const interfaces = [...this.#withoutClaim.on(network)].flatMap((machine) => this.#virtualMachines.interfacesOf(machine));
    const here = interfaces.filter(({ networkName }) => networkName === network).map(({ macAddress }) => macAddress);
    for (const macAddress of [...here, ...this.#withoutClaim.guests()]) {
      if (!addressOf.has(macAddress) || reserved.has(macAddress)) continue;
      const owner = this.#reservingMachine(network, macAddress, this.#lastOwnerOf(key, macAddress));
      if (owner === undefined) continue;
      const { creationTimestamp = '' } = this.#sources.virtualMachines.get(owner)?.metadata ?? {};
      reserved.set(macAddress, { owner, createdAt: creationTimestamp });
    }
    return reserved;
  }

  /** The knowledge about a virtual machine besides its own object. @param newest - its instance from the API server; absent for the last seen one. */
  knowledgeOf(virtualMachine: KubernetesObject, newest?: NewestInstance): MachineKnowledge {
    const key = keyOf(virtualMachine);
    return {
      instance: this.#sources.instances?.of(virtualMachine, newest),
      remembered: this.#remembered(key),
      hasAddress: (network, macAddress) => this.servingPool(network)?.addressOf.has(macAddress) === true,
      recordedElsewhere: () => this.#recordedElsewhere(key, this.#withoutClaim.guestOf(key)),
      lastInstanceOn: (identity) => this.#virtualMachines.lastInstanceOn(key, identity),
      networks: {
        definition: (network) => this.#sources.networks.get(network),
        isServed: (network) => this.servingPool(network) !== undefined,
      },
    };
  }

  /** True if a virtual machine with an address on the network has been running there since then. @param sinceMs - milliseconds since 1970 */
  hasMachineRunningSince(network: string, sinceMs: number): boolean {
    const { virtualMachines, instances } = this.#sources;
    const addressOf = this.servingPool(network)?.addressOf;
    const hasAddress = ({ macAddress }: InterfaceClaim) => addressOf?.has(macAddress) === true;
    return [...this.claimsOn(network)].some(([key, { claims }]) => {
      const machine = virtualMachines.get(key);
      const instance = machine && instances?.of(machine);
      if (typeof instance !== 'object' || !claims.some((claim) => claim.network === network && hasAddress(claim))) return false;
      // A guest that waits for its migration may be on another network than its instance.
      const isMoving = readLeavingNetworks(this.#sources.networkConfigs.get(key)).size > 0;
      const isThere = !isMoving && networksOf(instance.spec, machine?.metadata.namespace).has(network);
      return isThere && parseTime(instance.runningSince ?? '') <= sinceMs;
    });
  }

  /** True if there is neither a virtual machine of that name nor an instance of one. */
  isMachineGone(key: string): boolean {
    return this.#sources.virtualMachines.get(key) === undefined && this.#sources.instances?.isAbsent(key) === true;
  }

  /** The interfaces that its config remembers, or the last known ones if it has none because a user deleted it. */
  #remembered(key: string): RememberedInterfaces {
    const known = this.#virtualMachines
      .interfacesOf(key)
      .map(({ name, networkName, macAddress }) => [name, { networkName, macAddress, replaces: [] }] as const);
    return new Map([...known, ...this.recordedInterfaces(key)]);
  }

  /** The interfaces that the config of a virtual machine remembers, which survive a restart of the controller. */
  recordedInterfaces(key: string): RememberedInterfaces {
    return readRememberedInterfaces(this.#sources.networkConfigs.get(key));
  }

  /** Notes a change of a virtual machine or its instance. Returns the networks on which it has one interface less. */
  noteVirtualMachine(key: string): ReadonlySet<string> {
    const object = this.#sources.virtualMachines.get(key);
    const interfaces = object && this.#interfacesOf(object);
    const instance = object && this.#sources.instances?.of(object);
    if (typeof instance === 'object') this.#virtualMachines.noteInstance(key, interfaces ?? [], instance.uid);
    const lost = this.#virtualMachines.update(key, interfaces);
    return new Set([...lost, ...this.#noteWithoutClaim(key)]);
  }

  /** If nothing is known now, those that were known last. Those that only keep what they have count too, as a person may delete the config. */
  #interfacesOf(virtualMachine: KubernetesObject): readonly WantedInterface[] {
    const { interfaces, held } = wantedInterfaces(virtualMachine, this.knowledgeOf(virtualMachine));
    return interfaces === undefined ? this.#virtualMachines.interfacesOf(keyOf(virtualMachine)) : [...interfaces, ...held];
  }

  #unclaimedInterfaces(key: string): readonly WantedInterface[] {
    return this.#virtualMachines
      .interfacesOf(key)
      .filter(({ networkName, macAddress }) => this.#isUnclaimed(key, networkName, macAddress));
  }

  /** Returns the networks on which an address was kept for its guest that is free now. */
  #noteWithoutClaim(key: string): readonly string[] {
    const before = this.#withoutClaim.guestOf(key);
    const machine = this.#sources.virtualMachines.get(key);
    const config = this.#sources.networkConfigs.get(key);
    const hasConfig = config !== undefined && !isBeingDeleted(config);
    const isGivenUp = this.#withoutClaim.isGivenUp(key, config?.metadata.uid);
    const unclaimed = this.#unclaimedInterfaces(key);
    if (machine === undefined) this.#withoutClaim.forget(key);
    else if (hasConfig)
      this.#withoutClaim.update(key, unclaimed.length === 0 ? undefined : { interfaces: unclaimed, guest: undefined });
    else {
      const knowledge = this.knowledgeOf(machine);
      const guest = knowledge.instance === undefined || isGivenUp ? undefined : networksOfMachine(machine, knowledge);
      this.#withoutClaim.update(key, { interfaces: unclaimed, guest });
    }
    if (this.#withoutClaim.guestOf(key).size > 0) return [];
    return this.#recordedElsewhere(key, before).map(({ networkName }) => networkName);
  }

  /** Notes that the controller deletes a config because the guest of its machine uses none of its addresses any more; undefined if it does not. */
  giveUpConfig(key: string, uid: string | undefined): void {
    this.#withoutClaim.giveUp(key, uid);
  }

  /** Notes a change of a config. Returns the networks on which its claims have changed. */
  noteNetworkConfig(key: string): ReadonlySet<string> {
    const object = this.#sources.networkConfigs.get(key);
    const claimed = this.#networkConfigs.update(key, object && this.claimsOf(object));
    // What a config remembers may be an interface of its machine.
    const isBehind = object !== undefined && this.#unclaimedInterfaces(key).length > 0;
    return new Set([...claimed, ...(isBehind ? this.noteVirtualMachine(key) : this.#noteWithoutClaim(key))]);
  }

  /** Notes a change of a pool. Returns its former and new networks. */
  notePool(key: string): ReadonlySet<string> {
    return this.#pools.update(key, this.#sources.ipPools.get(key));
  }
}

/** True if it has the address because a machine has claimed it. */
function hasRecorded({ addressOf, reading }: PoolView, macAddress: MacAddress): boolean {
  const address = addressOf.get(macAddress);
  return address !== undefined && reading.ok && reading.pool.reservations.get(macAddress)?.address !== address;
}

function withoutRecord({ network, macAddress, wanted, isLeaving }: InterfaceClaim): InterfaceClaim {
  return { network, macAddress, ...(wanted !== undefined && { wanted }), ...(isLeaving && { isLeaving }) };
}

/** Keys of the networks of an instance's interfaces: an interface that was added to its machine comes with a restart, or a moment later. */
function networksOf(spec: unknown, namespace: string | undefined): ReadonlySet<string> {
  const names = readList(spec, 'networks').flatMap((one) => readText(one, 'multus', 'networkName') ?? []);
  return new Set(names.map((name) => networkKey(name, namespace)));
}
