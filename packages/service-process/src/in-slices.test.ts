import { describe, expect, it } from 'vitest';
import { inSlices, joined } from './in-slices.js';

describe('a text in slices', () => {
  it('is the same text, in pieces of 32 KiB and what remains', () => {
    const pieces = Array.from({ length: 10_000 }, (_, index) => `line ${index}\n`);
    const slices = [...joined(pieces)];
    expect(slices.join('')).toBe(pieces.join(''));
    expect(slices.slice(0, -1).every(({ length }) => length >= 32_768 && length < 32_768 + 16)).toBe(true);
    expect([...joined([])]).toEqual([]);
  });

  it('lets other work run after each piece', async () => {
    let turns = 0;
    let waiting = setImmediate(function count() {
      turns++;
      waiting = setImmediate(count);
    });
    const seen: number[] = [];
    for await (const _ of inSlices(['a', 'b', 'c'])) seen.push(turns);
    clearImmediate(waiting);
    expect(seen[0]).toBeLessThan(seen[1] ?? 0);
    expect(seen[1]).toBeLessThan(seen[2] ?? 0);
  });
});
