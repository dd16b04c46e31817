import { HOLD_AGENT_UPGRADE_ANNOTATION } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { pool } from '../fixtures/object-fixtures.js';
import { onClusterNetwork } from '../network/placement-fixtures.js';
import { legacyPod, NAMESPACE, observing } from './agents-fixtures.js';
import type { PoolView } from './pool-views.js';
import { toPoolForAgents } from './pools-for-agents.js';

const POOL = 'default/pool-1';

type Change = Omit<Partial<KubernetesObject>, 'metadata'> & { readonly metadata?: Partial<KubernetesObject['metadata']> };

function made(change: Change = {}): KubernetesObject {
  const one = pool('pool-1', { network: 'default/net-pool-1' });
  return { ...one, ...change, metadata: { ...one.metadata, uid: 'u', generation: 1, ...change.metadata } };
}

const onHold = { metadata: { annotations: { [HOLD_AGENT_UPGRADE_ANNOTATION]: 'true' } } };
const servedFrom = (namespace: string, name = 'd', field = 'agentDeploymentRef') => ({
  status: { [field]: { namespace, name } },
});

describe('a pod of an earlier version continues to serve its pool while the upgrade of its agents is on hold', () => {
  it.each<[string, object, Partial<KubernetesObject>, boolean]>([
    ['it runs', onHold, { status: { phase: 'Running' } }, true],
    ['it has Succeeded', onHold, { status: { phase: 'Succeeded' } }, false],
    ['it has Failed', onHold, { status: { phase: 'Failed' } }, false],
    ['it is being deleted', onHold, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } as never }, false],
    ['the pool is not on hold', {}, { status: { phase: 'Running' } }, false],
  ])('%s', async (_, poolChange, podChange, isKept) => {
    const { context, pods, putPool, started } = observing();
    const pod = legacyPod('pool-1');
    pods.put({ ...pod, ...podChange, metadata: { ...pod.metadata, ...podChange.metadata } });
    putPool(made(poolChange));
    await started();
    expect(context.eligible.keptPod(context.view.pool(POOL) as PoolView) !== undefined).toBe(isKept);
    expect(context.eligible.toPlan().kept.has(POOL)).toBe(isKept);
    expect(context.eligible.toPlan().pools.length).toBe(isKept ? 0 : 1);
  });
});

describe('agents must not serve a pool', () => {
  it.each<[string, Partial<KubernetesObject>, string | undefined]>([
    ['that nothing is wrong with', {}, undefined],
    ['that is paused', { spec: { ...(made().spec as object), paused: true } }, 'Paused'],
    ['whose settings are invalid', { spec: { ...(made().spec as object), ipv4Config: { cidr: 'nonsense' } } }, 'NotServed'],
    ['whose network does not exist', { spec: { ...(made().spec as object), networkName: 'default/none' } }, 'NetworkMissing'],
    ['that agents of another namespace served', servedFrom('elsewhere'), 'AgentsElsewhere'],
    ['that a pod of another namespace served', servedFrom('elsewhere', 'p', 'agentPodRef'), 'AgentsElsewhere'],
    ['that agents of the namespace before served', servedFrom('before'), undefined],
    ['that agents of the namespace of the agents served', servedFrom(NAMESPACE), undefined],
  ])('%s: %s', async (_, change, reason) => {
    const { context, putPool, started } = observing(['pool-1'], { previousNamespace: 'before' });
    putPool(made(change));
    await started();
    expect(context.eligible.whyNotServed(context.view.pool(POOL) as PoolView)?.reason).toBe(reason);
  });

  it('a pod of an earlier version continues to serve if the pool has a problem, unless the pool is paused or deleted', async () => {
    const { context, putPool, started } = observing();
    await started();
    let generation = 1;
    const isKept = (change: Change) => {
      putPool(made({ ...change, metadata: { ...change.metadata, generation: ++generation } }));
      return context.eligible.toPlan().kept.has(POOL);
    };
    const broken = { spec: { ...(made().spec as object), ipv4Config: { cidr: 'nonsense' } } };
    expect(isKept(broken)).toBe(true);
    expect(isKept({ ...broken, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })).toBe(false);
    expect(isKept({ spec: { ...(made().spec as object), paused: true } })).toBe(false);
    expect(isKept({})).toBe(false);
    const ofAnother = { spec: { ...(made().spec as object), networkName: 'other/none' } };
    expect(isKept(ofAnother), 'the network may come, and allow the pool').toBe(true);
  });
});

describe('the input of the plan of agents', () => {
  it.each<[string, Change, object]>([
    [
      'a pool that was made a while ago',
      { metadata: { creationTimestamp: '2026-01-01T00:00:00Z' } },
      { createdAt: '2026-01-01T00:00:00Z' },
    ],
    ['a pool without a time of creation', {}, {}],
  ])('%s', async (_, change, expected) => {
    const { context, putPool, started } = observing();
    putPool(made(change));
    await started();
    expect(context.eligible.toPlan().pools).toStrictEqual([
      {
        key: POOL,
        network: 'default/net-pool-1',
        serverIP: '10.0.0.2',
        cidr: '10.0.0.0/24',
        placement: onClusterNetwork(undefined),
        ...expected,
        holdsImage: false,
        recorded: { group: undefined, image: undefined },
      },
    ]);
  });

  it('excludes pools whose settings are invalid', () => {
    const { context, putPool } = observing();
    putPool(made({ spec: { ...(made().spec as object), ipv4Config: { cidr: 'nonsense' } } }));
    expect(toPoolForAgents(context.view.pool(POOL) as PoolView)).toEqual([]);
  });
});

describe('the group that has served a pool so far', () => {
  it.each([
    [servedFrom(NAMESPACE, 'vm-dhcp-agent-vlan-1').status, 'vm-dhcp-agent-vlan-1'],
    [servedFrom(NAMESPACE, 'chart').status, 'vm-dhcp-agents'],
    [undefined, undefined],
  ])('comes from the status %j: %s', (status, group) => {
    expect(observing().context.eligible.groupRecordedIn(status)).toBe(group);
  });
});

describe('changes of a pool that agents depend on', () => {
  it.each<[string, Change, boolean]>([
    ['nothing', {}, false],
    ['addresses that were recorded', { status: { ipv4: { used: 1 } } }, false],
    ['finalizers', { metadata: { finalizers: ['x'] } }, false],
    ['the spec', { metadata: { generation: 2 } }, true],
    ['an annotation', onHold, true],
    ['its deletion', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }, true],
    ['another pool of that name', { metadata: { uid: 'v' } }, true],
    ['the Deployment that serves it', servedFrom(NAMESPACE), true],
    ['the pod that served it', servedFrom(NAMESPACE, 'p', 'agentPodRef'), true],
  ])('%s: %s', async (_, change, isNews) => {
    const { context, putPool } = observing();
    const note = (object: KubernetesObject) => {
      putPool(object);
      return context.eligible.note(POOL, context.view.pool(POOL));
    };
    expect(note(made())).toBe(true);
    expect(note(made(change))).toBe(isNews);
    expect(note(made(change))).toBe(false);
    expect(context.eligible.note(POOL, undefined)).toBe(true);
    expect(context.eligible.note(POOL, undefined)).toBe(false);
  });
});
