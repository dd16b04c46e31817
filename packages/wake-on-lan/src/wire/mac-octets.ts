/** MAC addresses as text and as octets. */

const OCTETS = 6;
const PAIRS = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/;

/** The address in lower case with colons; undefined where the text is none. */
export function toMacAddress(text: string): string | undefined {
  const canonical = text.trim().toLowerCase().replaceAll('-', ':');
  return PAIRS.test(canonical) ? canonical : undefined;
}

/** Six octets for each address. Texts that are no address are left out. */
export function packAddresses(addresses: readonly string[]): Uint8Array {
  const known = addresses.map(toMacAddress).filter((address) => address !== undefined);
  const packed = new Uint8Array(known.length * OCTETS);
  for (const [index, address] of known.entries())
    for (const [place, pair] of address.split(':').entries()) packed[index * OCTETS + place] = Number.parseInt(pair, 16);
  return packed;
}

/** The addresses; undefined where the octets do not divide by six. */
export function unpackAddresses(packed: Uint8Array): string[] | undefined {
  if (packed.length % OCTETS !== 0) return undefined;
  return Array.from({ length: packed.length / OCTETS }, (_, index) =>
    Array.from(packed.subarray(index * OCTETS, (index + 1) * OCTETS), toPair).join(':'),
  );
}

function toPair(octet: number): string {
  return octet.toString(16).padStart(2, '0');
}
