/** The group of each pool, and the end of groups without pools. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import type { AgentsSettings } from './agents-plan.js';
import {
  activePool,
  type ClusterState,
  deployment,
  type GroupState,
  observation,
  READY,
  SERVING,
  SETTINGS,
} from './group-fixtures.js';
import { planAgents } from './plan-agents.js';
import { UNIFIED_GROUP } from './topology.js';

const A = 'default/a';
const GONE = 'default/gone';
const OWN = 'vm-dhcp-agent-vlan-1';
const OLD = 'vm-dhcp-agent-vlan-2';

function plan(state: ClusterState, settings: Partial<AgentsSettings> = {}) {
  return planAgents(observation(state), { ...SETTINGS, ...settings });
}

describe('the group of a pool', () => {
  const recorded = (group: string) => activePool(A, { recorded: { group, image: undefined } });
  const groupOf = (state: ClusterState) => plan(state).groupOf.get(A);

  it('is the one in its status, if no Deployment is configured with it', () => {
    expect(groupOf({ pools: [activePool(A)] })).toBe(OWN);
    expect(groupOf({ pools: [recorded(OLD)] })).toBe(OLD);
  });

  it('is the one that is configured with it, whatever its status names', () => {
    expect(groupOf({ pools: [recorded(OWN)], groups: { [OLD]: { configured: [A] } } })).toBe(OLD);
  });

  it('is the first one by name of several that are configured with it, in whatever order they are observed', () => {
    const configured = { configured: [A] };
    expect(groupOf({ pools: [activePool(A)], groups: { [OLD]: configured, [OWN]: configured } })).toBe(OWN);
    expect(groupOf({ pools: [activePool(A)], groups: { [OWN]: configured, [OLD]: configured } })).toBe(OWN);
  });
});

describe('a group that cannot be deployed', () => {
  it('is a problem, and nothing is done', () => {
    const { actions, problems } = plan({ pools: [activePool(A)] }, { topology: 'unified' });
    expect(actions).toEqual([]);
    expect([...problems]).toMatchObject([[UNIFIED_GROUP, { reason: 'AgentDeploymentMissing' }]]);
  });
});

describe('a group without pools', () => {
  const beingDeleted = (object: KubernetesObject): KubernetesObject => ({
    ...object,
    metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  });
  /** The kinds of actions, with the suspended pools. */
  const done = (name: string, state: GroupState, more: ClusterState = {}) =>
    plan({ ...more, groups: { ...more.groups, [name]: state } }).actions.map((action) =>
      action.kind === 'suspend' ? `suspend ${action.poolKeys.join(' ')}`.trim() : action.kind,
    );

  it.each<readonly [string, GroupState, readonly string[]]>([
    [
      'its Lease suspends the pools that its pods may know, and its Deployment is deleted',
      { configured: [GONE] },
      [`suspend ${GONE}`, 'delete-deployment'],
    ],
    ['its Lease is written once', { configured: [GONE], lease: { suspended: [GONE] } }, ['delete-deployment']],
    ['no Lease is created for it', { configured: [GONE], lease: 'none' }, ['delete-deployment']],
    ['unnecessary suspensions stay until the Lease is deleted', { lease: { suspended: [GONE] } }, ['delete-deployment']],
    [
      'a Deployment that is being deleted is not deleted again',
      { configured: [GONE], deployment: beingDeleted(deployment(OLD)) },
      [`suspend ${GONE}`],
    ],
    ['a Lease that has a leader is left alone', { deployment: 'none' }, []],
    ['a Lease without a leader is deleted', { deployment: 'none', lease: { leader: '' } }, ['delete-lease']],
    ['there is nothing to do without a Lease', { deployment: 'none', lease: 'none' }, []],
  ])('%s', (_, state, expected) => {
    expect(done(OLD, state)).toEqual(expected);
  });

  it('its Lease suspends the pools of others as long as it has pods, and is deleted after them', () => {
    const pool = activePool(A, { recorded: { group: OWN, image: undefined } });
    const state: GroupState = { deployment: 'none', lease: { leader: '', report: { [A]: SERVING } } };
    const own: ClusterState = { pools: [pool], groups: { [OWN]: { deployment: 'none', lease: { report: { [A]: READY } } } } };
    expect(done(OLD, state, { ...own, groupsWithPods: [OLD] })).toContain(`suspend ${A}`);
    const after = done(OLD, state, own);
    expect(after).toContain('delete-lease');
    expect(after.filter((kind) => kind.startsWith('suspend'))).toEqual([]);
  });

  it('the Deployment of a chart is left to the chart, in whatever namespace', () => {
    expect(done(`before/${UNIFIED_GROUP}`, { configured: [GONE], lease: { suspended: [GONE] } })).toEqual([]);
  });
});

describe('bare pods of upstream', () => {
  const pod = (name: string, more: object = {}): KubernetesObject => ({ metadata: { namespace: 'agents', name, ...more } });
  const serving = [pod('one'), pod('two', { deletionTimestamp: '2026-01-01T00:00:00Z' })];
  const deleted = (state: ClusterState) =>
    plan(state).actions.flatMap((action) => (action.kind === 'delete-pod' ? [action.pod.metadata.name] : []));

  it.each<readonly [string, ClusterState, readonly string[]]>([
    ['are left alone until the agents of the pool’s group could serve it', { pools: [activePool(A)] }, []],
    [
      'are deleted once they could, except those that are being deleted',
      { pools: [activePool(A)], groups: { [OWN]: { configured: [A], lease: { suspended: [A], report: { [A]: READY } } } } },
      ['one'],
    ],
    ['are deleted if no group is to serve the pool', {}, ['one']],
  ])('%s', (_, state, expected) => {
    expect(deleted({ ...state, legacyPods: { [A]: serving } })).toEqual(expected);
  });
});
