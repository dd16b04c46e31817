import { describe, expect, it } from 'vitest';
import { formatSuspendedPools, parseSuspendedPools, readSuspendedPools } from './suspended-pools.js';

describe('pools that are suspended', () => {
  it('are read as they were written, and no two texts are the same', () => {
    const first = formatSuspendedPools(['b/2', 'a/1']);
    const second = formatSuspendedPools(['a/1', 'b/2'], first);
    expect([...parseSuspendedPools(second)]).toEqual(['a/1', 'b/2']);
    expect(second).not.toBe(first);
  });

  it.each([undefined, '', '{', '[]', '7', '{"pools":7}', '{"pools":[7]}'])('%j suspends nothing', (text) => {
    expect(parseSuspendedPools(text).size).toBe(0);
    expect(parseSuspendedPools(formatSuspendedPools(['a/1'], text)).size).toBe(1);
  });

  it('each has the turn since which it has been suspended without a break', () => {
    const first = formatSuspendedPools(['a/1']);
    const both = formatSuspendedPools(['b/2', 'a/1'], first);
    expect(readSuspendedPools(both)).toEqual({
      turn: 2,
      since: new Map([
        ['a/1', 1],
        ['b/2', 2],
      ]),
    });
    const again = formatSuspendedPools(['a/1', 'b/2'], formatSuspendedPools(['b/2'], both));
    expect(readSuspendedPools(again)).toEqual({
      turn: 4,
      since: new Map([
        ['a/1', 4],
        ['b/2', 2],
      ]),
    });
  });

  it('an annotation of an earlier controller, without a turn for each pool, gives all pools the turn of the text', () => {
    const text = '{"turn":7,"pools":["a/1","b/2"]}';
    expect(readSuspendedPools(text)).toEqual({
      turn: 7,
      since: new Map([
        ['a/1', 7],
        ['b/2', 7],
      ]),
    });
    expect(readSuspendedPools('{"turn":7,"pools":["a/1","b/2"],"since":[3,"x"]}').since).toEqual(
      new Map([
        ['a/1', 3],
        ['b/2', 7],
      ]),
    );
  });
});
