/** Which virtual machine has which MAC address on which network, from VirtualMachineNetworkConfigs. Read when it is asked for, then kept up to date. */
import { parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { type KubernetesObject, keyOf, readList, readText } from '@vmdhcp/kube-runtime';
import type { LeaseNames } from '../pool/pool-leases.js';

export interface Objects {
  readonly synced: boolean;
  readonly get: (key: string) => KubernetesObject | undefined;
  readonly values: () => Iterable<KubernetesObject>;
}

export class MachineNames {
  readonly #configs: Objects;
  /** `network mac` to `namespace/name`; undefined: never asked for. */
  #names: Map<string, string> | undefined;
  readonly #entries = new Map<string, readonly string[]>();
  readonly #changed = new Set<string>();

  constructor(configs: Objects) {
    this.#configs = configs;
  }

  /** The VirtualMachineNetworkConfig with this key is another one now. */
  note(key: string): void {
    if (this.#names !== undefined) this.#changed.add(key);
  }

  readonly find: LeaseNames = (network, macAddress) => this.#current().get(`${network} ${macAddress}`) ?? '';

  #current(): ReadonlyMap<string, string> {
    if (this.#names === undefined) {
      this.#names = new Map();
      for (const object of this.#configs.values()) this.#read(this.#names, keyOf(object), object);
    }
    for (const key of this.#changed) this.#read(this.#names, key, this.#configs.get(key));
    this.#changed.clear();
    return this.#names;
  }

  #read(names: Map<string, string>, key: string, object: KubernetesObject | undefined): void {
    for (const entry of this.#entries.get(key) ?? []) names.delete(entry);
    this.#entries.delete(key);
    if (object === undefined) return;
    const { namespace = '', name } = object.metadata;
    const machine = `${namespace}/${readText(object.spec, 'vmName') ?? name}`;
    const entries = readList(object.spec, 'networkConfigs').flatMap((entry) => {
      const macAddress = parseMacAddress(readText(entry, 'macAddress') ?? '');
      const network = readText(entry, 'networkName') ?? '';
      if (macAddress === undefined) return [];
      return [`${network.includes('/') ? network : `${namespace}/${network}`} ${macAddress}`];
    });
    this.#entries.set(key, entries);
    for (const entry of entries) names.set(entry, machine);
  }
}
