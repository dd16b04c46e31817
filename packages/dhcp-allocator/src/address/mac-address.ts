/**
 * A 48-bit Ethernet address in its one canonical spelling: lower case with colons, `02:00:5e:10:00:ff`.
 * Two spellings of one address are one client, so everything that stores or compares uses this form.
 */
export type MacAddress = string;

const CANONICAL = /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/;
const SEPARATED = /^[0-9a-f]{1,2}([:-])[0-9a-f]{1,2}(\1[0-9a-f]{1,2}){4}$/;
const DOTTED = /^[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}$/;
const BARE = /^[0-9a-f]{12}$/;

/**
 * The canonical form of any common spelling (`02-00-5E-10-00-FF`, `0200.5e10.00ff`, `02005e1000ff`, `2:0:5e:10:0:ff`), or undefined if `text` is not
 * a MAC address.
 */
export function parseMacAddress(text: string): MacAddress | undefined {
  // The form that programs write; a lease file has a hundred thousand of them.
  if (CANONICAL.test(text)) return text;
  const lower = text.trim().toLowerCase();
  if (SEPARATED.test(lower))
    return lower
      .split(/[:-]/)
      .map((octet) => octet.padStart(2, '0'))
      .join(':');
  if (DOTTED.test(lower) || BARE.test(lower)) return lower.replaceAll('.', '').replace(/(..)(?!$)/g, '$1:');
  return undefined;
}

const OCTET_TEXT: readonly string[] = Array.from({ length: 256 }, (_, octet) => octet.toString(16).padStart(2, '0'));
const OCTET_WITH_COLON: readonly string[] = OCTET_TEXT.map((text) => `${text}:`);

/** The canonical text of the six octets at `offset`; octets past the end read as zero. */
export function readMacAddress(bytes: Uint8Array, offset = 0): MacAddress {
  return (
    octetWithColon(bytes, offset) +
    octetWithColon(bytes, offset + 1) +
    octetWithColon(bytes, offset + 2) +
    octetWithColon(bytes, offset + 3) +
    octetWithColon(bytes, offset + 4) +
    OCTET_TEXT[bytes[offset + 5] ?? 0]
  );
}

function octetWithColon(bytes: Uint8Array, offset: number): string {
  return OCTET_WITH_COLON[bytes[offset] ?? 0] as string;
}

/** The six octets of a canonical MAC address. */
export function macAddressBytes(mac: MacAddress): Uint8Array {
  const bytes = new Uint8Array(OCTETS);
  for (let octet = 0; octet < OCTETS; octet++)
    bytes[octet] = 16 * digitAt(mac, CHARACTERS_PER_OCTET * octet) + digitAt(mac, CHARACTERS_PER_OCTET * octet + 1);
  return bytes;
}

const OCTETS = 6;
/** Two digits and a colon. */
const CHARACTERS_PER_OCTET = 3;

function digitAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code <= 57 ? code - 48 : code - 87;
}

/** True if the group bit is set: multicast and broadcast addresses, which no client has. Source: IEEE 802 §8.2. */
export function isGroupMacAddress(mac: MacAddress): boolean {
  return (Number.parseInt(mac.slice(0, 2), 16) & 1) === 1;
}
