import { AGENT_GROUP_LABEL } from '@vmdhcp/ippool-api';
import { type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import type { AgentsPlan, AgentsSettings } from '../agents/agents-plan.js';
import { UNIFIED_GROUP } from '../agents/topology.js';
import { pool } from '../fixtures/object-fixtures.js';
import { deployment, GROUP, lease, legacyPod, NAMESPACE, observing } from './agents-fixtures.js';
import type { PoolView } from './pool-views.js';

const POOL = 'default/pool-1';
const OTHER = 'vm-dhcp-agent-vlan-2';
const SERVING = { serving: true } as const;

function planOf(groupOf: Readonly<Record<string, string>>, more: Partial<AgentsPlan> = {}): AgentsPlan {
  const none = { actions: [], servedBy: new Map(), problems: new Map(), leftOut: new Map() };
  return { ...none, groupOf: new Map(Object.entries(groupOf)), ...more };
}

type Observing = ReturnType<typeof observing>;
const viewOf = ({ context }: Observing, key = POOL) => context.view.pool(key) as PoolView;

describe('a pool may be served', () => {
  it.each<[string, (observed: Observing) => void, boolean]>([
    ['by no agents', () => undefined, false],
    ['by agents that are configured for it', ({ deployments }) => deployments.put(deployment([POOL])), true],
    ['by agents that are configured for another pool', ({ deployments }) => deployments.put(deployment(['default/b'])), false],
    ['by a leader that reports that it serves it', ({ leases }) => leases.put(lease({ [POOL]: SERVING })), true],
    ['by a leader that reports that it does not', ({ leases }) => leases.put(lease({ [POOL]: { serving: false } })), false],
    ['by a leader that reports another pool', ({ leases }) => leases.put(lease({ 'default/b': SERVING })), false],
    ['by a pod of an earlier version', ({ pods }) => pods.put(legacyPod('pool-1')), true],
    ['by a pod of an earlier version that serves another pool', ({ pods }) => pods.put(legacyPod('b')), false],
  ])('%s', async (_, put, expected) => {
    const observed = observing();
    put(observed);
    await observed.started();
    expect(observed.context.pools.isInUse(POOL)).toBe(expected);
  });

  it('by a leader until its Lease has ended', async () => {
    const { clock, context, leases, started } = observing();
    leases.put(lease({ [POOL]: SERVING }));
    await started();
    expect(context.pools.isInUse(POOL)).toBe(true);
    await clock.advance(3_000);
    expect(context.pools.isInUse(POOL)).toBe(false);
  });

  it('as long as not everything is listed', () => {
    expect(observing().context.pools.isInUse(POOL)).toBe(true);
  });
});

describe('a pool that a group with its own rights reports', () => {
  const role = (resourceNames: readonly string[], verbs: readonly string[]): KubernetesObject => ({
    kind: 'Role',
    metadata: { namespace: 'default', name: GROUP, labels: { [AGENT_GROUP_LABEL]: GROUP }, resourceVersion: '9' },
    ...{ rules: [{ apiGroups: ['network.harvesterhci.io'], resources: ['ippools'], resourceNames, verbs }] },
  });
  const READ = ['get', 'list', 'watch'];
  const given = pool('pool-1', { network: 'default/net-pool-1' });
  const recorded = (name: string) => ({ ...given, status: { agentDeploymentRef: { namespace: NAMESPACE, name } } });

  it.each<[string, Partial<AgentsSettings>, (observed: Observing) => void, boolean]>([
    ['is not believed to be served without a sign that the controller gave it to the group', {}, () => undefined, false],
    [
      'is believed to be served where a Role of the group names it',
      {},
      ({ context }) => context.observed.wrote('roles', role(['pool-1'], READ)),
      true,
    ],
    [
      'is not believed to be served where a Role of the group names another',
      {},
      ({ context }) => context.observed.wrote('roles', role(['pool-2'], READ)),
      false,
    ],
    ['is believed to be served where its status names the group', {}, ({ putPool }) => putPool(recorded(GROUP)), true],
    ['is not believed to be served where its status names another', {}, ({ putPool }) => putPool(recorded(OTHER)), false],
    ['is believed to be served by a group without', { groupRights: false }, () => undefined, true],
  ])('%s', async (_, settings, given, isBelieved) => {
    const observed = observing(['pool-1'], { groupRights: true, ...settings });
    observed.leases.put(lease({ [POOL]: SERVING, 'default/unknown': SERVING }));
    await observed.started();
    given(observed);
    const { pools } = observed.context;
    expect(pools.isInUse(POOL)).toBe(isBelieved);
    expect(pools.groups().get(GROUP)?.lease.report.has(POOL)).toBe(isBelieved);
  });

  it('is believed of the unified group, which may serve every pool', async () => {
    const { context, leases, started } = observing(['pool-1'], { groupRights: true });
    leases.put(lease({ [POOL]: SERVING }, { name: UNIFIED_GROUP }));
    await started();
    expect(context.pools.isInUse(POOL)).toBe(true);
  });
});

describe('the state of the agents of a pool', () => {
  it('is empty before everything is listed, and before there is a plan', async () => {
    const observed = observing();
    const { pools } = observed.context;
    expect(pools.ofPool(viewOf(observed)).conditions).toEqual([]);
    expect(pools.changed([POOL])).toEqual([]);
    observed.putPool(pool('pool-1', { network: 'default/net-pool-1', paused: true }));
    expect(pools.ofPool(viewOf(observed)).conditions, 'even where it is paused').toEqual([]);
    observed.putPool(pool('pool-1', { network: 'default/net-pool-1' }));
    await observed.started();
    expect(pools.ofPool(viewOf(observed)).conditions).toEqual([]);
    pools.planned(planOf({ [POOL]: GROUP }));
    expect(pools.ofPool(viewOf(observed)).conditions).not.toEqual([]);
  });

  it('comes from the current Deployment and Lease, not from those at the time of the plan', async () => {
    const observed = observing();
    const { context, deployments, leases } = observed;
    await observed.started();
    context.pools.planned(planOf({ [POOL]: GROUP }));
    expect(context.pools.changed([POOL])).toEqual([POOL]);
    expect(context.pools.changed([POOL])).toEqual([]);
    deployments.put(deployment([POOL]));
    leases.put(lease({ [POOL]: SERVING }));
    expect(context.pools.ofPool(viewOf(observed))).toMatchObject({
      deploymentRef: { namespace: NAMESPACE, name: GROUP, image: 'agent:v1', uid: GROUP },
      servedBy: `${GROUP}-pod`,
    });
    expect(context.pools.changed([POOL, 'default/unknown'])).toEqual([POOL]);
  });

  it('names a machine of the pool that is an IPv6 router, and goes by the settings that are in effect', async () => {
    const observed = observing();
    const { context, leases, putPool } = observed;
    const router = { address: 'fe80::1', macAddress: '02:00:00:00:00:0A', isDefaultRouter: true, isManaged: true };
    const conditionWith = (ipv6Config: object | undefined) => {
      const given = pool('pool-1', { network: 'default/net-pool-1' });
      const status = { ipv4: { allocated: { '10.0.0.10': '02:00:00:00:00:0a' } } };
      putPool({ ...given, spec: { ...(given.spec as object), ipv6Config }, status });
      const { conditions } = context.pools.ofPool(viewOf(observed));
      return conditions.find(({ type }) => type === 'RouterReady');
    };
    const readyWith = (ipv6Config: object | undefined) => {
      const ready = conditionWith(ipv6Config);
      return ready?.reason ?? ready?.status;
    };
    await observed.started();
    context.pools.planned(planOf({ [POOL]: GROUP }));
    leases.put(lease({ [POOL]: { ...SERVING, routers: [router] } }));
    const cidr = 'fd00::/64';
    expect(readyWith({ cidr })).toBe('RogueRouter');
    expect(readyWith({ cidr, routers: ['fe80::1'] })).toBe('True');
    expect(readyWith({ cidr, routers: ['2001:db8::1'] }), 'a list that is left out').toBe('RogueRouter');
    expect(readyWith(undefined), 'no IPv6').toBeUndefined();
    expect(readyWith({ cidr: 'garbage' }), 'IPv6 that is not served').toBeUndefined();
    leases.put(lease({ [POOL]: { ...SERVING, routers: [{ ...router, macAddress: '02:00:00:00:99:01' }] } }));
    expect(readyWith({ cidr, routers: ['2001:db8::1'] }), 'a list that is left out').toBe('True');
    leases.put(lease({ [POOL]: { ...SERVING, routers: [] } }));
    const silent = { cidr, routers: ['fe80::1'], routerAdvertisements: 'DefaultRoute' };
    expect(readyWith(silent)).toBe('NoRouter');
    expect(conditionWith(silent)?.message).toContain('answers as a router at fe80::1, to which agents advertise a default route');
  });

  it('is reported again for a pool that was deleted and created again', async () => {
    const observed = observing();
    const { pools } = observed.context;
    await observed.started();
    pools.planned(planOf({ [POOL]: GROUP }));
    expect([pools.changed([POOL]), pools.changed([POOL])]).toEqual([[POOL], []]);
    pools.forgetPool(POOL);
    expect(pools.changed([POOL])).toEqual([POOL]);
  });

  it('is not news if the status has it already, but a change back is', async () => {
    const observed = observing();
    const { context, leases, clock, started } = observed;
    await started();
    context.pools.planned(planOf({ [POOL]: GROUP }));
    const serving = async (isServing: boolean) => {
      leases.put(lease({ [POOL]: { serving: isServing } }));
      await clock.advance(10);
    };
    await serving(true);
    context.pools.changed([POOL]);
    await serving(false);
    context.pools.ofPoolForStatus(viewOf(observed));
    expect(context.pools.changed([POOL])).toEqual([]);
    await serving(true);
    expect(context.pools.changed([POOL])).toEqual([POOL]);
  });

  it('shows a pod of an earlier version that is about to be removed, until the group serves the pool', async () => {
    const observed = observing();
    const { context, leases, putPool } = observed;
    await observed.started();
    context.pools.planned(planOf({ [POOL]: GROUP }));
    const isMigrated = (status: object, serving: boolean) => {
      putPool({ ...pool('pool-1', { network: 'default/net-pool-1' }), status });
      leases.put(lease({ [POOL]: { serving } }));
      return context.pools.ofPool(viewOf(observed)).isMigrated;
    };
    const status = { agentPodRef: { namespace: NAMESPACE, name: 'p' } };
    expect([isMigrated(status, true), isMigrated(status, false), isMigrated({}, true)]).toEqual([true, false, false]);
  });

  it('a paused pool names its pod of an earlier version until that pod is gone', async () => {
    const observed = observing();
    const { context, pods, putPool, started } = observed;
    const there = pool('pool-1', { network: 'default/net-pool-1' });
    putPool({
      ...there,
      spec: { ...(there.spec as object), paused: true },
      status: { agentPodRef: { namespace: NAMESPACE, name: 'p' } },
    });
    const pod = legacyPod('pool-1');
    pods.put(pod);
    await started();
    const isMigrated = () => context.pools.ofPool(viewOf(observed)).isMigrated;
    expect(isMigrated()).toBe(false);
    pods.remove(keyOf(pod));
    await observed.clock.advance(10);
    expect(isMigrated()).toBe(true);
  });

  it('a pool that is not served for another reason than that it is paused names its pod of an earlier version', async () => {
    const observed = observing();
    observed.putPool({
      ...pool('pool-1', { network: 'default/no-such-network' }),
      status: { agentPodRef: { namespace: NAMESPACE, name: 'p' } },
    });
    await observed.started();
    const { conditions, isMigrated } = observed.context.pools.ofPool(viewOf(observed));
    expect(conditions.map(({ reason }) => reason)).toContain('NetworkMissing');
    expect(isMigrated).toBe(false);
  });

  it('shows the group that serves the pool while it moves', async () => {
    const observed = observing();
    const { context, deployments, leases } = observed;
    deployments.put(deployment([POOL]));
    deployments.put(deployment([POOL], OTHER));
    leases.put(lease({ [POOL]: { serving: false } }));
    leases.put(lease({ [POOL]: SERVING }, { name: OTHER }));
    await observed.started();
    context.pools.planned(planOf({ [POOL]: GROUP }, { servedBy: new Map([[POOL, OTHER]]) }));
    expect(context.pools.ofPool(viewOf(observed))).toMatchObject({ deploymentRef: { name: OTHER }, servedBy: `${OTHER}-pod` });
  });

  it.each<[string, (observed: Observing) => void]>([
    [
      'a Deployment of another owner',
      ({ context }) => context.pools.noteConflict(GROUP, { reason: 'AgentDeploymentConflict', message: 'x' }),
    ],
    [
      'rights that could not be written',
      ({ context }) =>
        context.pools.noteRights(
          { kind: 'Role', metadata: { namespace: 'default', name: GROUP } },
          { reason: 'AgentRightsMissing', message: 'x' },
        ),
    ],
  ])('%s is its condition until it is gone', async (_, note) => {
    const observed = observing();
    const { context, deployments } = observed;
    await observed.started();
    context.pools.planned(planOf({ [POOL]: GROUP }));
    note(observed);
    const registered = () => context.pools.ofPool(viewOf(observed)).conditions.find(({ type }) => type === 'Registered');
    expect(registered()).toMatchObject({ status: 'False', message: 'x' });
    context.pools.planned(planOf({ [POOL]: GROUP }));
    expect(registered(), 'a plan alone does not end it').toMatchObject({ status: 'False', message: 'x' });
    context.pools.noteRights({ kind: 'Role', metadata: { namespace: 'default', name: GROUP } }, undefined);
    deployments.put(deployment([POOL]));
    context.pools.planned(planOf({ [POOL]: GROUP }));
    expect(registered()).toEqual({ type: 'Registered', status: 'True' });
  });
});

describe('problems of a group', () => {
  const right = (namespace: string) => ({ kind: 'Role', metadata: { namespace, name: GROUP } });
  const problem = { reason: 'AgentRightsMissing', message: 'x' } as const;

  it.each<[string, string, boolean]>([
    ['of the namespace of the pool', 'default', true],
    ['of the namespace of the agents', NAMESPACE, true],
    ['of another namespace, where other pools are', 'other', false],
  ])('a right %s that cannot be written is one of the pool until it is written', async (_, namespace, isOne) => {
    const observed = observing();
    const { pools } = observed.context;
    await observed.started();
    pools.planned(planOf({ [POOL]: GROUP }));
    const message = () => pools.ofPool(viewOf(observed)).conditions[0]?.message;
    pools.noteRights(right(namespace), problem);
    expect(message() === 'x').toBe(isOne);
    pools.noteRights(right(namespace), undefined);
    expect(message()).not.toBe('x');
  });

  it('do not include missing rights of a pool that the agents are configured with', async () => {
    const observed = observing();
    const { pools } = observed.context;
    observed.deployments.put(deployment([POOL]));
    await observed.started();
    pools.planned(planOf({ [POOL]: GROUP }));
    pools.noteRights(right('default'), problem);
    expect(pools.ofPool(viewOf(observed)).conditions[0]).toEqual({ type: 'Registered', status: 'True' });
  });

  it('leave a pool without a Deployment if the group has no room for it, unless another group serves it', async () => {
    const observed = observing();
    const { pools } = observed.context;
    observed.deployments.put(deployment([]));
    observed.deployments.put(deployment([POOL], OTHER));
    await observed.started();
    const leftOut = new Map([[POOL, { reason: 'AgentConfigTooLarge', message: 'y' } as const]]);
    pools.planned(planOf({ [POOL]: GROUP }, { leftOut }));
    expect(pools.ofPool(viewOf(observed)).deploymentRef).toBeNull();
    pools.planned(planOf({ [POOL]: GROUP }, { leftOut, servedBy: new Map([[POOL, OTHER]]) }));
    expect(pools.ofPool(viewOf(observed)).deploymentRef).toMatchObject({ name: OTHER });
  });

  it('do not remove the reference to agents in an unknown namespace, unless the pool is paused', async () => {
    const observed = observing();
    const { pools } = observed.context;
    await observed.started();
    const made = pool('pool-1', { network: 'default/net-pool-1' });
    observed.putPool({ ...made, status: { agentDeploymentRef: { namespace: 'elsewhere', name: 'd' } } });
    expect(pools.ofPool(viewOf(observed))).toMatchObject({ deploymentRef: undefined, servedBy: null });
    observed.putPool(pool('pool-1', { network: 'default/net-pool-1', paused: true }));
    expect(pools.ofPool(viewOf(observed))).toMatchObject({ deploymentRef: null, servedBy: null });
  });
});

describe('pools that a change affects', () => {
  it('are those in the object, those of its group in the plan, and those that the plan lets it serve', async () => {
    const observed = observing(['pool-1', 'pool-2', 'pool-3']);
    const { pools } = observed.context;
    await observed.started();
    pools.planned(planOf({ [POOL]: GROUP, 'default/pool-2': OTHER }, { servedBy: new Map([[POOL, OTHER]]) }));
    expect([...pools.concernedBy({ group: GROUP, pools: new Set(['default/x']) })]).toEqual(['default/x', POOL]);
    expect([...pools.concernedBy({ group: OTHER, pools: new Set() })]).toEqual([POOL, 'default/pool-2']);
    pools.planned(planOf({ 'default/pool-2': OTHER }));
    expect([...pools.concernedBy({ group: GROUP, pools: new Set() })]).toEqual([]);
    expect([...pools.concernedBy({ group: OTHER, pools: new Set() })]).toEqual(['default/pool-2']);
  });
});

describe('a leader that lags', () => {
  const version = (resourceVersion: string): KubernetesObject => {
    const made = pool('pool-1', { network: 'default/net-pool-1' });
    return { ...made, metadata: { ...made.metadata, resourceVersion } };
  };

  it.each<[string, (observed: Observing) => void, string | undefined]>([
    ['lags also when the pool changes again meanwhile', () => undefined, 'Lagging'],
    ['has ten seconds more for a pool that was made again', ({ context }) => context.pools.forgetPool(POOL), undefined],
  ])('%s', async (_, meanwhile, expected) => {
    const observed = observing();
    const { context, deployments, leases, clock, putPool } = observed;
    const change = (resourceVersion: string) => {
      putPool(version(resourceVersion));
      context.pools.notePool(viewOf(observed));
    };
    const renewed = () => leases.put(lease({ [POOL]: { serving: true, version: '5' } }, { renewTime: `t${clock.nowMs()}` }));
    deployments.put(deployment([POOL]));
    renewed();
    await observed.started();
    context.pools.planned(planOf({ [POOL]: GROUP }));
    change('6');
    for (let second = 0; second < 10; second++) {
      await clock.advance(1_000);
      renewed();
      if (second === 5) {
        meanwhile(observed);
        change('7');
      }
    }
    expect(context.pools.ofPool(viewOf(observed)).conditions.find(({ type }) => type === 'AgentReady')?.reason).toBe(expected);
  });

  it('has a condition ten seconds after the pool changed, until it reports the new version', async () => {
    const observed = observing();
    const { context, deployments, leases, clock, putPool } = observed;
    const reason = () => context.pools.ofPool(viewOf(observed)).conditions.find(({ type }) => type === 'AgentReady')?.reason;
    const renew = (reported: string) =>
      leases.put(lease({ [POOL]: { serving: true, version: reported } }, { renewTime: `t${clock.nowMs()}` }));
    putPool(version('5'));
    deployments.put(deployment([POOL]));
    renew('5');
    await observed.started();
    context.pools.planned(planOf({ [POOL]: GROUP }));
    putPool(version('6'));
    context.pools.notePool(viewOf(observed));
    for (let second = 0; second < 9; second++) {
      await clock.advance(1_000);
      renew('5');
    }
    expect(reason()).toBeUndefined();
    await clock.advance(1_000);
    renew('5');
    expect(reason()).toBe('Lagging');
    renew('6');
    expect(reason()).toBeUndefined();
    // A version that was written by ourselves counts from the next plan on.
    putPool(version('7'));
    context.pools.planned(planOf({ [POOL]: GROUP }));
    await clock.advance(2_000);
    renew('6');
    await clock.advance(2_000);
    renew('6');
    await clock.advance(2_000);
    renew('6');
    await clock.advance(2_000);
    renew('6');
    await clock.advance(2_000);
    renew('6');
    expect(reason()).toBe('Lagging');
  });
});
