/** MAC addresses as text and as octets. */

const OCTETS = 6;
const PAIRS = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/;

/** The address in lower case with colons; undefined if the text is not an address. */
export function toMacAddress(text: string): string | undefined {
  const canonical = text.trim().toLowerCase().replaceAll('-', ':');
  return PAIRS.test(canonical) ? canonical : undefined;
}

/** Six octets for each address. Invalid texts are omitted. */
export function packAddresses(addresses: readonly string[]): Uint8Array {
  const known = addresses.map(toMacAddress).filter((address) => address !== undefined);
  const packed = new Uint8Array(known.length * OCTETS);
  for (const [index, address] of known.entries())
    for (const [place, pair] of address.split(':').entries()) packed[index * OCTETS + place] = Number.parseInt(pair, 16);
  return packed;
}

/** The addresses; undefined if the number of octets is not a multiple of six. */
export function unpackAddresses(packed: Uint8Array): string[] | undefined {
  if (packed.length % OCTETS !== 0) return undefined;
  return Array.from({ length: packed.length / OCTETS }, (_, index) =>
    Array.from(packed.subarray(index * OCTETS, (index + 1) * OCTETS), toPair).join(':'),
  );
}

function toPair(octet: number): string {
  return octet.toString(16).padStart(2, '0');
}
