import { describe, expect, it } from 'vitest';
import { type ClusterState, contextOf, DRAINS, type GroupState, READY, SERVING } from './group-fixtures.js';
import { UNIFIED_GROUP } from './topology.js';

const POOL = 'default/a';
const OWN = { [POOL]: 'new' };
const handover = (state: ClusterState, groupRights = false) => contextOf(state, OWN, { groupRights }).handover;
const live = (text: Exclude<GroupState['lease'], 'none'>): GroupState => ({ configured: [POOL], lease: text ?? {} });

describe('a former group may serve a pool', () => {
  it.each<readonly [string, GroupState, boolean]>([
    ['that it is configured with, and its leader serves', live({ report: { [POOL]: SERVING } }), true],
    [
      'even if its Lease suspends it, until the leader has read that',
      live({ suspended: [POOL], seen: [], report: { [POOL]: READY } }),
      true,
    ],
    ['while the leader removes the server address', live({ suspended: [POOL], report: { [POOL]: DRAINS } }), true],
    ['while the leader still serves', live({ suspended: [POOL], report: { [POOL]: SERVING } }), true],
    [
      'that its leader knows, even if the template no longer names it',
      { configured: [], lease: { report: { [POOL]: SERVING } } },
      true,
    ],
    ['whose leader is gone, while the Lease does not suspend it', live({ leader: '' }), true],
    [
      'never after its leader has read that it is suspended, and serves it no more',
      live({ suspended: [POOL], report: { [POOL]: READY } }),
      false,
    ],
    ['never after its leader has read that it is suspended, and does not know it', live({ suspended: [POOL] }), false],
    ['never without a leader, once its Lease suspends it', live({ suspended: [POOL], leader: '' }), false],
    ['never if it has nothing to do with it', { configured: ['default/other'] }, false],
  ])('%s', (_, old, mayServe) => {
    const found = handover({ groups: { old, new: {} } });
    expect(found.formerGroupsOf(POOL)).toEqual(mayServe ? ['old'] : []);
    expect(found.isBlocked(POOL)).toBe(mayServe);
    expect([...found.servedBy()]).toEqual(mayServe ? [[POOL, 'old']] : []);
  });

  it('its own group is not a former group, nor is any for a pool that no group should serve', () => {
    const groups = { new: live({ report: { [POOL]: SERVING } }), old: { configured: ['default/gone'] } };
    const found = handover({ groups });
    expect([found.formerGroupsOf(POOL), found.formerGroupsOf('default/gone')]).toEqual([[], []]);
  });

  it('there may be several, and the first one is named', () => {
    const groups = { first: live({ report: { [POOL]: SERVING } }), second: live({ leader: '' }) };
    const found = handover({ groups });
    expect(found.formerGroupsOf(POOL)).toEqual(['first', 'second']);
    expect(found.servedBy().get(POOL)).toBe('first');
    expect(found.isOnlyServer('first', POOL)).toBe(false);
  });
});

describe('a group is gone', () => {
  it.each<readonly [string, GroupState, readonly string[], boolean]>([
    ['without Deployment, Lease and pods', { deployment: 'none', lease: 'none' }, [], true],
    ['without Deployment and pods: no pod can take the Lease', { deployment: 'none', lease: { leader: '' } }, [], true],
    ['not while it has pods and a Lease', { deployment: 'none', lease: { leader: '' } }, ['old'], false],
    ['with pods that have no Lease', { deployment: 'none', lease: 'none' }, ['old'], true],
    ['not while it has a Deployment', { lease: 'none' }, [], false],
  ])('%s', (_, old, groupsWithPods, isGone) => {
    expect(handover({ groups: { old }, groupsWithPods }).isGone('old')).toBe(isGone);
  });

  it('never the group of a chart while its Lease exists, in whatever namespace, because its pods are not known', () => {
    const groups = { [UNIFIED_GROUP]: { deployment: 'none', lease: { leader: '' } } } as const;
    expect(handover({ groups }).isGone(UNIFIED_GROUP)).toBe(false);
    expect(handover({ groups: { [`before/${UNIFIED_GROUP}`]: groups[UNIFIED_GROUP] } }).isGone(`before/${UNIFIED_GROUP}`)).toBe(
      false,
    );
  });

  it('a group that has never been observed is gone', () => {
    expect(handover({}).isGone('other')).toBe(true);
  });
});

