/**
 * The name of a pool's interface in the agents' pods: of the pool's own name and nothing else, so that no pool that comes
 * or goes ever renames another's. 15 characters, as many as Linux allows.
 */
export function agentInterfaceName(poolKey: string): string {
  return `net${hash(poolKey).toString(16).padStart(16, '0').slice(0, 12)}`;
}

/** FNV-1a, 64 bits: even, short, and nothing depends on it being hard to invert. */
function hash(text: string): bigint {
  let value = 0xcbf29ce484222325n;
  for (const octet of new TextEncoder().encode(text)) {
    value = ((value ^ BigInt(octet)) * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  return value;
}
