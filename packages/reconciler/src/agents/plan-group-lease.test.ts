import { AGENT_LOG_ANNOTATION, RENEW_PERIOD_ANNOTATION } from '@vmdhcp/ippool-api';
import { describe, expect, it } from 'vitest';
import type { AgentsSettings } from './agents-plan.js';
import { activePool, type ClusterState, contextOf, deployment, type GroupState, SERVING } from './group-fixtures.js';
import { readGroupLease } from './group-lease.js';
import { planLeaseSettings, planSuspension, poolsToSuspend } from './plan-group-lease.js';
import { UNIFIED_GROUP } from './topology.js';

const A = 'default/a';
const B = 'default/b';

interface Case {
  /** Pools that the group should serve, and other pools that it is configured with. */
  readonly own?: readonly string[];
  readonly leaving?: readonly string[];
  readonly ready?: readonly string[];
  /** Groups with pods that are being deleted. */
  readonly ending?: readonly string[];
  readonly groups: Readonly<Record<string, GroupState>>;
  readonly groupOf: Readonly<Record<string, string>>;
  readonly settings?: Partial<AgentsSettings>;
}

function suspendedFor(
  name: string,
  { own = [], leaving = [], ready = [], ending = [], groups, groupOf, settings }: Case,
): string[] {
  const groupsWithEndingPods = new Set(ending);
  const context = {
    ...contextOf({ groups, groupsWithEndingPods }, groupOf, settings),
    isReadyToServe: (key: string) => ready.includes(key),
  };
  const [owned, others] = [own, leaving].map((keys) => keys.map((key) => activePool(key)));
  return [...poolsToSuspend(name, { own: owned ?? [], pools: [...(others ?? []), ...(owned ?? [])] }, context)].toSorted();
}

describe('pools that are suspended for a group', () => {
  it('its own pools, while a former group may serve them', () => {
    const groups = { old: { configured: [A], lease: { report: { [A]: SERVING } } }, new: { configured: [A, B] } };
    expect(suspendedFor('new', { own: [A, B], groups, groupOf: { [A]: 'new', [B]: 'new' } })).toEqual([A]);
  });

  it('pools that it must release, once their own group is ready', () => {
    const groups = { old: { configured: [A, B], lease: {} }, new: {} };
    const state = { own: [B], leaving: [A], groups, groupOf: { [A]: 'new', [B]: 'old' } };
    expect(suspendedFor('old', { ...state, ready: [] })).toEqual([]);
    expect(suspendedFor('old', { ...state, ready: [A] })).toEqual([A]);
    expect(suspendedFor('old', { ...state, ready: [A, B] }), 'never its own for that').toEqual([A]);
  });

  it('pools that the next template does not name, because pods of this one may become leader', () => {
    const groups = { old: { configured: [A, B] } };
    expect(suspendedFor('old', { own: [B], groups, groupOf: { [B]: 'old' } })).toEqual([A]);
  });

  it.each<readonly [string, GroupState, Readonly<Record<string, string>>, readonly string[]]>([
    ['stays, while another group is to serve it', {}, { [A]: 'new' }, [A]],
    ['stays, while the Deployment is being rolled out', { deployment: deployment('old', { isRolledOut: false }) }, {}, [A]],
    ['ends when no group serves the pool and the pods are of the newest template', {}, {}, []],
    ['ends when it is its own', {}, { [A]: 'old' }, []],
  ])('a suspension %s', (_, state, groupOf, expected) => {
    const groups = { old: { ...state, lease: { suspended: [A] } } };
    const own = groupOf[A] === 'old' ? [A] : [];
    expect(suspendedFor('old', { own, groups, groupOf })).toEqual(expected);
  });

  it('a suspension stays while a pod is being deleted, which may have an earlier template and become leader', () => {
    const groups = { old: { lease: { suspended: [A] } } };
    expect(suspendedFor('old', { groups, groupOf: {}, ending: ['old'] })).toEqual([A]);
    expect(suspendedFor('old', { groups, groupOf: {}, ending: ['other'] })).toEqual([]);
  });

  it('a suspension stays for a pool that the template still names', () => {
    const groups = { old: { configured: [A, B], lease: { suspended: [A] } } };
    expect(suspendedFor('old', { own: [B], leaving: [A], groups, groupOf: { [B]: 'old' } })).toEqual([A]);
  });

  it('without a Deployment: those that the last leader knew, and other groups are to serve', () => {
    const report = { [A]: SERVING, [B]: SERVING, 'default/gone': SERVING };
    const state: GroupState = { deployment: 'none', lease: { report, leader: '' } };
    const groupOf = { [A]: 'new', [B]: 'old' };
    expect(suspendedFor('old', { own: [B], groups: { old: state }, groupOf })).toEqual([A]);
    expect(suspendedFor('old', { own: [B], groups: { old: { lease: { report } } }, groupOf })).toEqual([]);
  });

  it('after its Lease was deleted: all pools of other groups, except those that only it can serve', () => {
    const groups: Case['groups'] = { old: { configured: [A], lease: 'none' }, new: { deployment: 'none', lease: 'none' } };
    const groupOf = { [A]: 'new', [B]: 'other', 'default/c': 'old' };
    const state = { own: ['default/c'], leaving: [A], groups, groupOf };
    expect(suspendedFor('old', { ...state, settings: { groupRights: true } })).toEqual([B]);
    expect(suspendedFor('old', state)).toEqual([]);
  });
});

