import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { ObjectIndex } from '@vmdhcp/kube-runtime';
import type { WantedInterface } from '../virtual-machine/wanted-interfaces.js';

/** Which virtual machines have an interface with a MAC address on a network. Copies of a virtual machine share theirs. */
export class VirtualMachineIndex {
  readonly #byInterface = new ObjectIndex<readonly WantedInterface[]>((interfaces) =>
    interfaces.map(({ networkName, macAddress }) => interfaceOn(networkName, macAddress)),
  );
  readonly #byWanted = new ObjectIndex<readonly WantedInterface[]>((interfaces) =>
    interfaces.flatMap(({ networkName, ipAddress }) => (ipAddress === undefined ? [] : [interfaceOn(networkName, ipAddress)])),
  );
  readonly #interfacesOf = new Map<string, readonly WantedInterface[]>();

  /**
   * The virtual machine with this key has these interfaces now; undefined: it does not exist.
   *
   * @returns the networks on which it has one interface less.
   */
  update(key: string, interfaces: readonly WantedInterface[] | undefined): ReadonlySet<string> {
    const before = this.interfacesOf(key);
    if (interfaces === undefined) this.#interfacesOf.delete(key);
    else this.#interfacesOf.set(key, interfaces);
    this.#byInterface.update(key, interfaces);
    this.#byWanted.update(key, interfaces);
    const kept = this.#byInterface.valuesOf(key);
    const lost = before.filter(({ networkName, macAddress }) => !kept.has(interfaceOn(networkName, macAddress)));
    return new Set(lost.map(({ networkName }) => networkName));
  }

  /** As they were last known; none where the virtual machine is unknown. */
  interfacesOf(key: string): readonly WantedInterface[] {
    return this.#interfacesOf.get(key) ?? [];
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

/** By its MAC address, or by the address that it wants. */
function interfaceOn(network: string, address: string): string {
  return `${network} ${address}`;
}
