import { SUSPENDED_POOLS_ANNOTATION, SUSPENDED_POOLS_SEEN_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import { describe, expect, it } from 'vitest';
import { LeaseAnnotations } from './lease-annotations.js';

const REPORT = new Map([['default/net', { serving: true }]]);
const suspending = (turn: number, ...pools: string[]) => ({
  [SUSPENDED_POOLS_ANNOTATION]: JSON.stringify({ turn, pools, since: pools.map(() => turn) }),
});

describe('the suspended pools of a Lease', () => {
  it('are empty at first', () => {
    expect([...new LeaseAnnotations().suspended]).toEqual([]);
  });

  it('come from the newest Lease that was read', () => {
    const annotations = new LeaseAnnotations();
    expect(annotations.read(suspending(1, 'a/one', 'a/two'), '5')).toBe('changed');
    expect([...annotations.suspended]).toEqual(['a/one', 'a/two']);
    expect(annotations.read(suspending(2, 'a/two'), '6')).toBe('changed');
    expect([...annotations.suspended]).toEqual(['a/two']);
  });

  it('are empty when the annotation is gone', () => {
    const annotations = new LeaseAnnotations();
    annotations.read(suspending(1, 'a/one'), '5');
    expect(annotations.read({}, '6')).toBe('changed');
    expect([...annotations.suspended]).toEqual([]);
  });

  it('do not change if an older Lease is seen: a watch may lag behind a read', () => {
    const annotations = new LeaseAnnotations();
    annotations.read(suspending(2, 'a/one'), '10');
    expect(annotations.read({}, '9')).toBe('older');
    expect(annotations.read(suspending(1, 'a/two'), '2')).toBe('older');
    expect([...annotations.suspended]).toEqual(['a/one']);
  });

  it('are read again at the same version, without a change', () => {
    const annotations = new LeaseAnnotations();
    annotations.read(suspending(1, 'a/one'), '5');
    expect(annotations.read(suspending(1, 'a/one'), '5')).toBe('same');
    expect(annotations.read(suspending(1, 'a/one'), '6')).toBe('same');
  });

  it('an unreadable annotation suspends nothing', () => {
    const annotations = new LeaseAnnotations();
    annotations.read({ [SUSPENDED_POOLS_ANNOTATION]: '{' }, '5');
    expect([...annotations.suspended]).toEqual([]);
  });
});

describe('when a Lease that was seen must be read', () => {
  it.each([
    ['it suspends another pool', suspending(2, 'a/two'), '11', true],
    ['it suspends nothing any more', {}, '11', true],
    ['it suspends the same', suspending(1, 'a/one'), '11', false],
    ['it suspends another pool at the version that was read', suspending(2, 'a/two'), '10', true],
    ['it is older, and suspends another pool', suspending(0, 'a/two'), '9', false],
  ])('%s: %o', (_, seen, version, expected) => {
    const annotations = new LeaseAnnotations();
    annotations.read(suspending(1, 'a/one'), '10');
    expect(annotations.isNews(seen, version)).toBe(expected);
  });
});

describe('what a leader writes', () => {
  it('echoes the suspended pools that it has read, and its report', () => {
    const annotations = new LeaseAnnotations();
    const seen = suspending(3, 'a/one');
    annotations.read(seen, '5');
    const written = annotations.write(REPORT, false);
    expect(written[SUSPENDED_POOLS_SEEN_ANNOTATION]).toBe(seen[SUSPENDED_POOLS_ANNOTATION]);
    expect(Object.values(written).join()).toContain('"default/net":{"serving":true}');
    expect(written).not.toHaveProperty([SUSPENDED_POOLS_ANNOTATION]);
  });

  it('contains the suspended pools if the Lease was deleted', () => {
    const annotations = new LeaseAnnotations();
    const seen = suspending(3, 'a/one');
    annotations.read(seen, '5');
    expect(annotations.write(REPORT, true)).toMatchObject(seen);
  });

  it('suspends nothing in a new Lease if nothing was suspended', () => {
    expect(new LeaseAnnotations().write(REPORT, true)).not.toHaveProperty([SUSPENDED_POOLS_ANNOTATION]);
  });
});
