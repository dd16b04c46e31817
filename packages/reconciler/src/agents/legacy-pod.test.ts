import { describe, expect, it } from 'vitest';
import { isGoneForGood, legacyPoolOf } from './legacy-pod.js';

const LABELS = { 'network.harvesterhci.io/ippool-namespace': 'default', 'network.harvesterhci.io/ippool-name': 'net' };

describe('the pool of a bare pod of upstream', () => {
  it.each<readonly [string, Parameters<typeof legacyPoolOf>[0]['metadata'], string | undefined]>([
    ['by its labels', { name: 'pod', labels: LABELS }, 'default/net'],
    ['none without labels', { name: 'pod' }, undefined],
    ['none without the name', { name: 'pod', labels: { 'network.harvesterhci.io/ippool-namespace': 'default' } }, undefined],
    ['none without the namespace', { name: 'pod', labels: { 'network.harvesterhci.io/ippool-name': 'net' } }, undefined],
    ['none of a pod of a group', { name: 'pod', labels: { ...LABELS, 'network.harvesterhci.io/agent-group': 'g' } }, undefined],
    [
      'none of a pod that has an owner',
      { name: 'pod', labels: LABELS, ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'r' }] },
      undefined,
    ],
  ])('%s', (_, metadata, expected) => {
    expect(legacyPoolOf({ metadata })).toBe(expected);
  });
});

describe('a pod is gone for good', () => {
  const ENDS = '2026-01-01T00:00:00Z';
  const ends = Date.parse(ENDS);
  const pod = (phase: string, isReady: boolean, deletionTimestamp?: string) => ({
    metadata: { name: 'pod', ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
    status: {
      phase,
      conditions: [
        { type: 'PodScheduled', status: 'True' },
        { type: 'Ready', status: isReady ? 'True' : 'False' },
      ],
    },
  });

  it.each<readonly [string, ReturnType<typeof pod>, number, boolean]>([
    ['when it has succeeded', pod('Succeeded', false), 0, true],
    ['when it has failed', pod('Failed', false), 0, true],
    ['not while it runs', pod('Running', true), ends * 2, false],
    ['not while it runs and is not ready', pod('Running', false), ends * 2, false],
    ['not until 30 s after the end of its grace period', pod('Running', false, ENDS), ends + 30_000, false],
    ['30 s after the end of its grace period, on a node that does not answer', pod('Running', false, ENDS), ends + 30_001, true],
    ['never while it is ready', pod('Running', true, ENDS), ends + 60_000, false],
  ])('%s', (_, object, nowMs, isGone) => {
    expect(isGoneForGood(object, nowMs)).toBe(isGone);
  });
});
