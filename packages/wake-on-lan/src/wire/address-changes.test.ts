import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeDifference, encodeList, ReceivedAddresses } from './address-changes.js';

const address = fc.nat(40).map((number) => `02:00:00:00:00:${number.toString(16).padStart(2, '0')}`);
const list = fc.array(address, { maxLength: 30 }).map((addresses) => new Set(addresses));
const NONE = new Uint8Array(0);
const message = { begins_list: false, completes_list: false, added: NONE, removed: NONE };

describe('the list of addresses', () => {
  it('a list and any changes of it arrive unchanged', () => {
    fc.assert(
      fc.property(fc.array(list, { minLength: 1, maxLength: 6 }), (lists) => {
        const received = new ReceivedAddresses();
        let before: ReadonlySet<string> | undefined;
        for (const after of lists) {
          const messages = before === undefined ? encodeList([...after]) : encodeDifference(before, after);
          for (const one of messages) expect(received.take(one)).toEqual({ ok: true });
          expect(received.addresses).toEqual(after);
          before = after;
        }
      }),
    );
  });

  it('a list is used when it is complete, and the previous one until then', () => {
    const received = new ReceivedAddresses();
    const many = Array.from({ length: 20_001 }, (_, index) => `02:00:00:00:${hex(index >> 8)}:${hex(index & 0xff)}`);
    const [first, second, third] = encodeList(many);
    received.take(first as never);
    expect(received.addresses).toBeUndefined();
    received.take(second as never);
    received.take(third as never);
    expect(received.addresses?.size).toBe(20_001);
    received.take({ ...message, begins_list: true, added: Uint8Array.of(2, 0, 0, 0, 0, 1) });
    expect(received.addresses?.size).toBe(20_001);
    received.take({ ...message, completes_list: true });
    expect(received.addresses?.size).toBe(1);
  });

  it('an empty list is a list', () => {
    const received = new ReceivedAddresses();
    for (const one of encodeList([])) received.take(one);
    expect(received.addresses).toEqual(new Set());
    expect(encodeDifference(new Set(['02:00:00:00:00:01']), new Set(['02:00:00:00:00:01']))).toEqual([]);
  });

  it('octets that are not a multiple of six, and changes without a list, are refused', () => {
    expect(new ReceivedAddresses().take({ ...message, begins_list: true, added: new Uint8Array(7) }).ok).toBe(false);
    expect(new ReceivedAddresses().take({ ...message, added: new Uint8Array(6) }).ok).toBe(false);
  });
});

function hex(value: number): string {
  return value.toString(16).padStart(2, '0');
}
