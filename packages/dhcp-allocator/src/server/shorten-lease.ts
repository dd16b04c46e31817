import { INFINITE_LEASE_TIME_SECONDS } from '../pool/pool.js';
import { readUint32, toBytes } from '../wire/big-endian.js';
import { Offset, OptionCode } from '../wire/layout.js';

/**
 * The encoded reply with a shorter lease, with T1 and T2 in proportion: a client counts from its request, which was a while ago.
 * @param bySeconds - 0 or more; an endless lease stays so. @returns a copy, and the seconds that are left.
 */
export function shortenLease(reply: Uint8Array, bySeconds: number): { bytes: Uint8Array; leaseSeconds: number } {
  const bytes = reply.slice();
  const places = new Map<number, number>();
  // They are among the first options of a reply, so they are never in another field.
  for (
    let at = Offset.options as number;
    at + 1 < bytes.length && bytes[at] !== OptionCode.end;
    at += 2 + (bytes[at + 1] as number)
  )
    places.set(bytes[at] as number, at + 2);
  const place = places.get(OptionCode.leaseTime);
  const seconds = place === undefined ? 0 : readUint32(bytes, place);
  if (seconds === INFINITE_LEASE_TIME_SECONDS) return { bytes, leaseSeconds: seconds };
  const left = Math.max(0, seconds - bySeconds);
  const values = [
    [OptionCode.leaseTime, left],
    [OptionCode.renewalTime, Math.floor(left / 2)],
    [OptionCode.rebindingTime, Math.floor(left * 0.875)],
  ] as const;
  for (const [code, value] of values) {
    const at = places.get(code);
    if (at !== undefined) bytes.set(toBytes(value, 4), at);
  }
  return { bytes, leaseSeconds: left };
}
