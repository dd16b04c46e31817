import { encodeIpv6Packet, NextHeader } from './ipv6-packet.js';

/** Routers and switches that know which groups are wanted. Source: RFC 3810 §5.2.14. */
export const ALL_REPORT_ROUTERS: Uint8Array = Uint8Array.of(0xff, 2, ...new Uint8Array(13), 0x16);
/** Its packets come without a report. Source: RFC 3810 §6. */
const ALL_NODES = Uint8Array.of(0xff, 2, ...new Uint8Array(13), 1);
const REPORT = 143;
const CHANGE_TO_EXCLUDE_MODE = 4;
const HEADER_LENGTH = 40;
const HOP_BY_HOP = 0;
/** The router alert, for routers that look only at such packets, and two octets of padding. Source: RFC 3810 §5, RFC 2711 §2.1. */
const ROUTER_ALERT = [NextHeader.icmpv6, 0, 5, 2, 0, 0, 1, 0];

/** The packet (MLDv2) by which a host says that it wants the packets of these groups, whoever sends them. Source: RFC 3810 §5.2. */
export function encodeGroupReport(source: Uint8Array, groups: readonly Uint8Array[]): Uint8Array {
  const reported = groups.filter((group) => Buffer.compare(group, ALL_NODES) !== 0);
  const records = reported.flatMap((group) => [CHANGE_TO_EXCLUDE_MODE, 0, 0, 0, ...group]);
  const payload = Uint8Array.of(REPORT, 0, 0, 0, 0, 0, 0, reported.length, ...records);
  const packet = encodeIpv6Packet({
    ...{ source, destination: ALL_REPORT_ROUTERS },
    ...{ nextHeader: NextHeader.icmpv6, hopLimit: 1, payload },
  });
  // Checksums do not cover the header that is put in between. Source: RFC 8200 §8.1.
  const [header, rest] = [packet.slice(0, HEADER_LENGTH), packet.slice(HEADER_LENGTH)];
  const length = ROUTER_ALERT.length + rest.length;
  header.set([length >>> 8, length & 0xff, HOP_BY_HOP], 4);
  return Uint8Array.of(...header, ...ROUTER_ALERT, ...rest);
}
