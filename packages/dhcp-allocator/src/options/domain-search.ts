import { concatenate } from '../wire/big-endian.js';
import { encodeText } from './text.js';

/**
 * Option 119: DNS names as labels; a suffix that appeared before is replaced by a pointer to it. Source: RFC 3397 §2, RFC 1035 §4.1.4. @param names -
 * valid DNS names; a trailing dot does not count.
 */
export function encodeDomainNames(names: readonly string[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const offsetOf = new Map<string, number>();
  let offset = 0;
  const put = (part: Uint8Array): void => {
    parts.push(part);
    offset += part.length;
  };
  for (const name of names) {
    let rest = name.replace(/\.$/, '').toLowerCase();
    while (rest !== '' && !offsetOf.has(rest)) {
      const [label = ''] = rest.split('.', 1);
      offsetOf.set(rest, offset);
      put(Uint8Array.of(label.length, ...encodeText(label)));
      rest = rest.slice(label.length + 1);
    }
    const pointer = offsetOf.get(rest);
    put(pointer === undefined ? Uint8Array.of(0) : Uint8Array.of(0xc0 | (pointer >> 8), pointer & 255));
  }
  return concatenate(parts);
}

/** The names, at least one; undefined if labels run past the end, pointers do not lead back, or a name exceeds 255 octets. */
export function decodeDomainNames(bytes: Uint8Array): string[] | undefined {
  const names: string[] = [];
  let at = 0;
  while (at < bytes.length) {
    const read = readName(bytes, at);
    if (read === undefined) return undefined;
    names.push(read.name);
    at = read.next;
  }
  return names.length === 0 ? undefined : names;
}

function readName(bytes: Uint8Array, start: number): { name: string; next: number } | undefined {
  const labels: string[] = [];
  let octets = 0;
  let at = start;
  let next: number | undefined;
  for (let length = bytes[at]; length !== 0; length = bytes[at]) {
    if (length === undefined) return undefined;
    if (length >= 0xc0) {
      // A pointer must point backwards and a name has a maximum length, so no ring of pointers is endless.
      const target = ((length & 0x3f) << 8) | (bytes[at + 1] ?? 0xff);
      if (target >= at) return undefined;
      next ??= at + 2;
      at = target;
      continue;
    }
    octets += length + 1;
    if (!isLabel(length, at, bytes) || octets > MAXIMUM_NAME_OCTETS) return undefined;
    labels.push(String.fromCharCode(...bytes.subarray(at + 1, at + 1 + length)));
    at += 1 + length;
  }
  return { name: labels.join('.'), next: next ?? at + 1 };
}

/** Without the root's empty label. Source: RFC 1035 §2.3.4. */
const MAXIMUM_NAME_OCTETS = 254;

function isLabel(length: number, at: number, bytes: Uint8Array): boolean {
  return length <= 63 && at + 1 + length <= bytes.length;
}
