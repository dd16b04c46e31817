import type { MacAddress } from '@vmdhcp/dhcp-allocator';

/**
 * The machines with each MAC address. Nearly every address has one owner, which is stored without a set: for ten thousand machines that saves
 * megabytes.
 */
export class MacAddressOwners {
  readonly #owners = new Map<MacAddress, string | Set<string>>();

  /** Sorted. */
  of(macAddress: MacAddress): readonly string[] {
    const owners = this.#owners.get(macAddress);
    if (owners === undefined) return [];
    return typeof owners === 'string' ? [owners] : [...owners].toSorted();
  }

  add(macAddress: MacAddress, owner: string): void {
    const owners = this.#owners.get(macAddress);
    if (owners === undefined) this.#owners.set(macAddress, owner);
    else if (typeof owners !== 'string') owners.add(owner);
    else if (owners !== owner) this.#owners.set(macAddress, new Set([owners, owner]));
  }

  remove(macAddress: MacAddress, owner: string): void {
    const owners = this.#owners.get(macAddress);
    if (typeof owners !== 'string') owners?.delete(owner);
    if (owners === owner || (typeof owners !== 'string' && owners?.size === 0)) this.#owners.delete(macAddress);
  }
}
