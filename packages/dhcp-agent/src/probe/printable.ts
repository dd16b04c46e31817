const LONGEST_TEXT = 64;

/**
 * Octets from the wire as text that is safe in a log line or a terminal: printable ASCII stands for itself, everything
 * else, quotes and backslashes included, as `\x1b`; at most 64 characters, then `...`.
 */
export function printable(bytes: Uint8Array): string {
  let text = '';
  for (const octet of bytes) {
    const plain = octet >= 0x20 && octet < 0x7f && octet !== 0x5c && octet !== 0x22;
    const next = plain ? String.fromCharCode(octet) : `\\x${octet.toString(16).padStart(2, '0')}`;
    if (text.length + next.length > LONGEST_TEXT) return `${text}...`;
    text += next;
  }
  return text;
}
