/**
 * IPv4 addresses with a lifetime in seconds. The kernel removes them when they are not prolonged, so that a process that is frozen, cut off or killed
 * does not keep an address that another host may have by then.
 */
import { bringUp } from '../links/bring-up.js';
import { Netlink } from '../netlink/netlink.js';
import { NetlinkError } from '../netlink/netlink-error.js';
import {
  addAddressRequest,
  decodeListedAddress,
  deleteAddressRequest,
  type LinkAddress,
  type ListedAddress,
  listAddressesRequest,
} from './address-message.js';

/** The interface does not have the address, or does not exist. */
const GONE: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'ENODEV']);

export interface TemporaryAddressOptions {
  /** False if the addresses add no route to their network to the tables of the host. */
  readonly prefixRoute: boolean;
}

/**
 * Adds addresses for this many seconds from now, or prolongs existing ones, and brings their interfaces up. @returns the failures, one for each
 * address.
 */
export function addTemporaryAddresses(
  addresses: readonly LinkAddress[],
  seconds: number,
  { prefixRoute }: TemporaryAddressOptions = { prefixRoute: true },
): (Error | undefined)[] {
  return addresses.map((address) =>
    failureOf((kernel) => {
      kernel.request('add the address', addAddressRequest(address, { seconds, prefixRoute, ifPresent: 'change' }));
      bringUp(kernel, address.interfaceIndex);
    }),
  );
}

/**
 * Adds an address for this many seconds, with a route to its network, and brings the interface up.
 * @returns false if the interface already has the address, which is not changed then.
 * @throws NetlinkError, SocketError
 */
export function addNewAddress(address: LinkAddress, seconds: number): boolean {
  const kernel = Netlink.shared();
  try {
    kernel.request('add the address', addAddressRequest(address, { seconds, prefixRoute: true, ifPresent: 'refuse' }));
  } catch (error) {
    if (error instanceof NetlinkError && error.code === 'EEXIST') return false;
    throw error;
  }
  bringUp(kernel, address.interfaceIndex);
  return true;
}

/** Sets the lifetime of an existing address to this many seconds from now, and keeps its routes. @throws NetlinkError, SocketError */
export function prolongAddress(address: LinkAddress, seconds: number): void {
  const terms = { seconds, prefixRoute: true, ifPresent: 'change' } as const;
  Netlink.shared().request('prolong the address', addAddressRequest(address, terms));
}

/** The IPv4 addresses of an interface, up or down. @throws NetlinkError with code ENODEV if it does not exist, SocketError */
export function listAddresses(interfaceIndex: number): ListedAddress[] {
  return Netlink.shared()
    .list('list the addresses', listAddressesRequest(interfaceIndex))
    .flatMap((entry) => decodeListedAddress(entry) ?? [])
    .filter((address) => address.interfaceIndex === interfaceIndex);
}

/** Removes addresses; an address that is already gone is not a failure. False if they may still be there. */
export function removeAddresses(addresses: readonly LinkAddress[]): boolean {
  const failures = addresses.map((address) =>
    failureOf((kernel) => kernel.request('remove the address', deleteAddressRequest(address))),
  );
  return failures.every((failure) => failure === undefined || (failure instanceof NetlinkError && GONE.has(failure.code)));
}

function failureOf(change: (kernel: Netlink) => void): Error | undefined {
  try {
    change(Netlink.shared());
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
