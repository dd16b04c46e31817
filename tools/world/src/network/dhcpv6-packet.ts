/** The DHCPv6 codec of guests and the auditor, like that of DHCP: a second implementation of RFC 8415 §8, §21, which knows only what a guest needs. */
import { formatIpv6Address, parseIpv6Address } from '@vmdhcp/dhcp-allocator/address';

export type Dhcpv6Type = 'solicit' | 'advertise' | 'request' | 'confirm' | 'renew' | 'rebind' | 'reply' | 'release';

/** Source: RFC 8415 §7.3. The index is the number less one. */
const TYPES: readonly Dhcpv6Type[] = ['solicit', 'advertise', 'request', 'confirm', 'renew', 'rebind', 'reply', 'release'];
const HEADER = 4;
const OPTION_HEADER = 4;
/** IAID, T1, T2. */
const ASSOCIATION_HEADER = 12;
const ADDRESS_OCTETS = 16;
/** The last octet of the only IAID. */
const IAID = 1;

export const Dhcpv6Option = {
  clientIdentifier: 1,
  serverIdentifier: 2,
  association: 3,
  address: 5,
  elapsedTime: 8,
  status: 13,
} as const;

export interface AddressOfReply {
  /** As RFC 5952 writes it. */
  readonly address: string;
  /** 0 if the client must not use it any longer. */
  readonly validSeconds: number;
}

export interface Dhcpv6Packet {
  readonly type: Dhcpv6Type;
  readonly xid: number;
  /** In hexadecimal digits. */
  readonly clientIdentifier: string | undefined;
  readonly serverIdentifier: string | undefined;
  readonly addresses: readonly AddressOfReply[];
  /** T1 and T2 of the association. */
  readonly renewSeconds: number;
  readonly rebindSeconds: number;
  /** The first status that is not Success, of the message or its association; 0 for none. */
  readonly status: number;
}

/** Undefined if these octets are not a message between clients and servers. */
export function readDhcpv6(octets: Uint8Array): Dhcpv6Packet | undefined {
  const type = TYPES[(octets[0] ?? 0) - 1];
  if (type === undefined || octets.length < HEADER) return undefined;
  const options = optionsIn(octets.subarray(HEADER));
  const digitsOf = (wanted: number) => {
    const value = options.find(([code]) => code === wanted)?.[1];
    return value && Buffer.from(value).toString('hex');
  };
  // One of another IAID is not the client's.
  const isOwn = ([code, value]: readonly [number, Uint8Array]) =>
    code === Dhcpv6Option.association && numberAt(value, 0, 4) === IAID;
  const association = options.find(isOwn)?.[1] ?? new Uint8Array(ASSOCIATION_HEADER);
  const inside = optionsIn(association.subarray(ASSOCIATION_HEADER));
  return {
    type,
    xid: numberAt(octets, 0, 4) % 2 ** 24,
    clientIdentifier: digitsOf(Dhcpv6Option.clientIdentifier),
    serverIdentifier: digitsOf(Dhcpv6Option.serverIdentifier),
    addresses: inside.flatMap(([code, value]) => (code === Dhcpv6Option.address ? [readAddress(value)] : [])),
    renewSeconds: numberAt(association, 4, 4),
    rebindSeconds: numberAt(association, 8, 4),
    status:
      [...options, ...inside]
        .flatMap(([code, value]) => (code === Dhcpv6Option.status ? [numberAt(value, 0, 2)] : []))
        .find(Boolean) ?? 0,
  };
}

export interface Dhcpv6ClientMessage {
  readonly type: Dhcpv6Type;
  readonly xid: number;
  readonly elapsedMs: number;
  readonly clientIdentifier: Uint8Array;
  /** In hexadecimal digits. */
  readonly serverIdentifier?: string | undefined;
  readonly address?: string | undefined;
}

export function writeDhcpv6(message: Dhcpv6ClientMessage): Uint8Array {
  const { type, xid, elapsedMs, clientIdentifier, serverIdentifier, address } = message;
  const hundredths = Math.min(Math.floor(elapsedMs / 10), 0xffff);
  const inside = address === undefined ? [] : option(Dhcpv6Option.address, [...octetsOf(address), ...new Uint8Array(8)]);
  return Uint8Array.from([
    TYPES.indexOf(type) + 1,
    ...[xid >> 16, xid >> 8, xid].map((part) => part & 255),
    ...option(Dhcpv6Option.clientIdentifier, [...clientIdentifier]),
    ...(serverIdentifier === undefined ? [] : option(Dhcpv6Option.serverIdentifier, [...Buffer.from(serverIdentifier, 'hex')])),
    ...option(Dhcpv6Option.association, [0, 0, 0, IAID, ...new Uint8Array(8), ...inside]),
    ...option(Dhcpv6Option.elapsedTime, [hundredths >> 8, hundredths & 255]),
  ]);
}

/** True if a Router Advertisement tells hosts to ask for addresses by DHCPv6. Source: RFC 4861 §4.2. */
export function isManaged(advertisement: Uint8Array): boolean {
  return advertisement[0] === 134 && ((advertisement[5] ?? 0) & 0x80) !== 0;
}

/** The value of an option, in the octets of the message; of an option in the association with a path of two. */
export function dhcpv6ValueIn(octets: Uint8Array, path: readonly [number] | readonly [number, number]): Uint8Array | undefined {
  const found = (within: Uint8Array, code: number) => optionsIn(within).find(([one]) => one === code)?.[1];
  const value = found(octets.subarray(HEADER), path[0]);
  return path[1] === undefined ? value : value && found(value.subarray(ASSOCIATION_HEADER), path[1]);
}

function optionsIn(octets: Uint8Array): (readonly [number, Uint8Array])[] {
  const options: (readonly [number, Uint8Array])[] = [];
  for (let at = 0; at + OPTION_HEADER <= octets.length; ) {
    const end = at + OPTION_HEADER + numberAt(octets, at + 2, 2);
    options.push([numberAt(octets, at, 2), octets.subarray(at + OPTION_HEADER, end)]);
    at = end;
  }
  return options;
}

function readAddress(value: Uint8Array): AddressOfReply {
  const digits = Buffer.from(value.subarray(0, ADDRESS_OCTETS)).toString('hex');
  return { address: formatIpv6Address(BigInt(`0x${digits}`)), validSeconds: numberAt(value, ADDRESS_OCTETS + 4, 4) };
}

function option(code: number, value: readonly number[]): number[] {
  return [code >> 8, code & 255, value.length >> 8, value.length & 255, ...value];
}

function octetsOf(address: string): number[] {
  const digits = (parseIpv6Address(address) ?? 0n).toString(16).padStart(2 * ADDRESS_OCTETS, '0');
  return [...Buffer.from(digits, 'hex')];
}

function numberAt(octets: Uint8Array, at: number, length: number): number {
  return octets.subarray(at, at + length).reduce((number, octet) => number * 256 + octet, 0);
}
