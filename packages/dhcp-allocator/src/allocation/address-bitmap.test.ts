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

  it.each([0, 1, 31, 32, 33, 1024, 1025])('is full after %i additions, its size', (size) => {
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

  it.each([
    [0, 0],
    [0, 31],
    [31, 32],
    [5, 1023],
    [0, 1024],
    [0, 1_048_575],
    [33, 1_048_574],
  ])('a range from %i to %i has no gap inside and keeps those outside', (first, last) => {
    const bitmap = new AddressBitmap(1_048_577);
    bitmap.addRange(first, last);
    expect(bitmap.count).toBe(last - first + 1);
    expect(bitmap.lowestAbsent()).toBe(first === 0 ? last + 1 : 0);
    expect([first, last, last + 1].map((member) => bitmap.has(member))).toEqual([true, true, false]);
  });

  it('law: adding a range is the same as adding its members one by one', () => {
    const range = fc
      .tuple(fc.nat(2_999), fc.nat(2_999))
      .map(([one, other]) => [Math.min(one, other), Math.max(one, other)] as const);
    const before = fc.array(fc.nat(2_999), { maxLength: 40 });
    fc.assert(
      fc.property(
        before,
        fc.array(range, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(2_999), { maxLength: 20 }),
        (single, ranges, deleted) => {
          const [bitmap, oneByOne] = [new AddressBitmap(3_000), new AddressBitmap(3_000)];
          for (const member of single) for (const each of [bitmap, oneByOne]) each.add(member);
          for (const [first, last] of ranges) {
            bitmap.addRange(first, last);
            for (let member = first; member <= last; member++) oneByOne.add(member);
            expect(bitmap.count).toBe(oneByOne.count);
            expect(bitmap.lowestAbsent()).toBe(oneByOne.lowestAbsent());
          }
          for (const member of deleted) {
            expect(bitmap.delete(member)).toBe(oneByOne.delete(member));
            expect(bitmap.lowestAbsent()).toBe(oneByOne.lowestAbsent());
          }
          for (let gap = bitmap.lowestAbsent(); gap !== undefined; gap = bitmap.lowestAbsent()) {
            expect(oneByOne.lowestAbsent()).toBe(gap);
            for (const each of [bitmap, oneByOne]) each.add(gap);
          }
          expect(oneByOne.lowestAbsent()).toBeUndefined();
        },
      ),
    );
  });
});