describe('a pool is ready in its own group', () => {
  it.each<readonly [string, GroupState, boolean]>([
    ['if its leader reports that it could serve it', live({ report: { [POOL]: READY } }), true],
    // The leader is alive, and has no interface for the pool: suspending the former group now would stop the service.
    [
      'not if its leader is alive and has no interface for it',
      live({ report: { [POOL]: { serving: false, reason: 'InterfaceMissing' } } }),
      false,
    ],
    ['not if its leader does not know it', live({}), false],
    ['not if it serves it already', live({ report: { [POOL]: SERVING } }), false],
    ['not by the report of a leader that is gone', live({ report: { [POOL]: READY }, leader: '' }), false],
  ])('%s', (_, own, isReady) => {
    expect(handover({ groups: { new: own } }).isReadyToServe(POOL)).toBe(isReady);
  });

  it('not without a group of its own', () => {
    expect(handover({ groups: { old: live({ report: { 'default/x': READY } }) } }).isReadyToServe('default/x')).toBe(false);
  });
});

describe('a bare pod of upstream', () => {
  const pod = (phase: string) => ({ metadata: { name: 'pod' }, status: { phase } });

  it('blocks its pool until it is gone', () => {
    expect(handover({ legacyPods: { [POOL]: [pod('Running')] } }).isBlocked(POOL)).toBe(true);
    expect(handover({ legacyPods: { [POOL]: [pod('Failed')] } }).isBlocked(POOL)).toBe(false);
    expect(handover({ legacyPods: { [POOL]: [pod('Failed'), pod('Running')] } }).isBlocked(POOL)).toBe(true);
    expect(handover({ legacyPods: { 'default/other': [pod('Running')] } }).isBlocked(POOL)).toBe(false);
  });

  it('is another server beside the former group', () => {
    const state: ClusterState = {
      groups: { old: live({ report: { [POOL]: SERVING } }), new: { deployment: 'none', lease: 'none' } },
    };
    expect(handover(state).isOnlyServer('old', POOL)).toBe(true);
    expect(handover({ ...state, legacyPods: { [POOL]: [pod('Running')] } }).isOnlyServer('old', POOL)).toBe(false);
  });
});

describe('the only group that may serve a pool', () => {
  const old = live({ report: { [POOL]: SERVING } });

  it.each<readonly [string, GroupState, boolean]>([
    ['if its own group is gone', { deployment: 'none', lease: 'none' }, true],
    ['if its own group has read that it is suspended', live({ suspended: [POOL], report: { [POOL]: READY } }), true],
    ['not if its own group may serve it', live({ report: { [POOL]: SERVING } }), false],
    ['not if its own group has no leader, and its Lease does not suspend it', live({ leader: '' }), false],
  ])('%s', (_, own, isOnly) => {
    expect(handover({ groups: { old, new: own } }).isOnlyServer('old', POOL)).toBe(isOnly);
  });

  it('is another one', () => {
    expect(handover({ groups: { old, new: { deployment: 'none', lease: 'none' } } }).isOnlyServer('third', POOL)).toBe(false);
  });
});

describe('a group whose Lease was deleted', () => {
  it.each<readonly [string, GroupState, boolean, boolean]>([
    ['is known by its Deployment, where the controller creates the Leases', { lease: 'none' }, true, true],
    ['is not known where agents create their Leases', { lease: 'none' }, false, false],
    ['has a Deployment', { lease: 'none', deployment: 'none' }, true, false],
    ['has no Lease', {}, true, false],
  ])('%s', (_, old, groupRights, hasLost) => {
    expect(handover({ groups: { old } }, groupRights).hasLostItsLease('old')).toBe(hasLost);
  });

  it.each<readonly [string, GroupState, boolean]>([
    ['has released a pool that its own group serves now', live({ report: { [POOL]: SERVING } }), true],
    ['may serve a pool that its own group does not serve', live({ report: { [POOL]: READY } }), false],
    ['may serve a pool that is suspended for its own group', live({ suspended: [POOL], report: { [POOL]: SERVING } }), false],
  ])('%s', (_, own, isReleased) => {
    const found = handover({ groups: { old: { configured: [POOL], lease: 'none' }, new: own } }, true);
    expect(found.formerGroupsOf(POOL)).toEqual(isReleased ? [] : ['old']);
  });

  it('a Lease that exists is believed, whatever the own group serves', () => {
    const found = handover({ groups: { old: live({ leader: '' }), new: live({ report: { [POOL]: SERVING } }) } }, true);
    expect(found.formerGroupsOf(POOL)).toEqual(['old']);
  });
});
