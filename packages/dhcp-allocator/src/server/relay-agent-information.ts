import type { Ipv4Address } from '../address/ipv4-address.js';
import { readUint32 } from '../wire/big-endian.js';

/** Sub-option 5 of option 82. Source: RFC 3527 §3. */
const LINK_SELECTION = 5;

/**
 * The subnet that a relay names for its client by link selection: an address in it; undefined if it names none.
 * 'malformed' if the sub-options do not fill the option exactly.
 *
 * @param octets - the value of option 82 is from `start` up to, not including, `end`; default: all of them.
 *
 * Source: RFC 3046 §2.0 (sub-options), RFC 3527 §3 (link selection).
 */
export function readLinkSelection(octets: Uint8Array, start = 0, end = octets.length): Ipv4Address | undefined | 'malformed' {
  let link: Ipv4Address | undefined;
  let at = start;
  while (at < end) {
    const length = at + 1 < end ? (octets[at + 1] as number) : end;
    if (at + 2 + length > end) return 'malformed';
    if (octets[at] === LINK_SELECTION) {
      if (length !== 4) return 'malformed';
      link = readUint32(octets, at + 2);
    }
    at += 2 + length;
  }
  return link;
}
