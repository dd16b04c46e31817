/** The virtual machine of each MAC address on each network, from VirtualMachineNetworkConfigs. Read on first use, then kept up to date. */
import { parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { compareByAge, type KubernetesObject, keyOf, readList, readText } from '@vmdhcp/kube-runtime';
import { virtualMachineNamedBy } from '@vmdhcp/reconciler/readers';
import type { LeaseNames } from '../pool/pool-leases.js';

export interface Objects {
  readonly synced: boolean;
  readonly get: (key: string) => KubernetesObject | undefined;
  readonly values: () => Iterable<KubernetesObject>;
}

/** The maximum number of configs for one MAC address, so that thousands of objects with the same one cost no more than others. */
const MOST_CLAIMS = 16;

/** One VirtualMachineNetworkConfig that names a MAC address. */
interface Claim {
  readonly object: KubernetesObject;
  /** `namespace/name` */
  readonly machine: string;
  /** True if its status shows the address. */
  readonly hasAddress: boolean;
}

export class MachineNames {
  readonly #configs: Objects;
  /** By `network mac`: the one that has the address, then the oldest, as with addresses. Undefined before the first use. */
  #names: Map<string, readonly Claim[]> | undefined;
  readonly #entries = new Map<string, readonly string[]>();
  readonly #changed = new Set<string>();

  constructor(configs: Objects) {
    this.#configs = configs;
  }

  /** Updates the VirtualMachineNetworkConfig with this key. */
  note(key: string): void {
    if (this.#names !== undefined) this.#changed.add(key);
  }

  readonly find: LeaseNames = (network, macAddress) => this.#current().get(`${network} ${macAddress}`)?.[0]?.machine ?? '';

  #current(): ReadonlyMap<string, readonly Claim[]> {
    if (this.#names === undefined) {
      this.#names = new Map();
      for (const object of this.#configs.values()) this.#read(this.#names, keyOf(object), object);
    }
    for (const key of this.#changed) this.#read(this.#names, key, this.#configs.get(key));
    this.#changed.clear();
    return this.#names;
  }

  #read(names: Map<string, readonly Claim[]>, key: string, object: KubernetesObject | undefined): void {
    for (const entry of this.#entries.get(key) ?? []) {
      const others = (names.get(entry) ?? []).filter((claim) => keyOf(claim.object) !== key);
      if (others.length > 0) names.set(entry, others);
      else names.delete(entry);
    }
    this.#entries.delete(key);
    if (object === undefined) return;
    const { namespace = '' } = object.metadata;
    const machine = `${namespace}/${virtualMachineNamedBy(object)}`;
    const entries = readList(object.spec, 'networkConfigs').flatMap((entry) => entryOf(entry, namespace));
    const allocated = readList(object.status, 'networkConfigs').filter((entry) => readText(entry, 'state') === 'Allocated');
    const having = new Set(allocated.flatMap((entry) => entryOf(entry, namespace)));
    this.#entries.set(key, entries);
    for (const entry of new Set(entries)) {
      const all = [...(names.get(entry) ?? []), { object, machine, hasAddress: having.has(entry) }];
      names.set(entry, all.toSorted(byPrecedence).slice(0, MOST_CLAIMS));
    }
  }
}

/** `network mac`; none if the MAC address is invalid. */
function entryOf(entry: unknown, namespace: string): string[] {
  const macAddress = parseMacAddress(readText(entry, 'macAddress') ?? '');
  const network = readText(entry, 'networkName') ?? '';
  return macAddress === undefined ? [] : [`${network.includes('/') ? network : `${namespace}/${network}`} ${macAddress}`];
}

function byPrecedence(one: Claim, other: Claim): number {
  return Number(other.hasAddress) - Number(one.hasAddress) || compareByAge(one.object, other.object);
}
