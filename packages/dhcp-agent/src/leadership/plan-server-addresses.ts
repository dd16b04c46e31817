import type { ServerAddress } from '../ports.js';

/** What the kernel takes for a lifetime without end. */
export const FOR_EVER_SECONDS = 0xffffffff;

/** A server address that this agent has added. */
export interface PresentAddress extends ServerAddress {
  /** False: the kernel failed to add or to remove it, so it may be there or not. */
  readonly isCertain: boolean;
}

/** Steps towards the wanted addresses; one for each interface at most. */
export interface ServerAddressPlan {
  readonly remove: readonly ServerAddress[];
  readonly add: readonly ServerAddress[];
  readonly prolong: readonly ServerAddress[];
  /** The lifetime of what is added and prolonged: whole seconds, as the kernel counts. */
  readonly seconds: number;
}

/**
 * What brings the kernel's addresses in line with the wanted ones. An address whose interface was replaced by another of the same name is
 * not there any more. Nothing is added or prolonged for less than a second: the kernel removes it by itself.
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
