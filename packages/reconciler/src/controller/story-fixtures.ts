/** The common parts of stories with seeds: the kinds of violations, the wanted interfaces, and the history of addresses. */
import { STATIC_IP_ANNOTATION_PREFIX } from '@vmdhcp/ippool-api';
import { isBeingDeleted, type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';

import { readRememberedInterfaces } from '../virtual-machine/remembered-interfaces.js';
import type { Running } from './controller-fixtures.js';

export interface StoryFault {
  /**
   * `double-owner`: two machines have the same address, or it went from a machine that still exists to another. `leak`: an address is recorded for a
   * MAC address that no interface has.
   */
  readonly kind: 'double-owner' | 'leak' | 'other';
  readonly message: string;
}

export const other = (message: string): StoryFault => ({ kind: 'other', message });

/** An interface of the instance, or of the next instance. */
export interface ExpectedInterface {
  readonly name: string;
  readonly network: string;
  /** Undefined if KubeVirt chooses one. */
  readonly macAddress: string | undefined;
}

/** Computed from stored objects, without the controller's code. */
export function expectedInterfaces(running: Running, machine: KubernetesObject): ExpectedInterface[] {
  const instance = running.cluster.virtualMachineInstances.objects.get(`default/${machine.metadata.name}`);
  const isOver = ['Succeeded', 'Failed'].includes(readText(instance?.status, 'phase') ?? '');
  const isIts = readText(instance?.metadata.ownerReferences?.[0], 'uid') === machine.metadata.uid;
  const runs = instance !== undefined && !isOver && isIts;
  const shape = runs ? instance.spec : readField(machine.spec, 'template', 'spec');
  const reported = new Map(
    readList(runs ? instance.status : undefined, 'interfaces').map((entry) => [readText(entry, 'name'), readText(entry, 'mac')]),
  );
  const asked = new Map(
    readList(shape, 'domain', 'devices', 'interfaces').map((entry) => [readText(entry, 'name'), readText(entry, 'macAddress')]),
  );
  return readList(shape, 'networks').map((entry) => {
    const name = readText(entry, 'name') ?? '';
    const network = `default/${readText(entry, 'multus', 'networkName') ?? ''}`;
    return { name, network, macAddress: reported.get(name) ?? asked.get(name) };
  });
}

interface Kept {
  readonly network: string;
  /** The uid of the pool, because a new pool knows nothing of it. */
  readonly pool: string | undefined;
  readonly address: string;
  readonly macAddress: string;
  /** Its config was deleted by hand: it has its address again, but for the same MAC address only. */
  readonly isBound: boolean;
}

/** The pool that serves a network. */
export interface ServingPool {
  readonly uid: string | undefined;
  /** Address to MAC address. */
  readonly record: Readonly<Record<string, string>>;
}

/**
 * Checks the owners of addresses after each step of a story: an interface keeps its address as long as it exists, and no address goes from an
 * existing machine to another.
 */
export class Holdings {
  readonly #running: Running;
  readonly #poolOn: (network: string) => ServingPool;
  /** By uid of the machine and name of the interface. */
  readonly #kept = new Map<string, Kept>();
  /** By uid: machines whose addresses were given up by a person. */
  readonly #paused = new Set<string | undefined>();

  constructor(running: Running, poolOn: (network: string) => ServingPool) {
    this.#running = running;
    this.#poolOn = poolOn;
  }

  /** A person paused the config of a machine: its addresses are free for others, also if the controller hears of it late. */
  configPaused(machine: KubernetesObject): void {
    this.#paused.add(machine.metadata.uid);
  }

  wasConfigPaused({ metadata }: KubernetesObject): boolean {
    return this.#paused.has(metadata.uid);
  }

  /**
   * A person deleted the config of a machine. Its content is lost: an address that is recorded in no pool at the moment, and a
   * MAC address that KubeVirt chose for an instance that has ended, which only the controller remembers, until that ends too.
   */
  configDeleted(machine: KubernetesObject): void {
    for (const { name, macAddress } of expectedInterfaces(this.#running, machine)) {
      const key = keyOf(machine, name);
      const kept = this.#kept.get(key);
      if (kept === undefined) continue;
      const isRecorded = this.#poolOn(kept.network).record[kept.address] === kept.macAddress;
      if (macAddress !== undefined && isRecorded) this.#kept.set(key, { ...kept, isBound: true });
      else this.#kept.delete(key);
    }
  }

  /**
   * A person deletes a pool: nothing contains the addresses any more whose configs were deleted by hand and have not been written again, so
   * they are lost.
   *
   * @param uid - of the pool.
   */
  poolDeleted(uid: string | undefined): void {
    for (const [key, kept] of this.#kept) if (kept.isBound && kept.pool === uid) this.#kept.delete(key);
  }

  /** Returns the violations so far. */
  look(): StoryFault[] {
    const { virtualMachines, networkConfigs } = this.#running.cluster;
    const machines = [...virtualMachines.objects.values()].filter(({ metadata }) => !this.#paused.has(metadata.uid));
    const faults: StoryFault[] = [];
    const seen = new Set<string>();
    for (const machine of machines) {
      const config = networkConfigs.objects.get(`default/${machine.metadata.name}`);
      for (const one of expectedInterfaces(this.#running, machine)) {
        const key = keyOf(machine, one.name);
        seen.add(key);
        const fault = this.#lookAt(key, machine, one);
        if (fault !== undefined) faults.push(fault);
        if (config !== undefined && isOwnedBy(config, machine)) this.#note(key, one, config);
      }
    }
    // An interface that no longer exists may lose its address.
    for (const key of this.#kept.keys()) if (!seen.has(key)) this.#kept.delete(key);
    return faults;
  }

  #lookAt(key: string, machine: KubernetesObject, one: ExpectedInterface): StoryFault | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    if (this.#isGivenUp(kept, machine, one)) {
      this.#kept.delete(key);
      return undefined;
    }
    const { uid, record } = this.#poolOn(kept.network);
    const owner = record[kept.address];
    if (owner === kept.macAddress || owner === one.macAddress) return undefined;
    const had = `${machine.metadata.name} had ${kept.address} on ${kept.network} for ${kept.macAddress}`;
    if (owner === undefined) return uid === kept.pool ? other(`${had}: it was freed`) : undefined;
    const thief = this.#ownerOf(kept.network, owner, machine);
    return thief === undefined ? undefined : { kind: 'double-owner', message: `${had}: it is ${thief}'s (${owner})` };
  }

  /** True if the interface may lose the address because of an act of a person. */
  #isGivenUp(kept: Kept, machine: KubernetesObject, one: ExpectedInterface): boolean {
    if (kept.network !== one.network || this.#isPinnedElsewhere(kept, machine, one)) return true;
    const isChanged = kept.macAddress !== one.macAddress;
    return isChanged && (kept.isBound || this.#isShared(machine, one));
  }

  /** By its annotation, or by a former one that the controller still uses. */
  #isPinnedElsewhere({ network, address, macAddress }: Kept, machine: KubernetesObject, { name }: ExpectedInterface): boolean {
    const config = this.#running.cluster.networkConfigs.objects.get(`default/${machine.metadata.name}`);
    const entry = readList(config?.spec, 'networkConfigs').find(
      (one) => readText(one, 'networkName') === network && readText(one, 'macAddress') === macAddress,
    );
    const pins = [machine.metadata.annotations?.[`${STATIC_IP_ANNOTATION_PREFIX}${name}`], readText(entry, 'ipAddress')];
    return pins.some((pin) => pin !== undefined && pin !== address);
  }

  /** True if another machine has the same MAC address on the network: either of them may have the address. */
  #isShared(machine: KubernetesObject, { network, macAddress }: ExpectedInterface): boolean {
    return macAddress !== undefined && this.#ownerOf(network, macAddress, machine) !== undefined;
  }

  /** Another machine that has this MAC address on this network. */
  #ownerOf(network: string, macAddress: string, { metadata }: KubernetesObject): string | undefined {
    return [...this.#running.cluster.virtualMachines.objects.values()].find(
      (one) =>
        one.metadata.name !== metadata.name &&
        expectedInterfaces(this.#running, one).some(
          (nic) => nic.network === network && (nic.macAddress ?? this.#remembered(one, nic.name)) === macAddress,
        ),
    )?.metadata.name;
  }

  #remembered(machine: KubernetesObject, name: string): string | undefined {
    const config = this.#running.cluster.networkConfigs.objects.get(`default/${machine.metadata.name}`);
    return readRememberedInterfaces(config).get(name)?.macAddress;
  }

  #note(key: string, one: ExpectedInterface, config: KubernetesObject): void {
    if (isBeingDeleted(config)) return;
    const macAddress = one.macAddress ?? readRememberedInterfaces(config).get(one.name)?.macAddress;
    const entry = readList(config.status, 'networkConfigs').find(
      (entry) => readText(entry, 'macAddress') === macAddress && readText(entry, 'networkName') === one.network,
    );
    const address = readText(entry, 'allocatedIPAddress');
    if (macAddress === undefined || address === undefined || readText(entry, 'state') !== 'Allocated') return;
    const { uid, record } = this.#poolOn(one.network);
    if (record[address] === macAddress)
      this.#kept.set(key, { network: one.network, pool: uid, address, macAddress, isBound: false });
  }
}

function keyOf({ metadata }: KubernetesObject, name: string): string {
  return `${metadata.uid} ${name}`;
}

/** Ignores leftovers of a former machine with that name. */
function isOwnedBy(config: KubernetesObject, machine: KubernetesObject): boolean {
  return (config.metadata.ownerReferences ?? []).some(({ uid }) => uid === machine.metadata.uid);
}

/** Addresses in the status of several existing machines. */
export function findDoubleOwners(running: Running): StoryFault[] {
  const owners = new Map<string, string>();
  const faults: StoryFault[] = [];
  for (const { metadata, status } of running.cluster.networkConfigs.objects.values()) {
    for (const entry of readList(status, 'networkConfigs')) {
      if (readText(entry, 'state') !== 'Allocated') continue;
      const key = `${readText(entry, 'allocatedIPAddress')} on ${readText(entry, 'networkName')}`;
      const former = owners.get(key);
      if (former !== undefined) faults.push({ kind: 'double-owner', message: `${key} is of ${former} and of ${metadata.name}` });
      owners.set(key, metadata.name);
    }
  }
  return faults;
}
