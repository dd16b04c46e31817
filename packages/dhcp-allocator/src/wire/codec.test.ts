/** From messages to octets and back: every field, options in pieces, overloaded fields, packets that end too soon. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMessage } from './decode-message.js';
import { DhcpOptions } from './dhcp-options.js';
import { encodedLength, encodeMessage, type OutgoingMessage } from './encode-message.js';
import { MAGIC_COOKIE, Offset } from './layout.js';

const NOTHING = new Uint8Array(0);
const filled = (length: number, octet = 7) => new Uint8Array(length).fill(octet);

const MESSAGE: OutgoingMessage = {
  op: 2,
  htype: 1,
  hlen: 6,
  hops: 3,
  xid: 0xfedcba98,
  secs: 0x1234,
  flags: 0x8001,
  ciaddr: 0x0a000001,
  yiaddr: 0xfffffffe,
  siaddr: 0x80000003,
  giaddr: 0x0a000004,
  chaddr: Uint8Array.from({ length: 16 }, (_, index) => index + 1),
  sname: Uint8Array.of(115, 1),
  file: Uint8Array.of(102, 2),
  options: [[53, Uint8Array.of(5)]],
};

type Entry = readonly [code: number, value: Uint8Array];

/** A message whose `options`, `file` and `sname` hold these octets. */
function packet(options: readonly number[], file: readonly number[] = [], sname: readonly number[] = []): Uint8Array {
  const octets = new Uint8Array(Offset.options + options.length);
  octets[Offset.hlen] = 6;
  new DataView(octets.buffer).setUint32(Offset.cookie, MAGIC_COOKIE);
  octets.set(sname, Offset.sname);
  octets.set(file, Offset.file);
  octets.set(options, Offset.options);
  return octets;
}

function optionsOf(octets: Uint8Array): Record<number, number[]> | string {
  const decoded = decodeMessage(octets);
  return decoded.ok
    ? Object.fromEntries([...decoded.message.options].map(([code, value]) => [code, [...value]]))
    : decoded.reason;
}

describe('a message', () => {
  it('comes back with every field, options in their order', () => {
    const options: Entry[] = [
      [53, Uint8Array.of(5)],
      [82, Uint8Array.of(1, 2)],
      [12, NOTHING],
      [6, filled(255)],
    ];
    const decoded = decodeMessage(encodeMessage({ ...MESSAGE, options }, { maximumLength: 1_472 }).bytes);
    if (!decoded.ok) throw new Error(decoded.reason);
    const { op, htype, hlen, hops, xid, secs, flags, ciaddr, yiaddr, siaddr, giaddr, chaddr, sname, file } = decoded.message;
    const fields = { op, htype, hlen, hops, xid, secs, flags, ciaddr, yiaddr, siaddr, giaddr, chaddr, sname, file };
    expect({ ...fields, options: MESSAGE.options }).toEqual(MESSAGE);
    expect([...decoded.message.options]).toEqual(options);
  });

  it('law: any options come back, split or joined (RFC 3396)', () => {
    const code = fc.integer({ min: 1, max: 254 }).filter((one) => one !== 52);
    const value = fc.uint8Array({ maxLength: 300 });
    const entries = fc.uniqueArray(fc.tuple(code, value), { selector: ([one]) => one, maxLength: 4 });
    fc.assert(
      fc.property(entries, fc.boolean(), (options, isShort) => {
        const message = { ...MESSAGE, sname: NOTHING, file: NOTHING, options };
        const { bytes, omittedOptions } = encodeMessage(message, { maximumLength: isShort ? 548 : 1_472 });
        expect(bytes.length).toBeLessThanOrEqual(isShort ? 548 : 1_472);
        const sent = options.filter(([one]) => !omittedOptions.includes(one)).map(([one, octets]) => [one, [...octets]]);
        expect(optionsOf(bytes)).toEqual(Object.fromEntries(sent));
      }),
    );
  });

  it('is padded with zeros to 300 octets, also in memory that was used before (RFC 951 §3)', () => {
    const into = filled(548, 0xaa);
    const { bytes } = encodeMessage(MESSAGE, { into });
    expect(bytes).toHaveLength(300);
    expect([...bytes.subarray(Offset.options)]).toEqual([53, 1, 5, 255, ...Array<number>(56).fill(0)]);
    expect([...bytes.subarray(Offset.sname, Offset.sname + 4)]).toEqual([115, 1, 0, 0]);
    expect([...bytes.subarray(Offset.file + 1, Offset.file + 4)]).toEqual([2, 0, 0]);
  });

  it.each([56, 57, 58])('with one option of %i octets is as long as necessary, and at least 300 octets', (length) => {
    const { bytes } = encodeMessage({ ...MESSAGE, options: [[43, filled(length)]] }, { into: filled(548, 0xaa) });
    expect(bytes).toHaveLength(Math.max(300, 240 + 2 + length + 1));
    expect(bytes[240 + 2 + length]).toBe(255);
  });

  it('is refused where memory is too short, or a field too long: bugs of the caller', () => {
    expect(() => encodeMessage(MESSAGE, { into: filled(547) })).toThrow('into has 547 octets, 548 are needed');
    expect(() => encodeMessage(MESSAGE, { maximumLength: 299, into: filled(299) })).toThrow(
      'into has 299 octets, 300 are needed',
    );
    expect(() => encodeMessage({ ...MESSAGE, sname: filled(65) })).toThrow('a field of 64 octets cannot hold 65');
    expect(encodeMessage({ ...MESSAGE, sname: filled(64), file: filled(128) }).bytes).toHaveLength(300);
  });

  it('options from a one-time iterator are encoded too', () => {
    function* once(): Generator<Entry> {
      yield [53, Uint8Array.of(5)];
      yield [43, filled(200)];
      yield [44, filled(100)];
    }
    const { bytes } = encodeMessage({ ...MESSAGE, sname: NOTHING, file: NOTHING, options: once() }, { maximumLength: 500 });
    expect(optionsOf(bytes)).toEqual({ 53: [5], 43: [...filled(200)], 44: [...filled(100)] });
  });
});

