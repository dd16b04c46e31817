import { encodeText } from '../options/text.js';
import { concatenate } from '../wire/big-endian.js';

/** "A domain name ... MUST NOT be stored in compressed form." Source: RFC 8415 §10. */
export function encodeDomainName(name: string): Uint8Array {
  const labels = name.replace(/\.$/, '').toLowerCase().split('.').map(encodeText);
  return concatenate([...labels.flatMap((label) => [Uint8Array.of(label.length), label]), Uint8Array.of(0)]);
}
