import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressBitmap } from './address-bitmap.js';

describe('AddressBitmap', () => {
  it('finds the lowest gap across word and level borders', () => {
    const bitmap = new AddressBitmap(40_000);
    for (let member = 0; member < 40_000; member++) {
      expect(bitmap.lowestAbsent()).toBe(member);
      bitmap.add(member);
    }
    expect(bitmap.lowestAbsent()).toBeUndefined();
    bitmap.delete(33_000);
    bitmap.delete(31);
    expect(bitmap.lowestAbsent()).toBe(31);
    bitmap.add(31);
    expect(bitmap.lowestAbsent()).toBe(33_000);
  });

  it.each([0, 1, 31, 32, 33, 1024, 1025])('of size %i is full after as many additions', (size) => {
    const bitmap = new AddressBitmap(size);
    for (let member = 0; member < size; member++) expect(bitmap.add(member)).toBe(true);
    expect(bitmap.count).toBe(size);
    expect(bitmap.lowestAbsent()).toBeUndefined();
  });

  it('law: behaves like a Set whose lowest gap is searched', () => {
    const commands = fc.array(fc.tuple(fc.boolean(), fc.nat(69)), { maxLength: 300 });
    fc.assert(
      fc.property(commands, (steps) => {
        const bitmap = new AddressBitmap(70);
        const model = new Set<number>();
        for (const [adding, member] of steps) {
          if (adding) expect(bitmap.add(member)).toBe(!model.has(member));
          else expect(bitmap.delete(member)).toBe(model.has(member));
          if (adding) model.add(member);
          else model.delete(member);
          const gap = Array.from({ length: 70 }, (_, n) => n).find((n) => !model.has(n));
          expect(bitmap.lowestAbsent()).toBe(gap);
          expect(bitmap.count).toBe(model.size);
        }
      }),
    );
  });
});
