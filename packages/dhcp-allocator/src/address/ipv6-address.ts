/** An IPv6 address as an unsigned integer of 128 bits. */
export type Ipv6Address = bigint;

const OCTETS = 16;
const GROUPS = 8;
const MOST: Ipv6Address = (1n << 128n) - 1n;

/** The address that `text` spells, or undefined. No zone, no brackets. Source: RFC 4291 §2.2. */
export function parseIpv6Address(text: string): Ipv6Address | undefined {
  const groups = /^[0-9a-fA-F:.]{2,45}$/.test(text) ? groupsOf(withoutIpv4(text) ?? '') : [];
  if (groups.length !== GROUPS || !groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return groups.reduce((address, group) => (address << 16n) | BigInt(`0x${group}`), 0n);
}

/** The groups, with zeros for `::`, which stands for one group or more; not eight if the text is wrong. */
function groupsOf(text: string): readonly string[] {
  const [before = [], after, ...rest] = text.split('::').map((half) => (half === '' ? [] : half.split(':')));
  if (after === undefined) return before;
  const missing = GROUPS - before.length - after.length;
  if (rest.length > 0 || missing < 1) return [];
  return [...before, ...Array.from({ length: missing }, () => '0'), ...after];
}

/** The last 32 bits as two groups where they are written as an IPv4 address; undefined if that is none. */
function withoutIpv4(text: string): string | undefined {
  if (!text.includes('.')) return text;
  const start = text.lastIndexOf(':') + 1;
  const octets = text.slice(start).split('.');
  if (start === 0 || octets.length !== 4 || !octets.every((octet) => /^(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/.test(octet)))
    return undefined;
  const [a, b, c, d] = octets.map((octet) => Number(octet).toString(16).padStart(2, '0'));
  return `${text.slice(0, start)}${a}${b}:${c}${d}`;
}

/** The recommended text: lower case, the longest run of zero groups as `::`. Source: RFC 5952 §4. */
export function formatIpv6Address(address: Ipv6Address): string {
  const groups = Array.from({ length: GROUPS }, (_, index) => Number((address >> BigInt(16 * (GROUPS - 1 - index))) & 0xffffn));
  const { start, length } = longestZeros(groups);
  const text = (some: readonly number[]) => some.map((group) => group.toString(16)).join(':');
  // "The symbol "::" MUST NOT be used to shorten just one 16-bit 0 field."
  if (length < 2) return text(groups);
  return `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}`;
}

/** The first of the longest runs. */
function longestZeros(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let longest = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > longest.length) longest = { start, length };
  }
  return longest;
}

/** The address in the sixteen octets at `offset`; octets past the end read as zero. */
export function readIpv6Address(bytes: Uint8Array, offset = 0): Ipv6Address {
  let address = 0n;
  for (let octet = 0; octet < OCTETS; octet++) address = (address << 8n) | BigInt(bytes[offset + octet] ?? 0);
  return address;
}

/** The sixteen octets of an address. */
export function ipv6AddressBytes(address: Ipv6Address): Uint8Array {
  const bytes = new Uint8Array(OCTETS);
  for (let octet = 0; octet < OCTETS; octet++) bytes[octet] = Number((address >> BigInt(8 * (OCTETS - 1 - octet))) & 0xffn);
  return bytes;
}

/** A prefix: its first address, whose other bits are zero, and its length, 0 to 128 bits. */
export interface Ipv6Prefix {
  readonly network: Ipv6Address;
  readonly prefixLength: number;
}

/** The prefix that `text` (`2001:db8::/64`) spells, or undefined. Bits behind the prefix are cleared. */
export function parseIpv6Prefix(text: string): Ipv6Prefix | undefined {
  const [addressText = '', lengthText = '', ...rest] = text.split('/');
  const address = parseIpv6Address(addressText);
  if (address === undefined || rest.length > 0 || !/^(\d|[1-9]\d|1[01]\d|12[0-8])$/.test(lengthText)) return undefined;
  const prefixLength = Number(lengthText);
  return { network: address & maskOfPrefix(prefixLength), prefixLength };
}

/** `2001:db8::/64`. */
export function formatIpv6Prefix({ network, prefixLength }: Ipv6Prefix): string {
  return `${formatIpv6Address(network)}/${prefixLength}`;
}

/** True if the address begins with the prefix. */
export function prefixContains({ network, prefixLength }: Ipv6Prefix, address: Ipv6Address): boolean {
  return (address & maskOfPrefix(prefixLength)) === network;
}

/** True if the two prefixes share an address. */
export function prefixesOverlap(one: Ipv6Prefix, other: Ipv6Prefix): boolean {
  return prefixContains(one, other.network) || prefixContains(other, one.network);
}

function maskOfPrefix(prefixLength: number): Ipv6Address {
  return MOST ^ (MOST >> BigInt(prefixLength));
}
