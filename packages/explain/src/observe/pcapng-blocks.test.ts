import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NoPcapngError, PcapngBlocks } from './pcapng-blocks.js';

type Endianness = 'little' | 'big';

/** A block of this type. */
function block(type: number, body: Buffer, endianness: Endianness = 'little'): Buffer {
  const octets = Buffer.alloc(12 + body.length);
  const write = (value: number, at: number) =>
    endianness === 'little' ? octets.writeUInt32LE(value, at) : octets.writeUInt32BE(value, at);
  write(type, 0);
  write(octets.length, 4);
  body.copy(octets, 8);
  write(octets.length, octets.length - 4);
  return octets;
}

function header(endianness: Endianness = 'little'): Buffer {
  const body = Buffer.alloc(16);
  if (endianness === 'little') body.writeUInt32LE(0x1a2b3c4d);
  else body.writeUInt32BE(0x1a2b3c4d);
  return block(0x0a0d0d0a, body, endianness);
}

/** Interface statistics with a comment of three octets, and these numbers of packets dropped by the interface and the system. */
function statistics(dropped: number, droppedBySystem: number): Buffer {
  const body = Buffer.alloc(12 + 8 + 12 + 12 + 4);
  body.writeUInt16LE(1, 12);
  body.writeUInt16LE(3, 14);
  for (const [at, code, value] of [
    [20, 5, dropped],
    [32, 7, droppedBySystem],
  ] as const) {
    body.writeUInt16LE(code, at);
    body.writeUInt16LE(8, at + 2);
    body.writeBigUInt64LE(BigInt(value), at + 4);
  }
  return block(5, body);
}

const packet = (octets: number) => block(6, Buffer.alloc(20 + octets, octets));

describe('a capture that does not end', () => {
  const more = expect.stringContaining('more than the 2 packets') as string;

  it('yields as many packets as were requested, and refuses one more', () => {
    const blocks = new PcapngBlocks(2);
    const whole = Buffer.concat([header(), packet(4), packet(4), statistics(0, 0)]);
    expect(blocks.push(whole)).toEqual(whole);
    expect(() => blocks.push(packet(4))).toThrow(expect.objectContaining({ code: 'ERR_NO_PCAPNG', message: more }) as Error);
  });

  it('refuses blocks without packets once they are larger than the requested packets would be', () => {
    const blocks = new PcapngBlocks(2);
    blocks.push(header());
    const other = block(7, Buffer.alloc(512 * 1024));
    blocks.push(other);
    blocks.push(other);
    expect(() => blocks.push(other)).toThrow(expect.objectContaining({ message: more }) as Error);
  });
});

describe('a capture in pieces', () => {
  it('law: however it is cut, whole blocks come out, and every packet is counted once', () => {
    const packets = fc.array(fc.nat(60).map((words) => 4 * words));
    fc.assert(
      fc.property(packets, fc.array(fc.nat(400)), (sizes, cuts) => {
        const whole = Buffer.concat([header(), block(1, Buffer.alloc(8)), ...sizes.map(packet), statistics(2, 3)]);
        const blocks = new PcapngBlocks(1000);
        const out: Buffer[] = [];
        let at = 0;
        for (const cut of [...cuts, whole.length]) {
          out.push(blocks.push(whole.subarray(at, at + cut)));
          at += cut;
        }
        expect(Buffer.concat(out).equals(whole)).toBe(true);
        expect([blocks.packets, blocks.lost]).toEqual([sizes.length, 5]);
      }),
    );
  });

  it('is complete up to the last whole block if it ends in the middle of one', () => {
    const blocks = new PcapngBlocks(1000);
    const whole = Buffer.concat([header(), packet(8)]);
    expect(blocks.push(Buffer.concat([whole, packet(8).subarray(0, 20)])).equals(whole)).toBe(true);
    expect([blocks.packets, blocks.lost]).toEqual([1, undefined]);
  });

  it('may come from a machine with the other byte order', () => {
    const blocks = new PcapngBlocks(1000);
    const whole = Buffer.concat([header('big'), block(6, Buffer.alloc(24), 'big'), block(3, Buffer.alloc(8), 'big')]);
    expect(blocks.push(whole).equals(whole)).toBe(true);
    expect(blocks.packets).toBe(2);
  });

  it.each([
    ['text', Buffer.from('error: unknown command capture')],
    ['a length that is not a multiple of four', Buffer.from([6, 0, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0])],
    ['a length beyond all bounds', Buffer.from([6, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0])],
    ['a length of nothing', Buffer.alloc(12)],
  ])('refuses %s', (_title, octets) => expect(() => new PcapngBlocks(1000).push(octets)).toThrow(NoPcapngError));
});