describe('the length of an option with its headers', () => {
  it.each([
    [0, 2],
    [1, 3],
    [255, 257],
    [256, 260],
    [510, 514],
    [511, 517],
  ])('has the right length for %i octets', (length, encoded) => expect(encodedLength(filled(length))).toBe(encoded));
});

describe('a message that does not fit', () => {
  /** 306 octets of options are room for the first of them, and some of `file` and `sname` for the others. */
  const tight = (options: Entry[], more: Partial<OutgoingMessage> = {}, overload = true) =>
    encodeMessage({ ...MESSAGE, sname: NOTHING, file: NOTHING, ...more, options }, { maximumLength: 306, overload });
  const first: Entry = [53, filled(40, 5)];

  it.each([
    ['file', 125, 1, [] as number[]],
    ['file, to its last octet but that of END', 125, 1, []],
    ['sname', 61, 1, []],
  ])('puts an option into %s', (_, length, overload, omitted) => {
    const { bytes, omittedOptions } = tight([first, [43, filled(length)]]);
    expect(omittedOptions).toEqual(omitted);
    expect([...bytes.subarray(282, 286)]).toEqual([52, 1, overload, 255]);
    expect(optionsOf(bytes)).toEqual({ 53: [...filled(40, 5)], 43: [...filled(length)] });
  });

  it('fills options, file and sname, each to its end, and names what is left', () => {
    const options: Entry[] = [first, [43, filled(125)], [44, filled(61)], [45, filled(18)], [46, filled(1)]];
    const { bytes, omittedOptions } = tight(options);
    expect(omittedOptions).toEqual([46]);
    expect([bytes[Offset.file], bytes[Offset.file + 127], bytes[Offset.sname], bytes[Offset.sname + 63]]).toEqual([
      43, 255, 44, 255,
    ]);
    expect(optionsOf(bytes)).toEqual(Object.fromEntries(options.slice(0, 4).map(([code, value]) => [code, [...value]])));
    expect(tight([first, [43, filled(126)]]).omittedOptions).toEqual([43]);
    expect(tight([first, [43, filled(125)], [44, filled(62)]]).omittedOptions).toEqual([44]);
  });

  it('leaves fields alone that have content, and all fields if it must not overload', () => {
    const option: Entry = [43, filled(61)];
    const withFile = tight([first, option], { file: Uint8Array.of(102) });
    expect([withFile.bytes[Offset.file], withFile.bytes[Offset.sname], withFile.omittedOptions]).toEqual([102, 43, []]);
    const withSname = tight([first, option], { sname: Uint8Array.of(115) });
    expect([withSname.bytes[Offset.file], withSname.bytes[Offset.sname], withSname.omittedOptions]).toEqual([43, 115, []]);
    const withBoth = tight([first, option], { file: Uint8Array.of(102), sname: Uint8Array.of(115) });
    expect(withBoth.omittedOptions).toEqual([43]);
    const without = tight([first, option], {}, false);
    expect([without.bytes[Offset.file], without.bytes[Offset.sname], without.omittedOptions]).toEqual([0, 0, [43]]);
    expect(optionsOf(without.bytes)).toEqual({ 53: [...filled(40, 5)] });
  });
});