describe('planSuspension', () => {
  const planned = (name: string, suspended: readonly string[], state: ClusterState, settings: Partial<AgentsSettings> = {}) =>
    planSuspension(name, new Set(suspended), contextOf(state, { [A]: 'own' }, settings));

  it('writes the differences, sorted', () => {
    const groups = { own: { lease: { suspended: [A] } } };
    expect(planned('own', [B, A], { groups })).toMatchObject([{ kind: 'suspend', group: 'own', poolKeys: [A, B] }]);
    expect(planned('own', [B], { groups })).toMatchObject([{ kind: 'suspend', poolKeys: [B] }]);
    expect(planned('own', [], { groups })).toMatchObject([{ kind: 'suspend', poolKeys: [] }]);
    expect(planned('own', [A], { groups })).toEqual([]);
  });

  it.each<readonly [string, string, readonly string[], GroupState, boolean, boolean]>([
    ['a pool has to be suspended', 'own', [A], { lease: 'none' }, false, true],
    ['it was deleted', 'own', [], { lease: 'none' }, true, true],
    ['its agents may not create it', 'own', [], { lease: 'none', deployment: 'none' }, true, true],
    ['never for an unwanted group', 'old', [], { lease: 'none', deployment: 'none' }, true, false],
    ['never if its agents create it', 'own', [], { lease: 'none' }, false, false],
  ])('creates a Lease if %s', (_, name, suspended, state, groupRights, isCreated) => {
    const actions = planned(name, suspended, { groups: { [name]: state } }, { groupRights });
    expect(actions.map(({ kind }) => kind)).toEqual(isCreated ? ['create-lease'] : []);
  });

  it.each<readonly [string, string, ClusterState, boolean]>([
    ['that has a Deployment', 'own', { groups: { own: { lease: 'none' } } }, true],
    ['that has pods', 'own', { groupsWithPods: ['own'] }, true],
    ['of a chart', UNIFIED_GROUP, {}, true],
    ['that is new', 'own', {}, false],
  ])('the new Lease of a group %s: guarded %s', (_, name, state, isGuarded) => {
    expect(planned(name, [A], state)).toEqual([{ kind: 'create-lease', group: name, poolKeys: [A], isGuarded }]);
  });
});

