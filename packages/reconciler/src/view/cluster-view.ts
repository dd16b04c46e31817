/** What the controller knows of the cluster, by the questions it asks: who claims addresses on a network, and which pool serves it. */
import type { Ipv4Address, MacAddress } from '@vmdhcp/dhcp-allocator';
import { IPPOOL_NAME_LABEL, IPPOOL_NAMESPACE_LABEL, networkKey } from '@vmdhcp/ippool-api';
import { compareByAge, isBeingDeleted, type KubernetesObject, keyOf, readField, readText } from '@vmdhcp/kube-runtime';
import type { LastOwners } from '../assignment/assignment-plan.js';
import type { MachineWithoutConfig } from '../assignment/plan-pools.js';
import { mayServeNetwork } from '../network/network-permission.js';
import { type InterfaceClaim, type NetworkConfigClaims, readNetworkConfigClaims } from '../network-config/interface-claims.js';
import { type PoolReading, readPool } from '../pool/read-pool.js';
import { type RecordedAddresses, readRecordedAddresses } from '../pool/recorded-addresses.js';
import { type RememberedInterfaces, readRememberedInterfaces } from '../virtual-machine/remembered-interfaces.js';
import { type MachineKnowledge, type WantedInterface, wantedInterfaces } from '../virtual-machine/wanted-interfaces.js';

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
  readonly instances?: { readonly of: (virtualMachine: KubernetesObject) => MachineKnowledge['instance'] };
}

/** A pool object and what it means. */
export interface PoolView {
  readonly key: string;
  readonly object: KubernetesObject;
  /** `namespace/name`, or empty where the spec names none. */
  readonly network: string;
  readonly paused: boolean;
  readonly reading: PoolReading;
  readonly recorded: RecordedAddresses;
  readonly addressOf: ReadonlyMap<MacAddress, Ipv4Address>;
}

export class ClusterView {
  readonly #sources: ClusterSources;
  readonly #poolViews = new WeakMap<KubernetesObject, PoolView>();
  /** Of the newest version of each pool; a status that changes does not make it be read again. */
  readonly #readings = new Map<string, { readonly of: string; readonly reading: PoolReading }>();
  /** Of the newest version of each pool, so that the next one need not be parsed from the beginning. */
  readonly #recorded = new Map<string, RecordedAddresses>();
  readonly #claims = new WeakMap<KubernetesObject, NetworkConfigClaims>();
  /** As they were indexed. */
  readonly #indexed = new Map<string, NetworkConfigClaims>();
  readonly #configsByNetwork = new Map<string, Set<string>>();
  /** `network mac` to the configs that claim it. */
  readonly #claimants = new Map<string, Set<string>>();
  /** `network mac` to the virtual machines that have such an interface, as they were indexed: copies share MAC addresses. */
  readonly #machinesWith = new Map<string, Set<string>>();
  readonly #interfacesOf = new Map<string, readonly WantedInterface[]>();
  readonly #networkOfPool = new Map<string, string>();
  readonly #poolsByNetwork = new Map<string, Set<string>>();

  constructor(sources: ClusterSources) {
    this.#sources = sources;
  }

  pool(key: string): PoolView | undefined {
    const object = this.#sources.ipPools.get(key);
    return object === undefined ? undefined : this.#viewOf(object);
  }

