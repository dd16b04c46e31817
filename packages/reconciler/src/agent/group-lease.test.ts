import { WITHHELD_POOLS_ANNOTATION, WITHHELD_POOLS_SEEN_ANNOTATION } from '@vmdhcp/ippool-api';
import { describe, expect, it } from 'vitest';
import { AGENT_REPORT_ANNOTATION } from './agent-report.js';
import { formatWithheldPools, parseWithheldPools, readGroupLease } from './group-lease.js';

describe('pools that are withheld', () => {
  it('are read as they were written, and no two texts are the same', () => {
    const first = formatWithheldPools(['b/2', 'a/1']);
    const second = formatWithheldPools(['a/1', 'b/2'], first);
    expect([...parseWithheldPools(second)]).toEqual(['a/1', 'b/2']);
    expect(second).not.toBe(first);
  });

  it.each([undefined, '', '{', '[]', '7', '{"pools":7}', '{"pools":[7]}'])('are none in %j', (text) => {
    expect(parseWithheldPools(text).size).toBe(0);
    expect(parseWithheldPools(formatWithheldPools(['a/1'], text)).size).toBe(1);
  });
});

describe('readGroupLease', () => {
  const withheld = formatWithheldPools(['a/1']);
  const lease = (holderIdentity: string, annotations: Readonly<Record<string, string>>) => ({
    metadata: { name: 'group', annotations },
    spec: { holderIdentity },
  });
  const report = { [AGENT_REPORT_ANNOTATION]: '{"a/1":{"serving":true}}' };

  it.each([
    ['nobody', '', false, false],
    ['somebody', 'pod_1', false, true],
    ['somebody, long ago', 'pod_1', true, false],
  ])('held by %s', (_, holder, isStale, isLive) => {
    const read = readGroupLease(lease(holder, report), isStale);
    expect(read).toMatchObject({ isLive, leader: isLive ? 'pod' : '' });
    expect(read.report.size).toBe(isLive ? 1 : 0);
    expect([...read.known], 'what its pods were told outlives the lead').toEqual(['a/1']);
  });

  it.each([
    ['that echoes what is withheld', withheld, true],
    ['that echoes something older', formatWithheldPools([]), false],
    ['that echoes nothing', undefined, false],
  ])('a leader %s', (_, seen, isSeen) => {
    const annotations = {
      ...report,
      [WITHHELD_POOLS_ANNOTATION]: withheld,
      ...(seen !== undefined && { [WITHHELD_POOLS_SEEN_ANNOTATION]: seen }),
    };
    expect(readGroupLease(lease('pod_1', annotations), false).isSeen).toBe(isSeen);
  });

  it('a leader that reports nothing has seen nothing: it is none of ours', () => {
    expect(readGroupLease(lease('pod_1', {}), false).isSeen).toBe(false);
  });
});
