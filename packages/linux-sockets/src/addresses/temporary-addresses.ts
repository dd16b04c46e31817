/**
 * Addresses that an interface has for so many seconds at a time. The kernel takes them away by itself when they are not
 * renewed, so that a process that is frozen or cut off does not keep an address that another process has by then.
 */
import { type LinkAddress, Netlink, NetlinkError } from '../netlink/netlink.js';

export interface LeasedAddressOptions {
  /** False: the addresses bring no route to their network into the tables of the host. */
  readonly prefixRoute: boolean;
}

/** Gives these addresses for so many seconds from now, or prolongs them. Returns what failed, one entry for each address. */
export function addTemporaryAddresses(
  addresses: readonly LinkAddress[],
  seconds: number,
  { prefixRoute }: LeasedAddressOptions = { prefixRoute: true },
): (Error | undefined)[] {
  return addresses.map((address) =>
    failureOf((kernel) => {
      kernel.leaseAddress(address, { seconds, prefixRoute });
      kernel.setUp(address.interfaceIndex);
    }),
  );
}

/** Removes the addresses; one that is gone already is no failure. False if they may still be there. */
export function removeAddresses(addresses: readonly LinkAddress[]): boolean {
  const failures = addresses.map((address) => failureOf((kernel) => kernel.deleteAddress(address)));
  return failures.every((failure) => failure === undefined || (failure instanceof NetlinkError && GONE.has(failure.code)));
}

/** The interface does not have it, or is not there. */
const GONE: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'ENODEV']);

function failureOf(change: (kernel: Netlink) => void): Error | undefined {
  try {
    change(Netlink.shared());
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