  pools(): PoolView[] {
    return [...this.#sources.ipPools.values()].map((object) => this.#viewOf(object));
  }

  /**
   * The oldest pool that may serve the network and is not being deleted: two pools on one network would answer for each other. Of
   * several made in the same second it is the one that the network's labels name.
   */
  servingPool(network: string): PoolView | undefined {
    const [oldest, ...others] = [...(this.#poolsByNetwork.get(network) ?? [])]
      .flatMap((key) => this.#sources.ipPools.get(key) ?? [])
      .filter((object) => !isBeingDeleted(object) && this.#mayServe(object, network))
      .toSorted(compareByAge);
    if (oldest === undefined || others.length === 0) return oldest && this.#viewOf(oldest);
    const labels = this.#sources.networks.get(network)?.metadata.labels ?? {};
    const isLabelled = ({ metadata: { namespace, name } }: KubernetesObject) =>
      labels[IPPOOL_NAMESPACE_LABEL] === namespace && labels[IPPOOL_NAME_LABEL] === name;
    const sameAge = others.filter(({ metadata }) => metadata.creationTimestamp === oldest.metadata.creationTimestamp);
    return this.#viewOf([oldest, ...sameAge].find(isLabelled) ?? oldest);
  }

  /** True if the namespace of the pool's network allows the pool to serve it. */
  mayServe({ object, network }: PoolView): boolean {
    return this.#mayServe(object, network);
  }

  #mayServe(pool: KubernetesObject, network: string): boolean {
    return mayServeNetwork(pool, network, this.#sources.networks.get(network));
  }

  /** Keys of the pools that name a network. */
  poolsOn(network: string): Iterable<string> {
    return this.#poolsByNetwork.get(network) ?? [];
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
    return this.#configsByNetwork.get(network) ?? NO_KEYS;
  }

  /** The claims of those configs. */
  *claimsOn(network: string): Generator<NetworkConfigClaims> {
    for (const key of this.configsOn(network)) {
      const object = this.#sources.networkConfigs.get(key);
      if (object !== undefined) yield this.claimsOf(object);
    }
  }

  /**
   * A config as far as it is believed on these networks: an address of an interface in it does not count if its
   * virtual machine has no such interface, and another one has. Some client wrote it there.
   */
  believed(config: NetworkConfigClaims, networks: ReadonlySet<string>): NetworkConfigClaims {
    const claims = config.claims.map((claim) =>
      networks.has(claim.network) && this.#isUnfounded(config.key, claim) ? withoutRecord(claim) : claim,
    );
    return { ...config, claims };
  }

  #isUnfounded(key: string, { network, macAddress, replaces = [] }: InterfaceClaim): boolean {
    const machinesWith = (one: MacAddress) => this.#machinesWith.get(`${network} ${one}`) ?? NO_KEYS;
    return !machinesWith(macAddress).has(key) && [macAddress, ...replaces].some((one) => machinesWith(one).size > 0);
  }

  /** Keys of the configs that claim a MAC address on a network. */
  claimants(network: string, macAddress: MacAddress): ReadonlySet<string> {
    return this.#claimants.get(`${network} ${macAddress}`) ?? NO_KEYS;
  }

  /**
   * A virtual machine that has an interface with this MAC address on this network, and whose config is on its way: gone, or
   * going. What is recorded for it is not free.
   */
  reservingMachine(network: string, macAddress: MacAddress): string | undefined {
    return this.#reservingMachine(network, macAddress, undefined);
  }

  #reservingMachine(network: string, macAddress: MacAddress, lastOwner: string | undefined): string | undefined {
    let found: string | undefined;
    for (const machine of this.#machinesWith.get(`${network} ${macAddress}`) ?? []) {
      const config = this.#sources.networkConfigs.get(machine);
      if (config !== undefined && !isBeingDeleted(config)) continue;
      if (machine === lastOwner) return machine;
      found ??= machine;
    }
    return found;
  }

  /**
   * Recorded clients of a pool that a virtual machine has and does not claim at the moment, also where another one claims the
   * same MAC address. Of several such machines it is the one that had the address last, where that is known.
   */
  reserved({ network, addressOf }: PoolView, lastOwners: LastOwners): Map<MacAddress, MachineWithoutConfig> {
    const reserved = new Map<MacAddress, MachineWithoutConfig>();
    for (const macAddress of addressOf.keys()) {
      const owner = this.#reservingMachine(network, macAddress, lastOwners.get(macAddress)?.owner);
      if (owner === undefined) continue;
      const { creationTimestamp = '' } = this.#sources.virtualMachines.get(owner)?.metadata ?? {};
      reserved.set(macAddress, { owner, createdAt: creationTimestamp });
    }
    return reserved;
  }

  /** What is known of a virtual machine besides its own object. */
  knowledgeOf(virtualMachine: KubernetesObject): MachineKnowledge {
    return {
      instance: this.#sources.instances?.of(virtualMachine),
      remembered: this.#remembered(keyOf(virtualMachine)),
      hasAddress: (network, macAddress) => this.servingPool(network)?.addressOf.has(macAddress) === true,
    };
  }

  /** What its config remembers of each interface; if that has nothing (a user deleted it), what was known before. */
  #remembered(key: string): RememberedInterfaces {
    const known = (this.#interfacesOf.get(key) ?? []).map(
      ({ name, networkName, macAddress }) => [name, { networkName, macAddress, replaces: [] }] as const,
    );
    return new Map([...known, ...readRememberedInterfaces(this.#sources.networkConfigs.get(key))]);
  }

  /**
   * Takes note of a virtual machine that has changed, or whose instance has. Returns the networks on which it has one
   * interface less.
   */
  noteVirtualMachine(key: string): ReadonlySet<string> {
    const before = this.#interfacesOf.get(key) ?? [];
    const object = this.#sources.virtualMachines.get(key);
    const after = object === undefined ? [] : (wantedInterfaces(object, this.knowledgeOf(object)).interfaces ?? before);
    for (const one of before) removeFrom(this.#machinesWith, identity(one), key);
    for (const one of after) addTo(this.#machinesWith, identity(one), key);
    if (object === undefined) this.#interfacesOf.delete(key);
    else this.#interfacesOf.set(key, after);
    const kept = new Set(after.map(identity));
    return new Set(before.filter((one) => !kept.has(identity(one))).map(({ networkName }) => networkName));
  }

  /** Takes note of a config that is another than before. Returns the networks on which claims have changed. */
  noteNetworkConfig(key: string): ReadonlySet<string> {
    const object = this.#sources.networkConfigs.get(key);
    const before = this.#indexed.get(key);
    const after = object === undefined ? undefined : this.claimsOf(object);
    if (before !== undefined && after !== undefined && describe(before) === describe(after)) {
      this.#indexed.set(key, after);
      return NO_KEYS;
    }
    if (before !== undefined) this.#unindex(before);
    if (after !== undefined) this.#index(after);
    return new Set([before, after].flatMap((config) => config?.claims ?? []).map(({ network }) => network));
  }

  #unindex({ key, claims }: NetworkConfigClaims): void {
    this.#indexed.delete(key);
    for (const { network, macAddress } of claims) {
      removeFrom(this.#configsByNetwork, network, key);
      removeFrom(this.#claimants, `${network} ${macAddress}`, key);
    }
  }

  #index(config: NetworkConfigClaims): void {
    this.#indexed.set(config.key, config);
    for (const { network, macAddress } of config.claims) {
      addTo(this.#configsByNetwork, network, config.key);
      addTo(this.#claimants, `${network} ${macAddress}`, config.key);
    }
  }

  /** Takes note of a pool that is another than before. Returns the networks it served and serves. */
  notePool(key: string): ReadonlySet<string> {
    const before = this.#networkOfPool.get(key);
    const after = this.pool(key)?.network;
    if (before !== undefined) removeFrom(this.#poolsByNetwork, before, key);
    if (after === undefined) {
      this.#networkOfPool.delete(key);
      this.#readings.delete(key);
      this.#recorded.delete(key);
    } else {
      addTo(this.#poolsByNetwork, after, key);
      this.#networkOfPool.set(key, after);
    }
    return new Set([before, after].filter((network) => network !== undefined));
  }

  #viewOf(object: KubernetesObject): PoolView {
    const known = this.#poolViews.get(object);
    if (known !== undefined) return known;
    const key = keyOf(object);
    const recorded = readRecordedAddresses(object, this.#recorded.get(key));
    this.#recorded.set(key, recorded);
    const networkName = readText(object.spec, 'networkName') ?? '';
    const view: PoolView = {
      key,
      object,
      network: networkName === '' ? '' : networkKey(networkName, object.metadata.namespace),
      paused: readField(object.spec, 'paused') === true,
      reading: this.#readingOf(object),
      recorded,
      addressOf: new Map(recorded.assignments.map(({ macAddress, address }) => [macAddress, address])),
    };
    this.#poolViews.set(object, view);
    return view;
  }

  #readingOf(object: KubernetesObject): PoolReading {
    const key = keyOf(object);
    const { uid, generation } = object.metadata;
    const known = this.#readings.get(key);
    if (known !== undefined && generation !== undefined && known.of === `${uid} ${generation}`) return known.reading;
    const reading = readPool(object);
    this.#readings.set(key, { of: `${uid} ${generation}`, reading });
    return reading;
  }
}

const NO_KEYS: ReadonlySet<string> = new Set();

function withoutRecord({ network, macAddress, wanted }: InterfaceClaim): InterfaceClaim {
  return { network, macAddress, ...(wanted !== undefined && { wanted }) };
}

function identity({ networkName, macAddress }: WantedInterface): string {
  return `${networkName} ${macAddress}`;
}

function addTo(index: Map<string, Set<string>>, at: string, key: string): void {
  const keys = index.get(at) ?? new Set();
  index.set(at, keys.add(key));
}

function removeFrom(index: Map<string, Set<string>>, at: string, key: string): void {
  const keys = index.get(at);
  keys?.delete(key);
  if (keys?.size === 0) index.delete(at);
}

/** What of claims a plan depends on; where an address was last matters only until it is recorded. */
function describe({ claims, unreadable }: NetworkConfigClaims): string {
  return JSON.stringify([claims.map(({ network, macAddress, wanted }) => [network, macAddress, wanted ?? 0]), unreadable]);
}
