import { expect, it } from 'vitest';
import { encodeAttributes } from '../netlink/netlink-attributes.js';
import { framesIn } from './received-frames.js';

const STATISTICS = 23;

function link(statistics: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(16), encodeAttributes([[STATISTICS, statistics]])]);
}

it('the first number of the statistics is that of the frames received', () => {
  const statistics = Buffer.alloc(200);
  statistics.writeBigUInt64LE(5_000_000_000n, 0);
  statistics.writeBigUInt64LE(7n, 8);
  expect(framesIn(link(statistics))).toBe(5_000_000_000);
});

it.each([
  ['without statistics', Buffer.alloc(16)],
  ['with statistics that are cut off', link(Buffer.alloc(4))],
  ['that is cut off', Buffer.alloc(3)],
])('of an interface %s no number is known', (_, octets) => expect(framesIn(octets)).toBeUndefined());
