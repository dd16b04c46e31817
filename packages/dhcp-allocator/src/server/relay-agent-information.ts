import type { Ipv4Address } from '../address/ipv4-address.js';
import { readUint32 } from '../wire/big-endian.js';

/** Sub-option 5 of option 82. Source: RFC 3527 §3. */
const LINK_SELECTION = 5;

/**
 * The subnet that a relay names for its client by link selection: an address in it; undefined if it names none.
 * 'malformed' if the sub-options do not fill the option exactly.
 *
 * Source: RFC 3046 §2.0 (sub-options), RFC 3527 §3 (link selection).
 */
export function readLinkSelection(relayAgentInformation: Uint8Array | undefined): Ipv4Address | undefined | 'malformed' {
  if (relayAgentInformation === undefined) return undefined;
  let link: Ipv4Address | undefined;
  let at = 0;
  while (at < relayAgentInformation.length) {
    const length = relayAgentInformation[at + 1];
    if (length === undefined || at + 2 + length > relayAgentInformation.length) return 'malformed';
    if (relayAgentInformation[at] === LINK_SELECTION) {
      if (length !== 4) return 'malformed';
      link = readUint32(relayAgentInformation, at + 2);
    }
    at += 2 + length;
  }
  return link;
}
