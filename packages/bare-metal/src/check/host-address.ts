import { addressOctets } from '../host/host-network.js';

/** The address of a management controller in lower case, as names of objects have it; undefined if the text is not an address. */
export function parseHostAddress(text: string | undefined): string | undefined {
  const lower = (text ?? '').trim().toLowerCase();
  return addressOctets(lower) === undefined ? undefined : lower;
}
