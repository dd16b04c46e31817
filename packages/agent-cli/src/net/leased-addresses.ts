/**
 * Addresses that an interface has for so many seconds at a time. The kernel takes them away by itself when they are not
 * renewed, so that a process that is frozen or cut off does not keep an address that somebody else has by then.
 */
import { type LinkAddress, Netlink, NetlinkError } from './netlink.js';

let netlink: Netlink | undefined;

/** Gives these addresses for so many seconds from now, or prolongs them. What fails is in the error; the rest is done. */
export function leaseAddresses(addresses: readonly LinkAddress[], seconds: number): void {
  forEach(addresses, (kernel, address) => {
    kernel.leaseAddress(address, seconds);
    kernel.setUp(address.interfaceIndex);
  });
}

/** Takes the addresses away; what is gone already is no failure. False if they may still be there. */
export function dropAddresses(addresses: readonly LinkAddress[]): boolean {
  try {
    forEach(addresses, (kernel, address) => {
      try {
        kernel.deleteAddress(address);
      } catch (error) {
        if (!(error instanceof NetlinkError) || !GONE.has(error.code)) throw error;
      }
    });
    return true;
  } catch {
    return false;
  }
}

/** The interface does not have it, or is not there. */
const GONE: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'ENODEV']);

/** The first failure is thrown when all were tried. */
function forEach(addresses: readonly LinkAddress[], change: (kernel: Netlink, address: LinkAddress) => void): void {
  netlink ??= new Netlink();
  let failure: unknown;
  for (const address of addresses) {
    try {
      change(netlink, address);
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}
