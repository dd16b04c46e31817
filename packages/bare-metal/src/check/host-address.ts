import { addressOctets } from '../host/host-network.js';

/**
 * The canonical spelling of the address of a management controller; undefined if the text is not one. IPv6 addresses are compared
 * as text, in lower case.
 */
export function parseHostAddress(text: string | undefined): string | undefined {
  const lower = (text ?? '').trim().toLowerCase();
  return addressOctets(lower) === undefined ? undefined : lower;
}
