/** Formats a captured packet as one line for a person. */
import { type FiledPacket, printable, RAW_HEADERS } from '@vmdhcp/dhcp-agent/packet-path';
import {
  type DhcpMessage,
  decodeMessage,
  formatIpv4Address,
  messageTypeOf,
  OptionCode,
  readMacAddress,
} from '@vmdhcp/dhcp-allocator';

const [SOURCE, DESTINATION] = [12, 16];

/** `10:15:00.123456 eth1 received DISCOVER 02:00:00:00:48:01 xid 3903f326 from 0.0.0.0 (no answer: unknown-client)`; times are UTC. */
export function packetLine({ atMs, isSent, comment, octets }: FiledPacket, interfaceName: string): string {
  const address = (at: number) => octets.subarray(at, at + 4).join('.');
  const way = isSent ? `to ${address(DESTINATION)}` : `from ${address(SOURCE)}`;
  const decoded = decodeMessage(octets.subarray(RAW_HEADERS));
  const content = decoded.ok ? messageText(decoded.message) : `${octets.length - RAW_HEADERS} octets (${decoded.reason})`;
  return `${time(atMs)} ${interfaceName} ${isSent ? 'sent' : 'received'} ${content} ${way}${comment === '' ? '' : ` (${comment})`}`;
}

function messageText(message: DhcpMessage): string {
  const { yiaddr, ciaddr, giaddr, chaddr, xid, options } = message;
  const type = messageTypeOf(options.uint8(OptionCode.messageType) ?? 0)?.toUpperCase() ?? 'BOOTP';
  const host = options.get(OptionCode.hostName);
  return [
    type,
    ...(yiaddr === 0 ? [] : [formatIpv4Address(yiaddr)]),
    readMacAddress(chaddr),
    `xid ${xid.toString(16).padStart(8, '0')}`,
    ...named('has', ciaddr),
    ...named('requests', options.uint32(OptionCode.requestedAddress)),
    ...named('server', options.uint32(OptionCode.serverIdentifier)),
    ...named('relay', giaddr),
    ...leaseText(options.uint32(OptionCode.leaseTime)),
    ...(host === undefined ? [] : [`host "${printable(host)}"`]),
  ].join(' ');
}

function named(name: string, address: number | undefined): string[] {
  return address === undefined || address === 0 ? [] : [`${name} ${formatIpv4Address(address)}`];
}

function leaseText(seconds: number | undefined): string[] {
  return seconds === undefined ? [] : [`lease ${seconds} s`];
}

/** The time with microseconds, UTC. */
function time(atMs: number): string {
  const microseconds = Math.round((atMs % 1_000) * 1_000);
  const seconds = new Date(Math.floor(atMs / 1_000) * 1_000 + Math.floor(microseconds / 1_000_000) * 1_000);
  return `${seconds.toISOString().slice(11, 19)}.${String(microseconds % 1_000_000).padStart(6, '0')}`;
}