describe('planLeaseSettings', () => {
  const planned = (annotations: Readonly<Record<string, string>> | undefined, log?: AgentsSettings['log']) => {
    const groups: Case['groups'] = { own: { lease: annotations === undefined ? 'none' : { annotations } } };
    return planLeaseSettings('own', contextOf({ groups }, { [A]: 'own' }, log === undefined ? {} : { log }));
  };

  it('writes the differences, and removes old settings', () => {
    const text = '{"level":"debug"}';
    const written = { [AGENT_LOG_ANNOTATION]: text };
    expect(planned({}, { level: 'debug' })).toMatchObject([{ kind: 'set-lease-settings', group: 'own', annotations: written }]);
    expect(planned({ [AGENT_LOG_ANNOTATION]: text }, { level: 'debug' })).toEqual([]);
    expect(planned({ [AGENT_LOG_ANNOTATION]: text })).toMatchObject([{ annotations: { [AGENT_LOG_ANNOTATION]: null } }]);
    expect(planned({})).toEqual([]);
    expect(planned(undefined, { level: 'debug' }), 'without a Lease').toEqual([]);
  });

  it('writes the settings to a Lease without annotations, which agents created', () => {
    const context = contextOf({ groups: { own: {} } }, { [A]: 'own' }, { log: { level: 'debug' } });
    const bare = readGroupLease({ metadata: { namespace: 'agents', name: 'own' } }, true);
    const groups = new Map([['own', { deployment: undefined, configured: new Map(), lease: bare }]]);
    const observed = { ...context.observed, groups };
    expect(planLeaseSettings('own', { ...context, observed })).toMatchObject([
      { annotations: { [AGENT_LOG_ANNOTATION]: '{"level":"debug"}' } },
    ]);
  });

  const paced = (neededMs: number, annotations: Readonly<Record<string, string>>, log?: AgentsSettings['log']) => {
    const groups: Case['groups'] = { own: { lease: { annotations } } };
    const [action] = planLeaseSettings(
      'own',
      contextOf({ groups, neededRenewPeriodMs: neededMs }, { [A]: 'own' }, log && { log }),
    );
    return action?.kind === 'set-lease-settings' ? action.annotations : action;
  };

  it('writes how often the Lease should be renewed, or nothing if leaders do not renew too often by themselves', () => {
    expect(paced(480, {})).toBeUndefined();
    expect(paced(8_000, {})).toEqual({ [RENEW_PERIOD_ANNOTATION]: '8000' });
    expect(paced(8_000, { [RENEW_PERIOD_ANNOTATION]: '8000' })).toBeUndefined();
    expect(paced(8_000, { [RENEW_PERIOD_ANNOTATION]: 'often' }), 'cannot be read').toEqual({ [RENEW_PERIOD_ANNOTATION]: '8000' });
    expect(paced(40, { [RENEW_PERIOD_ANNOTATION]: '8000' })).toEqual({ [RENEW_PERIOD_ANNOTATION]: null });
  });

  it('writes both in one patch', () => {
    const annotations = { [AGENT_LOG_ANNOTATION]: '{"level":"debug"}', [RENEW_PERIOD_ANNOTATION]: '8000' };
    expect(paced(8_000, {}, { level: 'debug' })).toEqual(annotations);
  });
});

describe('a Lease that is created while there are many groups', () => {
  it('is renewed rarely from the start, and guards as long as the former one may have lasted', () => {
    const context = contextOf({ groups: { own: { lease: 'none' } }, neededRenewPeriodMs: 8_000 }, { [A]: 'own' });
    const action = { kind: 'create-lease', group: 'own', poolKeys: [A], isGuarded: true };
    expect(planSuspension('own', new Set([A]), context)).toEqual([{ ...action, renewPeriodMs: 8_000, guardPeriodMs: 16_000 }]);
  });

  it('guards equally long if the groups no longer need a period, because the former Lease may have kept one', () => {
    const context = contextOf({ groups: { own: { lease: 'none' } }, neededRenewPeriodMs: 400 }, { [A]: 'own' });
    const action = { kind: 'create-lease', group: 'own', poolKeys: [A], isGuarded: true };
    expect(planSuspension('own', new Set([A]), context)).toEqual([{ ...action, guardPeriodMs: 1_000 }]);
  });
});
