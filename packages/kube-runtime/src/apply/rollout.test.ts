import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { isRolledOut, rolloutOf } from './rollout.js';

type Numbers = Readonly<Record<string, number>>;

function workload(kind: string, replicas: number | undefined, status: Numbers, more: object = {}): KubernetesObject {
  return {
    kind,
    metadata: { name: 'a', generation: 3 },
    spec: { ...(replicas !== undefined && { replicas }), ...more },
    status: { observedGeneration: 3, ...status },
  };
}
const DEPLOYED = { replicas: 2, updatedReplicas: 2, readyReplicas: 2 };
const DAEMONS = { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 2 };

describe('rolloutOf', () => {
  it.each<[string, KubernetesObject]>([
    ['a Deployment', workload('Deployment', 2, DEPLOYED)],
    ['a Deployment of no pods, whose status does not have them', workload('Deployment', 0, {})],
    [
      'a Deployment without a number of replicas has one',
      workload('Deployment', undefined, { replicas: 1, updatedReplicas: 1, readyReplicas: 1 }),
    ],
    ['a DaemonSet', workload('DaemonSet', undefined, DAEMONS)],
    ['a DaemonSet for no node', workload('DaemonSet', undefined, {})],
    ['a StatefulSet', workload('StatefulSet', 2, DEPLOYED)],
    [
      'a StatefulSet whose first pods keep their template by a partition',
      workload(
        'StatefulSet',
        3,
        { replicas: 3, updatedReplicas: 1, readyReplicas: 3 },
        { updateStrategy: { rollingUpdate: { partition: 2 } } },
      ),
    ],
    [
      'a StatefulSet with a partition lowered a moment ago and more pods updated than it needs',
      workload(
        'StatefulSet',
        3,
        { replicas: 3, updatedReplicas: 3, readyReplicas: 3 },
        { updateStrategy: { rollingUpdate: { partition: 2 } } },
      ),
    ],
    [
      'a StatefulSet with a partition above its pods',
      workload(
        'StatefulSet',
        1,
        { replicas: 1, updatedReplicas: 0, readyReplicas: 1 },
        { updateStrategy: { rollingUpdate: { partition: 5 } } },
      ),
    ],
  ])('complete: %s', (_, object) => {
    expect(rolloutOf(object)).toEqual({ kind: 'complete' });
    expect(isRolledOut(object)).toBe(true);
  });

  it.each<[string, KubernetesObject, string]>([
    [
      'Deployment, template',
      workload('Deployment', 2, { ...DEPLOYED, updatedReplicas: 1 }),
      '1 of 2 pods are of the newest template',
    ],
    [
      'Deployment, an old pod',
      workload('Deployment', 2, { ...DEPLOYED, replicas: 3 }),
      '3 of 2 pods exist; pods of an older template are left',
    ],
    ['Deployment, readiness', workload('Deployment', 2, { ...DEPLOYED, readyReplicas: 1 }), '1 of 2 pods are ready'],
    [
      'DaemonSet, template',
      workload('DaemonSet', undefined, { ...DAEMONS, updatedNumberScheduled: 0 }),
      '0 of 2 pods are of the newest template',
    ],
    ['DaemonSet, readiness', workload('DaemonSet', undefined, { ...DAEMONS, numberReady: 1 }), '1 of 2 pods are ready'],
    [
      'StatefulSet, template',
      workload('StatefulSet', 2, { ...DEPLOYED, updatedReplicas: 1 }),
      '1 of 2 pods are of the newest template',
    ],
    ['StatefulSet, scaled down', workload('StatefulSet', 2, { ...DEPLOYED, replicas: 3 }), '3 of 2 pods exist'],
    ['StatefulSet, readiness', workload('StatefulSet', 2, { ...DEPLOYED, readyReplicas: 0 }), '0 of 2 pods are ready'],
    [
      'StatefulSet, above its partition',
      workload(
        'StatefulSet',
        3,
        { replicas: 3, updatedReplicas: 0, readyReplicas: 3 },
        { updateStrategy: { rollingUpdate: { partition: 2 } } },
      ),
      '0 of 1 pods are of the newest template',
    ],
  ])('in progress: %s', (_, object, message) => {
    expect(rolloutOf(object)).toEqual({ kind: 'in-progress', message });
    expect(isRolledOut(object)).toBe(false);
  });

  it.each(['Deployment', 'DaemonSet', 'StatefulSet'])('%s: a status of an older spec is ignored', (kind) => {
    const complete = workload(kind, 2, { ...DEPLOYED, ...DAEMONS });
    expect(rolloutOf(complete).kind).toBe('complete');
    const older = { ...complete, metadata: { name: 'a', generation: 4 } };
    expect(rolloutOf(older)).toMatchObject({ kind: 'in-progress', message: expect.stringContaining('newest spec') });
  });

  it.each<[object, string]>([
    [{ reason: 'ProgressDeadlineExceeded', message: 'has timed out progressing' }, 'has timed out progressing'],
    [{ reason: 'ProgressDeadlineExceeded' }, 'ProgressDeadlineExceeded'],
    [{}, 'the rollout makes no progress'],
  ])('a rollout that was given up is stuck: %j', (condition, message) => {
    const conditions = [
      { type: 'Available', status: 'False', message: 'other' },
      { type: 'Progressing', status: 'False', ...condition },
    ];
    const one = workload('Deployment', 2, { ...DEPLOYED, readyReplicas: 0 });
    const stuck = { ...one, status: { ...(one.status as object), conditions } };
    expect(rolloutOf(stuck)).toEqual({ kind: 'stuck', message });
    const going = { ...one, status: { ...(one.status as object), conditions: [{ type: 'Progressing', status: 'True' }] } };
    expect(rolloutOf(going).kind).toBe('in-progress');
    expect(rolloutOf({ ...stuck, status: { ...DEPLOYED, observedGeneration: 3, conditions } }).kind).toBe('complete');
  });

  it('an absent object is missing, and a kind without pods has no rollout', () => {
    expect(rolloutOf(undefined)).toEqual({ kind: 'missing' });
    expect(isRolledOut(undefined)).toBe(false);
    expect(() => rolloutOf({ kind: 'ConfigMap', metadata: { name: 'a' } })).toThrow('a ConfigMap has no rollout');
  });
});
