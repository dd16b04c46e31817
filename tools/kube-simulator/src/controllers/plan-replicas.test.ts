import { describe, expect, it } from 'vitest';
import { planReplicas } from './plan-replicas.js';
import { toWorkloadPlan } from './pod-plan.js';
import type { Pod, ReplicaSet } from './workload-kinds.js';

const now = new Date('2026-01-01T00:00:00Z');
const replicaSet: ReplicaSet = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'agent-1', namespace: 'ns', uid: 'rs', generation: 1 },
  spec: { replicas: 2, minReadySeconds: 7, selector: {}, template: { spec: { containers: [] } } },
};
const pod = (name: string, ready = 'False'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { containers: [] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] },
});

describe('a ReplicaSet of two', () => {
  it.each([
    ['none', [], 2, []],
    ['one', [pod('a')], 1, []],
    ['two', [pod('a'), pod('b')], 0, []],
    ['three: the one that is not ready goes', [pod('a', 'True'), pod('b'), pod('c', 'True')], 0, ['b']],
  ])('has %s', (_name, pods, missing, surplus) => {
    const { create, remove } = planReplicas({ replicaSet, pods, now });
    expect(create).toHaveLength(missing);
    expect(remove).toEqual(surplus);
  });

  it('whose Pod is refused creates no more, still deletes, and reports why until a plan is not refused', () => {
    const failing = planReplicas({ replicaSet, pods: [pod('a')], now, refusal: 'no such ServiceAccount' });
    expect(failing.create).toEqual([]);
    const failure = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'no such ServiceAccount' };
    expect(failing.status).toMatchObject({ replicas: 1, conditions: [failure] });
    const reported = { ...replicaSet, status: failing.status as NonNullable<ReplicaSet['status']> };
    expect(planReplicas({ replicaSet: reported, pods: [pod('a')], now, refusal: 'another text' }).status).toBeUndefined();
    const shrunk = { ...reported, spec: { ...reported.spec, replicas: 0 } };
    expect(planReplicas({ replicaSet: shrunk, pods: [pod('a')], now, refusal: 'again' }).remove).toEqual(['a']);
    expect(planReplicas({ replicaSet: reported, pods: [pod('a')], now }).status).not.toHaveProperty('conditions');
  });

  it('is planned again when a Pod that is ready has been so for minReadySeconds', () => {
    const plan = planReplicas({ replicaSet, pods: [pod('a', 'True')], now });
    expect(toWorkloadPlan(replicaSet, [pod('a', 'True')], plan)).toMatchObject({
      actions: [{ kind: 'create-pod' }, { kind: 'report' }],
      recheckAfterMs: 7_000,
    });
    expect(toWorkloadPlan(replicaSet, [pod('a')], plan)).not.toHaveProperty('recheckAfterMs');
  });
});
