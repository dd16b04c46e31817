import { addressOctets } from '../host/host-network.js';

/** The address of a management controller in its one spelling; undefined: the text is none. An IPv6 address is compared as text, in lower case. */
export function parseHostAddress(text: string | undefined): string | undefined {
  const lower = (text ?? '').trim().toLowerCase();
  return addressOctets(lower) === undefined ? undefined : lower;
}
