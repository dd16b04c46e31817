import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { ObjectIndex } from '@vmdhcp/kube-runtime';
import type { WantedInterface } from '../virtual-machine/wanted-interfaces.js';

/** How many interfaces of a machine are known beyond the current ones, at least. */
const MOST_KNOWN = 8;

/** Indexes virtual machines by the MAC addresses of their interfaces on a network. Copies of a virtual machine share theirs. */
export class VirtualMachineIndex {
  readonly #byInterface = new ObjectIndex<readonly WantedInterface[]>((interfaces) =>
    interfaces.map(({ networkName, macAddress }) => interfaceOn(networkName, macAddress)),
  );
  readonly #byWanted = new ObjectIndex<readonly WantedInterface[]>((interfaces) =>
    interfaces.flatMap(({ networkName, ipAddress }) => (ipAddress === undefined ? [] : [interfaceOn(networkName, ipAddress)])),
  );
  readonly #interfacesOf = new Map<string, readonly WantedInterface[]>();
  /** By key, and network and MAC address: the instance that was last seen with them. */
  readonly #instances = new Map<string, Map<string, string>>();

  /**
   * Updates the interfaces of the virtual machine with this key; undefined if it does not exist.
   *
   * @returns the networks on which it has one interface less.
   */
  update(key: string, interfaces: readonly WantedInterface[] | undefined): ReadonlySet<string> {
    const before = this.interfacesOf(key);
    if (interfaces === undefined) this.#instances.delete(key);
    if (interfaces === undefined) this.#interfacesOf.delete(key);
    else this.#interfacesOf.set(key, interfaces);
    this.#byInterface.update(key, interfaces);
    this.#byWanted.update(key, interfaces);
    const kept = this.#byInterface.valuesOf(key);
    const lost = before.filter(({ networkName, macAddress }) => !kept.has(interfaceOn(networkName, macAddress)));
    return new Set(lost.map(({ networkName }) => networkName));
  }

  /** Notes what runs with these interfaces. */
  noteInstance(key: string, interfaces: readonly WantedInterface[], uid: string): void {
    const known = this.#instances.get(key) ?? new Map<string, string>();
    this.#instances.set(key, known);
    for (const { networkName, macAddress } of interfaces) {
      const identity = interfaceOn(networkName, macAddress);
      known.delete(identity);
      known.set(identity, uid);
    }
    for (const identity of [...known.keys()].slice(0, -MOST_KNOWN)) known.delete(identity);
  }

  /** UID of the instance that was last seen with an interface, as `network MAC`; undefined if none was. */
  lastInstanceOn(key: string, identity: string): string | undefined {
    return this.#instances.get(key)?.get(identity);
  }

  /** The last known interfaces; empty if the virtual machine is unknown. */
  interfacesOf(key: string): readonly WantedInterface[] {
    return this.#interfacesOf.get(key) ?? [];
  }

  /** Keys of the virtual machines with an interface on a network. Looks at all of them. */
  *on(network: string): Generator<string> {
    for (const [key, interfaces] of this.#interfacesOf) {
      if (interfaces.some(({ networkName }) => networkName === network)) yield key;
    }
  }

  /** Keys of the virtual machines with an interface that wants this address, in canonical form. */
  wanting(network: string, address: string): ReadonlySet<string> {
    return this.#byWanted.keysOf(interfaceOn(network, address));
  }

  /** Keys of the virtual machines with such an interface. */
  having(network: string, macAddress: MacAddress): ReadonlySet<string> {
    return this.#byInterface.keysOf(interfaceOn(network, macAddress));
  }
}

/** The key of a MAC address, or of a wanted address. */
function interfaceOn(network: string, address: string): string {
  return `${network} ${address}`;
}
