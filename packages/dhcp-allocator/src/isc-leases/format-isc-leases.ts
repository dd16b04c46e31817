import { formatIpv4Address } from '../address/ipv4-address.js';
import type { IscLease } from './isc-lease.js';
import { quoteOctets } from './lease-tokens.js';
import { formatUtcTime } from './utc-time.js';

const HEADER = `# The format of this file is documented in the dhcpd.leases(5) manual page.

# authoring-byte-order entry is generated, DO NOT DELETE
authoring-byte-order little-endian;

`;

/** A `dhcpd.leases` file, entry by entry, from which ISC dhcpd 4.4 continues. Parts of a second are left out. */
export function* formatIscLeases(leases: Iterable<IscLease>): Generator<string> {
  yield HEADER;
  for (const lease of leases) yield formatLease(lease);
}

/** In the order in which dhcpd writes. Source: dhcpd, server/db.c `write_lease`. */
function formatLease(lease: IscLease): string {
  const lines = [
    timeLine('starts', lease.startsAtMs),
    timeLine('ends', lease.endsAtMs),
    timeLine('tstp', lease.tstpMs),
    timeLine('tsfp', lease.tsfpMs),
    timeLine('atsfp', lease.atsfpMs),
    timeLine('cltt', lease.clientLastSeenAtMs),
    `binding state ${lease.state};`,
    lease.nextState && `next binding state ${lease.nextState};`,
    lease.rewindState && `rewind binding state ${lease.rewindState};`,
    lease.macAddress && `hardware ethernet ${lease.macAddress};`,
    lease.uid && `uid ${quoteOctets(octetsOf(lease.uid))};`,
    lease.hostname && `client-hostname ${quoteOctets(lease.hostname)};`,
  ];
  const body = lines.filter((line) => line !== undefined && line !== '').map((line) => `  ${line}\n`);
  return `lease ${formatIpv4Address(lease.address)} {\n${body.join('')}}\n`;
}

function timeLine(word: string, timeMs: number | undefined): string | undefined {
  if (timeMs === undefined) return undefined;
  return `${word} ${timeMs === Number.POSITIVE_INFINITY ? 'never' : formatUtcTime(timeMs)};`;
}

function octetsOf(hex: string): string {
  return hex.replace(/../g, (octet) => String.fromCharCode(Number.parseInt(octet, 16)));
}
