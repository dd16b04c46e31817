import type { ServerAddress } from '../ports.js';

/** The kernel's value for an infinite lifetime. */
export const FOR_EVER_SECONDS = 0xffffffff;

/** A server address that this agent has added. */
export interface PresentAddress extends ServerAddress {
  /** False if the kernel failed to add or remove it, so that it may or may not be there. */
  readonly isCertain: boolean;
}

/** Steps towards the wanted addresses; at most one for each interface. */
export interface ServerAddressPlan {
  readonly remove: readonly ServerAddress[];
  readonly add: readonly ServerAddress[];
  readonly prolong: readonly ServerAddress[];
  /** The lifetime of added and prolonged addresses, in whole seconds like in the kernel. */
  readonly seconds: number;
}

/**
 * Plans the steps from the kernel's addresses to the wanted ones. If an interface was replaced by another of the same name, its address is gone.
 * Nothing is added or prolonged for less than a second: the kernel removes it by itself.
 *
 * @param remainingMs - for how long from now no other replica can have the addresses.
 */
export function planServerAddresses(
  wanted: readonly ServerAddress[],
  present: readonly PresentAddress[],
  remainingMs: number,
): ServerAddressPlan {
  const seconds = Math.min(FOR_EVER_SECONDS, Math.floor(remainingMs / 1000));
  const remove = present.filter((address) => !wanted.some((one) => isSame(one, address)));
  if (seconds < 1) return { remove, add: [], prolong: [], seconds: 0 };
  const isPresent = (address: ServerAddress) => present.some((one) => one.isCertain && isSame(one, address));
  return {
    remove,
    add: wanted.filter((address) => !isPresent(address)),
    prolong: wanted.filter(isPresent),
    seconds,
  };
}

/** True for one address on one interface, and no other of the same name. */
function isSame(one: ServerAddress, other: ServerAddress): boolean {
  return (
    one.interfaceName === other.interfaceName &&
    one.interfaceIndex === other.interfaceIndex &&
    one.address === other.address &&
    one.prefixLength === other.prefixLength
  );
}