describe('packets that are not messages', () => {
  it.each<[string, Uint8Array, string]>([
    ['too short', packet([]).subarray(0, 239), 'message-too-short'],
    ['another cookie', packet([]).fill(0, Offset.cookie, Offset.cookie + 1), 'magic-cookie-missing'],
    ['a hardware address of 17 octets', packet([]).fill(17, Offset.hlen, Offset.hlen + 1), 'hardware-length-invalid'],
    ['a code without a length', packet([53]), 'option-truncated'],
    ['an option that is longer than the packet', packet([53, 2, 1]), 'option-truncated'],
    ['overload 0', packet([52, 1, 0, 255]), 'option-overload-invalid'],
    ['overload 4', packet([52, 1, 4, 255]), 'option-overload-invalid'],
    ['overload of two octets', packet([52, 2, 1, 1, 255]), 'option-overload-invalid'],
    ['overload in an overloaded field', packet([52, 1, 1, 255], [52, 1, 1, 255]), 'option-overload-invalid'],
    ['an overloaded field that ends in an option', packet([52, 1, 2, 255], [], [12, 63]), 'option-truncated'],
  ])('%s', (_, octets, reason) => expect(optionsOf(octets)).toBe(reason));

  it.each<[string, Uint8Array, Record<number, number[]>]>([
    ['no options at all', packet([]), {}],
    ['a hardware address of 16 octets', packet([]).fill(16, Offset.hlen, Offset.hlen + 1), {}],
    ['no END', packet([53, 1, 1]), { 53: [1] }],
    ['PAD before, between and after', packet([0, 53, 1, 1, 0, 0, 12, 0, 0]), { 53: [1], 12: [] }],
    ['whatever follows END', packet([53, 1, 1, 255, 53, 9]), { 53: [1] }],
    ['one option in three pieces (RFC 3396)', packet([43, 1, 1, 12, 1, 9, 43, 0, 43, 2, 2, 3, 255]), { 43: [1, 2, 3], 12: [9] }],
    ['overloaded file', packet([52, 1, 1, 255], [12, 1, 9, 255, 7]), { 12: [9] }],
    ['overloaded sname', packet([52, 1, 2, 255], [7], [12, 1, 9, 255, 7]), { 12: [9] }],
    [
      'both, in the order options, file, sname',
      packet([43, 1, 1, 52, 1, 3, 255], [43, 1, 2, 255], [43, 1, 3, 255]),
      { 43: [1, 2, 3] },
    ],
  ])('packets with %s are messages', (_, octets, options) => expect(optionsOf(octets)).toEqual(options));

  it('fields that carried options are empty; others have no trailing NULs', () => {
    const texts = (octets: Uint8Array) => {
      const decoded = decodeMessage(octets);
      return decoded.ok ? [[...decoded.message.sname], [...decoded.message.file]] : decoded.reason;
    };
    expect(texts(packet([255], [102, 0, 103], [115]))).toEqual([[115], [102, 0, 103]]);
    expect(texts(packet([255], Array<number>(128).fill(1), Array<number>(64).fill(2)))).toEqual([
      Array<number>(64).fill(2),
      Array<number>(128).fill(1),
    ]);
    expect(texts(packet([52, 1, 1, 255], [255], [115]))).toEqual([[115], []]);
    expect(texts(packet([52, 1, 2, 255], [102], [255]))).toEqual([[], [102]]);
    expect(texts(packet([255]))).toEqual([[], []]);
  });

  it.each([40, 41, 42, 60])('options in pieces are joined among %i options too', (count) => {
    const octets = Array.from({ length: count }, (_, index) => [index + 100, 1, index]).flat();
    expect(Object.keys(optionsOf(packet(octets)))).toHaveLength(count);
    expect(optionsOf(packet([...octets, 100, 1, 77]))).toMatchObject({ 100: [0, 77] });
  });
});

describe('decoded options', () => {
  const options = DhcpOptions.of([
    [1, Uint8Array.of(9)],
    [2, Uint8Array.of(0x12, 0x34)],
    [4, Uint8Array.of(0xff, 0, 0, 1)],
    [1, Uint8Array.of(8)],
  ]);

  it('are joined where a code comes twice, and counted once', () => {
    expect([...options].map(([code, value]) => [code, ...value])).toEqual([
      [1, 9, 8],
      [2, 0x12, 0x34],
      [4, 0xff, 0, 0, 1],
    ]);
    expect([options.size, DhcpOptions.none.size]).toEqual([3, 0]);
    expect([options.has(2), options.has(3)]).toEqual([true, false]);
  });

  it('are read as integers where they have that many octets, and not otherwise', () => {
    expect([options.uint16(1), options.uint16(2), options.uint16(4), options.uint16(3)]).toEqual([
      0x0908,
      0x1234,
      undefined,
      undefined,
    ]);
    expect([options.uint32(4), options.uint32(2), options.uint32(3)]).toEqual([0xff000001, undefined, undefined]);
    const one = DhcpOptions.of([[1, Uint8Array.of(9)]]);
    expect([one.uint8(1), one.uint8(2), options.uint8(2)]).toEqual([9, undefined, undefined]);
    expect([options.get(3), [...(options.get(2) ?? [])]]).toEqual([undefined, [0x12, 0x34]]);
  });
});
