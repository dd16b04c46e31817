/** FNV-1a, 64 bits: evenly distributed and short. It is not a cryptographic hash, and need not be. */
export function fnv1a64(text: string): bigint {
  let value = 0xcbf29ce484222325n;
  for (const octet of new TextEncoder().encode(text)) {
    value = ((value ^ BigInt(octet)) * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  return value;
}
