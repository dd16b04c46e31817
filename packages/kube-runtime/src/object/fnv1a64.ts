/** FNV-1a, 64 bits: even, short, and nothing depends on it being hard to invert. */
export function fnv1a64(text: string): bigint {
  let value = 0xcbf29ce484222325n;
  for (const octet of new TextEncoder().encode(text)) {
    value = ((value ^ BigInt(octet)) * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  return value;
}
