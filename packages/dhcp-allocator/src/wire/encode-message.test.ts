import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMessage } from './decode-message.js';
import { encodeMessage } from './encode-message.js';
import { Offset, OptionCode } from './layout.js';

const FIELDS = {
  ...{ op: 2, htype: 1, hlen: 6, hops: 0, xid: 7, secs: 0, flags: 0, ciaddr: 0, yiaddr: 0, siaddr: 0, giaddr: 0x0a0000fe },
  chaddr: Uint8Array.of(2, 0, 0, 0, 0, 1),
  sname: new Uint8Array(0),
  file: new Uint8Array(0),
};

/** The codes in the options field as they stand there, up to END. */
function codesInOptionsField(bytes: Uint8Array): number[] {
  const codes: number[] = [];
  let at: number = Offset.options;
  while (bytes[at] !== OptionCode.end) {
    codes.push(bytes[at] as number);
    at += 2 + (bytes[at + 1] as number);
  }
  return codes;
}

describe('RFC 3046 §2.2: option 82 is the last option before END', () => {
  const circuit = Uint8Array.of(1, 4, 10, 11, 12, 13);

  it('in a reply whose options fit the options field', () => {
    const { bytes } = encodeMessage({
      ...FIELDS,
      options: [
        [53, Uint8Array.of(2)],
        [82, circuit],
      ],
    });
    expect(codesInOptionsField(bytes)).toEqual([53, 82]);
  });

  it('in an overloaded reply, after option 52', () => {
    const { bytes, omittedOptions } = encodeMessage({
      ...FIELDS,
      options: [
        [53, Uint8Array.of(2)],
        [119, new Uint8Array(250)],
        [121, new Uint8Array(100)],
        [82, circuit],
      ],
    });
    expect(omittedOptions).toEqual([]);
    expect(codesInOptionsField(bytes)).toEqual([53, 119, 52, 82]);
  });

  it('is never left out, whatever the other options are, and comes back whole', () => {
    const others = fc.array(fc.tuple(fc.integer({ min: 1, max: 81 }), fc.uint8Array({ minLength: 60, maxLength: 200 })), {
      minLength: 4,
      maxLength: 14,
    });
    fc.assert(
      fc.property(others, fc.uint8Array({ maxLength: 255 }), fc.boolean(), (entries, value, overload) => {
        const options = [...entries.filter(([code]) => code !== OptionCode.overload), [82, value] as const];
        const { bytes, omittedOptions } = encodeMessage({ ...FIELDS, options }, { maximumLength: 548, overload });
        expect(bytes.length).toBeLessThanOrEqual(548);
        expect(omittedOptions).not.toContain(82);
        expect(codesInOptionsField(bytes).at(-1)).toBe(82);
        const decoded = decodeMessage(bytes);
        expect(decoded.ok && decoded.message.options.get(82)).toEqual(value);
      }),
    );
  });

  it('is named if it does not fit at all', () => {
    const { bytes, omittedOptions } = encodeMessage(
      {
        ...FIELDS,
        options: [
          [53, Uint8Array.of(2)],
          [82, new Uint8Array(400)],
        ],
      },
      { maximumLength: 548 },
    );
    expect(omittedOptions).toEqual([82]);
    expect(codesInOptionsField(bytes)).toEqual([53]);
  });
});
