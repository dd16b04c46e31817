import {
  AGENT_REPORT_ANNOTATION,
  formatSuspendedPools,
  SUSPENDED_POOLS_ANNOTATION,
  SUSPENDED_POOLS_SEEN_ANNOTATION,
} from '@vmdhcp/ippool-api';
import { describe, expect, it } from 'vitest';
import { readGroupLease } from './group-lease.js';

describe('readGroupLease', () => {
  const suspended = formatSuspendedPools(['a/1']);
  const lease = (holderIdentity: string, annotations: Readonly<Record<string, string>>) => ({
    metadata: { name: 'group', annotations },
    spec: { holderIdentity },
  });
  const report = { [AGENT_REPORT_ANNOTATION]: '{"a/1":{"serving":true}}' };

  it.each([
    ['no holder', '', false, false],
    ['a holder', 'pod_1', false, true],
    ['a holder that has not renewed', 'pod_1', true, false],
  ])('a Lease with %s', (_, holder, isStale, isLive) => {
    const read = readGroupLease(lease(holder, report), isStale);
    expect(read).toMatchObject({ isLive, leader: isLive ? 'pod' : '' });
    expect(read.report.size).toBe(isLive ? 1 : 0);
    expect([...read.known], 'the configured pools are known even after the leadership').toEqual(['a/1']);
  });

  const seenBy = (seen: string | undefined, now = suspended, more: Readonly<Record<string, string>> = report) => {
    const annotations = {
      ...more,
      [SUSPENDED_POOLS_ANNOTATION]: now,
      ...(seen !== undefined && { [SUSPENDED_POOLS_SEEN_ANNOTATION]: seen }),
    };
    return [...readGroupLease(lease('pod_1', annotations), false).seen];
  };

  it.each([
    ['that echoes what is suspended', suspended, ['a/1']],
    ['that echoes something older', formatSuspendedPools([]), []],
    ['that echoes nothing', undefined, []],
    ['that echoes what makes no sense', '{"turn":9}', []],
  ])('a leader %s', (_, seen, expected) => {
    expect(seenBy(seen)).toEqual(expected);
  });

  it('a leader without a report has seen nothing: it is not one of our agents', () => {
    expect(seenBy(suspended, suspended, {})).toEqual([]);
  });

  it("a leader's confirmation stays valid when another pool is suspended or resumed", () => {
    const more = formatSuspendedPools(['a/1', 'b/2'], suspended);
    expect(seenBy(suspended, more)).toEqual(['a/1']);
    expect(seenBy(suspended, formatSuspendedPools(['a/1'], more))).toEqual(['a/1']);
    expect(seenBy(more, formatSuspendedPools(['b/2'], more))).toEqual(['b/2']);
  });

  it('a pool that was resumed and suspended again must be confirmed again', () => {
    const free = formatSuspendedPools([], suspended);
    const again = formatSuspendedPools(['a/1'], free);
    expect(seenBy(suspended, again)).toEqual([]);
    expect(seenBy(free, again)).toEqual([]);
    expect(seenBy(again, again)).toEqual(['a/1']);
  });

  it('a text of an earlier controller, without turns for each pool, can only be confirmed as a whole', () => {
    const earlier = JSON.stringify({ turn: 4, pools: ['a/1'] });
    expect(seenBy(JSON.stringify({ turn: 3, pools: ['a/1'] }), earlier)).toEqual([]);
    expect(seenBy(earlier, earlier)).toEqual(['a/1']);
    expect(seenBy(earlier, formatSuspendedPools(['a/1', 'b/2'], earlier))).toEqual(['a/1']);
  });
});
