import { describe, expect, it } from 'vitest';
import { BodyBudget, type HeldBody } from './body-budget.js';

/** Holds bodies by name, and lists which were cut. */
function setUp(mostOctets: number) {
  const budget = new BodyBudget(mostOctets);
  const cut: string[] = [];
  const hold = (name: string, address: string, octets = 0): HeldBody => {
    const held = budget.hold(address, () => cut.push(name));
    held.add(octets);
    return held;
  };
  return { cut, hold };
}

describe('BodyBudget', () => {
  it('one address may use all of it, and then loses its oldest body', () => {
    const { cut, hold } = setUp(100);
    hold('a', 'pod', 50);
    hold('b', 'pod', 50);
    expect(cut).toEqual([]);
    hold('c', 'pod', 1);
    expect(cut).toEqual(['a']);
  });

  it('an address with less than its share loses nothing to one with more, which is cut when it sends again', () => {
    const { cut, hold } = setUp(100);
    const large = hold('large', 'pod', 100);
    hold('small', 'api server', 50);
    expect(cut).toEqual([]);
    large.add(1);
    expect(cut).toEqual(['large']);
  });

  it('a complete body is not cut, and counts until it is released', () => {
    const { cut, hold } = setUp(100);
    const done = hold('done', 'pod', 90);
    done.complete();
    hold('next', 'pod', 20);
    expect(cut).toEqual(['next']);
    done.release();
    hold('after', 'pod', 100);
    expect(cut).toEqual(['next']);
  });

  it('a body that was cut or released no longer counts, whatever else arrives', () => {
    const { cut, hold } = setUp(100);
    const first = hold('first', 'pod', 60);
    hold('second', 'pod', 60);
    first.add(1_000);
    first.release();
    first.release();
    hold('third', 'pod', 40);
    expect(cut).toEqual(['first']);
  });
});
