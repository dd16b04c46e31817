/**
 * Describes a DHCP message for a person: its fields by their names in RFC 2131, its options by their names in RFC 2132, each
 * value in a form that suits its kind. Text from the wire is made printable, and every value is bounded.
 */

import { printable } from '@vmdhcp/dhcp-agent/packet-path';
import {
  type DhcpMessage,
  decodeOption,
  formatIpv4Address,
  formatIpv4Cidr,
  type Ipv4Address,
  messageTypeOf,
  OPTIONS,
  type OptionName,
  optionNameOf,
  readMacAddress,
  type StaticRoute,
  type SubOption,
  type VendorInformation,
} from '@vmdhcp/dhcp-allocator';

/** The number of octets of a value that are shown; the rest is counted. */
const MOST_OCTETS = 128;
/** The number of items of a list that are shown. */
const MOST_ITEMS = 64;

type Describe = (value: never) => unknown;

/** By the kind of an option's value; other kinds are numbers and booleans, which are shown unchanged. */
const DESCRIBE: ReadonlyMap<unknown, Describe> = new Map<unknown, Describe>([
  [OPTIONS.subnetMask.kind, (address: Ipv4Address) => formatIpv4Address(address)],
  [OPTIONS.routers.kind, (addresses: readonly Ipv4Address[]) => bounded(addresses.map(formatIpv4Address))],
  [
    OPTIONS.staticRoutes.kind,
    (pairs: readonly Ipv4Address[][]) => bounded(pairs.map((pair) => pair.map(formatIpv4Address).join(' '))),
  ],
  [OPTIONS.classlessStaticRoutes.kind, (routes: readonly StaticRoute[]) => bounded(routes.map(describeRoute))],
  [OPTIONS.hostName.kind, (text: string) => printable(Buffer.from(text, 'latin1'))],
  [OPTIONS.domainSearch.kind, (names: readonly string[]) => bounded(names.map((name) => printable(Buffer.from(name, 'latin1'))))],
  [OPTIONS.clientIdentifier.kind, hex],
  [
    OPTIONS.relayAgentInformation.kind,
    (list: readonly SubOption[]) => bounded(list.map(({ code, value }) => `${code}: ${hex(value)}`)),
  ],
  [
    OPTIONS.vendorIdentifyingClass.kind,
    (list: readonly VendorInformation[]) => bounded(list.map(({ enterprise, data }) => `${enterprise}: ${hex(data)}`)),
  ],
  [OPTIONS.parameterRequestList.kind, (codes: readonly number[]) => bounded(codes.map((code) => optionNameOf(code) ?? code))],
  [OPTIONS.clientArchitecture.kind, (values: readonly number[]) => bounded(values)],
]);

/** The fields that have a value: addresses of 0.0.0.0, zeros and empty texts are omitted. Never throws. */
export function describeMessage(message: DhcpMessage): Readonly<Record<string, unknown>> {
  const { op, hops, xid, secs, flags, chaddr, sname, file, options } = message;
  return {
    op: op === 1 ? 'BOOTREQUEST' : 'BOOTREPLY',
    xid: xid.toString(16).padStart(8, '0'),
    ...present({ hops, secs }),
    ...(flags !== 0 && { flags: `0x${flags.toString(16).padStart(4, '0')}` }),
    ...addresses(message),
    chaddr: readMacAddress(chaddr),
    ...(sname.length > 0 && { sname: printable(sname) }),
    ...(file.length > 0 && { file: printable(file) }),
    options: Object.fromEntries([...options].map(([code, value]) => describeOption(code, value))),
  };
}

/** At most 128 octets as hexadecimal digits, and the number of further ones. */
export function hex(octets: Uint8Array): string {
  const shown = Buffer.from(octets.subarray(0, MOST_OCTETS)).toString('hex');
  return octets.length <= MOST_OCTETS ? shown : `${shown}... (${octets.length} octets)`;
}

function present(numbers: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== 0));
}

function addresses({ ciaddr, yiaddr, siaddr, giaddr }: DhcpMessage): Record<string, string> {
  const named = Object.entries(present({ ciaddr, yiaddr, siaddr, giaddr }));
  return Object.fromEntries(named.map(([name, address]) => [name, formatIpv4Address(address)]));
}

/** An unknown option, or one whose octets are not of its kind, is shown as octets. */
function describeOption(code: number, octets: Uint8Array): readonly [name: string, value: unknown] {
  const name = optionNameOf(code);
  const value = name === undefined ? undefined : decodeOption(name, octets);
  if (name === undefined || value === undefined) return [name ?? `option ${code}`, hex(octets)];
  return [name, describeValue(name, value)];
}

function describeValue(name: OptionName, value: unknown): unknown {
  if (name === 'messageType') return messageTypeOf(value as number)?.toUpperCase() ?? value;
  const describe = DESCRIBE.get(OPTIONS[name].kind);
  return describe === undefined ? value : describe(value as never);
}

function describeRoute({ destination, gateway }: StaticRoute): string {
  return `${formatIpv4Cidr(destination)} via ${formatIpv4Address(gateway)}`;
}

function bounded(items: readonly unknown[]): readonly unknown[] {
  return items.length <= MOST_ITEMS ? items : [...items.slice(0, MOST_ITEMS), `and ${items.length - MOST_ITEMS} more`];
}
