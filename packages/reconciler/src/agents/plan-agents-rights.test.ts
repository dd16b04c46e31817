/** The order in which a group gets its rights, its Lease and its Deployment. */

import { formatSuspendedPools } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readText } from '@vmdhcp/kube-runtime';
import { applyMergePatch } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { onClusterNetwork } from '../network/placement-fixtures.js';
import type { ActivePool, ObservedGroup } from './agents-observation.js';
import type { AgentAction, AgentsSettings } from './agents-plan.js';
import { configuredPools } from './configured-pools.js';
import { readGroupLease } from './group-lease.js';
import { accountNamespacesOf, toGroupRights } from './group-rights.js';
import { planAgents } from './plan-agents.js';

const GROUP = 'vm-dhcp-agent-vlan-1';
const NAMESPACE = 'vm-dhcp-agents';
const SETTINGS: AgentsSettings = {
  namespace: NAMESPACE,
  topology: 'per-network',
  maxPoolsPerAgent: 24,
  maxGroupsUpgrading: 4,
  groupRights: true,
  pods: {
    namespace: NAMESPACE,
    image: 'agent:v1',
    imagePullPolicy: 'IfNotPresent',
    imagePullSecrets: [],
    priorityClassName: undefined,
    replicas: 2,
    resources: { cpu: '10m', memory: '96Mi', memoryLimit: '256Mi' },
    leaseSeconds: 2.75,
    dryRun: false,
  },
  unified: { deploymentName: 'chart', containerName: 'agent' },
};

const pool = (key: string): ActivePool => ({
  key,
  network: key,
  serverIP: '10.0.0.2',
  cidr: '10.0.0.0/24',
  placement: onClusterNetwork('vlan'),
  holdsImage: false,
  recorded: { group: undefined, image: undefined },
});

interface Observed {
  readonly pools?: readonly string[];
  readonly group?: ObservedGroup;
  readonly rights?: readonly KubernetesObject[];
  readonly groupsWithPods?: readonly string[];
  readonly groupsWithEndingPods?: readonly string[];
}

function plan(observed: Observed, settings = SETTINGS) {
  const { pools = ['red/a', 'blue/b'], group, rights = [], groupsWithPods = [], groupsWithEndingPods = [] } = observed;
  return planAgents(
    {
      pools: pools.map(pool),
      groups: new Map(group === undefined ? [] : [[GROUP, group]]),
      groupsWithPods: new Set(groupsWithPods),
      groupsWithEndingPods: new Set(groupsWithEndingPods),
      legacyPods: new Map(),
      rights: new Map([[GROUP, rights]]),
      nowMs: 0,
    },
    settings,
  ).actions;
}

const kinds = (actions: readonly AgentAction[]) => [...new Set(actions.map(({ kind }) => kind))];
const rightsTo = (names: Readonly<Record<string, readonly string[]>>) =>
  toGroupRights({ group: GROUP, namespace: NAMESPACE }, new Map(Object.entries(names)));
const ALL = rightsTo({ red: ['a'], blue: ['b'] });

const annotations = { 'network.harvesterhci.io/suspended-pools': formatSuspendedPools([]) };
const metadata = { namespace: NAMESPACE, name: GROUP, uid: 'l', annotations };
const LEASE = readGroupLease({ metadata, spec: { holderIdentity: '' } }, true);
const NO_LEASE = readGroupLease(undefined, true);
const LEASE_ONLY: ObservedGroup = { deployment: undefined, configured: new Map(), lease: LEASE };

function deployed(actions: readonly AgentAction[], lease = LEASE): ObservedGroup {
  const created = actions.find((action) => action.kind === 'create-deployment');
  if (created?.kind !== 'create-deployment') throw new Error('no Deployment was planned');
  const { deployment } = created;
  return {
    deployment: { ...deployment, metadata: { ...deployment.metadata, uid: 'd' } },
    configured: configuredPools(deployment, 'agent'),
    lease,
  };
}

describe('a group of agents that are given their rights', () => {
  it('has its rights and its Lease before its Deployment', () => {
    expect(kinds(plan({}))).toEqual(['create-lease', 'create-right']);
    expect(kinds(plan({ group: LEASE_ONLY }))).toEqual(['create-right']);
    expect(kinds(plan({ rights: ALL }))).toEqual(['create-lease']);
    const [created, ...others] = plan({ group: LEASE_ONLY, rights: ALL });
    expect(others).toEqual([]);
    expect(created).toMatchObject({
      kind: 'create-deployment',
      deployment: { spec: { template: { spec: { serviceAccountName: GROUP } } } },
    });
  });

  it('is configured with a pool once it may read it, and with the others meanwhile', () => {
    const some = plan({ group: LEASE_ONLY, rights: rightsTo({ red: ['a'] }) });
    expect(kinds(some)).toEqual(['create-right', 'create-deployment']);
    const group = deployed(some);
    expect([...group.configured.keys()]).toEqual(['red/a']);
    expect(kinds(plan({ group, rights: rightsTo({ red: ['a'] }) }))).toEqual(['create-right']);
    const [change] = plan({ group, rights: ALL });
    expect(change?.kind === 'patch-deployment' && JSON.stringify(change.patch)).toContain('blue/b');
  });

  it('keeps its configured pools when a right is removed by hand', () => {
    const group = deployed(plan({ group: LEASE_ONLY, rights: ALL }));
    expect(kinds(plan({ group, rights: rightsTo({ red: ['a'] }) }))).toEqual(['create-right']);
    expect(kinds(plan({ group, rights: [] }))).toEqual(['create-right']);
  });

  it('loses the right to a pool when its pods have a template without it', () => {
    const before = deployed(plan({ group: LEASE_ONLY, rights: ALL }));
    const isRight = ({ kind }: AgentAction) => kind.endsWith('-right');
    expect(plan({ pools: ['red/a'], group: before, rights: ALL }).filter(isRight), 'still configured').toEqual([]);
    const rolling = { ...before, configured: new Map([...before.configured].filter(([key]) => key === 'red/a')) };
    expect(plan({ pools: ['red/a'], group: rolling, rights: ALL }).filter(isRight), 'older pods may follow it').toEqual([]);
    const status = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2 };
    const done = { ...rolling, deployment: { ...(rolling.deployment as KubernetesObject), status } };
    expect(
      plan({ pools: ['red/a'], group: done, rights: ALL })
        .filter(isRight)
        .map(({ kind }) => kind),
    ).toEqual(['delete-right', 'delete-right']);
  });

  it('that runs under another ServiceAccount keeps it until its own has all rights', () => {
    const shared = { ...SETTINGS, groupRights: false, pods: { ...(SETTINGS.pods as object), serviceAccountName: 'shared' } };
    const group = deployed(plan({}, shared as AgentsSettings));
    const accountAfter = (rights: readonly KubernetesObject[]) => {
      const patch = plan({ group, rights }).find(({ kind }) => kind === 'patch-deployment');
      const after =
        patch?.kind === 'patch-deployment'
          ? applyMergePatch(group.deployment as KubernetesObject, patch.patch)
          : group.deployment;
      return readText((after as KubernetesObject).spec, 'template', 'spec', 'serviceAccountName');
    };
    expect(accountAfter([])).toBe('shared');
    expect(accountAfter(rightsTo({ red: ['a'] }))).toBe('shared');
    expect(accountAfter(ALL)).toBe(GROUP);
  });

  it('has its rights for as long as it has pods', () => {
    const gone = { pools: [], rights: ALL, group: { ...LEASE_ONLY, lease: NO_LEASE } };
    expect(plan({ ...gone, groupsWithPods: [GROUP] })).toEqual([]);
    expect(kinds(plan(gone))).toEqual(['delete-right']);
    expect(plan(gone)).toHaveLength(ALL.length);
  });

  it.each([
    ['a Deployment that is being rolled out', (group: ObservedGroup) => group, [], true],
    ['pods without a Deployment', () => LEASE_ONLY, [GROUP], true],
    ['neither a Deployment nor pods', () => LEASE_ONLY, [], false],
  ])('with %s: the right to a pool that it has no more stays %s', (_, change, groupsWithPods, stays) => {
    const { deployment, lease } = deployed(plan({ group: LEASE_ONLY, rights: ALL }));
    const group = change({ deployment, configured: new Map(), lease });
    const deleted = plan({ pools: ['red/a'], group, rights: ALL, groupsWithPods }).filter(({ kind }) => kind === 'delete-right');
    expect(deleted).toHaveLength(stays ? 0 : 2);
  });

  it('with a Deployment that is rolled out: the right to a pool that it has no more stays as long as a pod of an earlier template ends', () => {
    const { deployment, lease } = deployed(plan({ group: LEASE_ONLY, rights: ALL }));
    const status = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
    const group = { deployment: { ...(deployment as KubernetesObject), status }, configured: new Map(), lease };
    const deletions = (groupsWithEndingPods: readonly string[]) =>
      plan({ pools: ['red/a'], group, rights: ALL, groupsWithPods: [GROUP], groupsWithEndingPods }).filter(
        ({ kind }) => kind === 'delete-right',
      );
    expect([deletions([]).length, deletions([GROUP]).length]).toEqual([2, 0]);
  });

  it('that has no pools any more, and rights that no agent uses, loses them without ever having been observed', () => {
    expect(kinds(plan({ pools: [], rights: ALL }))).toEqual(['delete-right']);
  });

  it('a group of a chart has the rights that the chart grants', () => {
    const unified = { ...SETTINGS, topology: 'unified' as const };
    const { actions } = planAgents(
      { pools: [pool('red/a')], groups: new Map(), groupsWithPods: new Set(), legacyPods: new Map(), nowMs: 0 },
      unified,
    );
    expect(kinds(actions)).toEqual(['create-lease']);
  });

  describe('that moved to another namespace', () => {
    const old = `${NAMESPACE}/${GROUP}`;
    const next = { ...SETTINGS, namespace: 'second', previousNamespace: NAMESPACE };
    const status = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2 };
    const former = deployed(plan({ group: LEASE_ONLY, rights: ALL }));
    const rolledOut = { ...(former.deployment as KubernetesObject), status };
    const only = (key: string) => new Map([...former.configured].filter(([one]) => one === key));

    interface Former {
      readonly group?: ObservedGroup;
      readonly pods?: readonly string[];
      readonly rights?: readonly KubernetesObject[];
    }

    /** What is written of the rights to the pools of the namespace blue, which is none of the group's any more. */
    function ofBlue({ group, pods = [], rights = ALL }: Former): string[] {
      const { actions } = planAgents(
        {
          pools: [pool('red/a')],
          groups: new Map(group === undefined ? [] : [[old, group]]),
          groupsWithPods: new Set(pods),
          legacyPods: new Map(),
          rights: new Map([[GROUP, rights]]),
          nowMs: 0,
        },
        next,
      );
      return actions.flatMap((action) =>
        'object' in action && action.object.metadata.namespace === 'blue' ? [`${action.kind} ${action.object.kind}`] : [],
      );
    }

    it.each<readonly [string, Former, boolean]>([
      ['its former Deployment is configured with it', { group: { ...former, deployment: rolledOut } }, true],
      ['its former Deployment is being rolled out', { group: { ...former, configured: only('red/a') } }, true],
      ['its former pods are left without a Deployment', { pods: [old] }, true],
      [
        'its former Deployment has replaced all pods',
        { group: { ...former, configured: only('red/a'), deployment: rolledOut } },
        false,
      ],
      ['it has no former agents', {}, false],
    ])('while %s: the right to a pool that it has no more stays %s', (_, observed, stays) => {
      expect(ofBlue(observed)).toEqual(stays ? ['patch-right RoleBinding'] : ['delete-right Role', 'delete-right RoleBinding']);
    });

    it.each([
      ['has no rights', new Map<string, readonly KubernetesObject[]>()],
      ['is observed without rights', undefined],
    ])('gets rights only for its next agents if it %s: its former ones have theirs from another client', (_, rights) => {
      const { actions } = planAgents(
        {
          pools: [pool('red/a')],
          groups: new Map([[old, former]]),
          groupsWithPods: new Set([old]),
          legacyPods: new Map(),
          ...(rights && { rights }),
          nowMs: 0,
        },
        next,
      );
      const given = actions.flatMap((action) => ('object' in action ? accountNamespacesOf(action.object) : []));
      expect(new Set(given)).toEqual(new Set(['second']));
    });

    it('leaves the rights of agents in a third namespace to them', () => {
      const third = toGroupRights({ group: GROUP, namespace: 'third' }, new Map([['blue', ['b']]]));
      expect(ofBlue({ group: former, rights: third })).toEqual([]);
    });
  });

  it('that moves to another namespace a second time keeps its rights there as long as its agents run', () => {
    const group = deployed(plan({ group: LEASE_ONLY, rights: ALL }));
    const old = `${NAMESPACE}/${GROUP}`;
    const next = { ...SETTINGS, namespace: 'second', previousNamespace: NAMESPACE };
    const observed = (groups: Map<string, ObservedGroup>, pods: readonly string[], pools = ['red/a', 'blue/b']) => ({
      pools: pools.map(pool),
      groups,
      groupsWithPods: new Set(pods),
      legacyPods: new Map(),
      rights: new Map([[GROUP, ALL]]),
      nowMs: 0,
    });
    const written = (...of: Parameters<typeof observed>) =>
      planAgents(observed(...of), next).actions.flatMap((action) =>
        'object' in action ? [`${action.kind} ${action.object.kind} ${action.object.metadata.namespace}`] : [],
      );
    const MOVING = [
      'create-right ServiceAccount second',
      'create-right Role second',
      'create-right RoleBinding second',
      'patch-right RoleBinding blue',
      'patch-right RoleBinding red',
    ];
    expect(written(new Map([[old, group]]), [old])).toEqual(MOVING);
    expect(written(new Map(), [old]), 'pods without their Deployment').toEqual(MOVING);
    expect(written(new Map([[old, group]]), [old], []), 'a group that is not to be any more').toEqual([]);
    expect(written(new Map(), [], []), 'when they are gone').toHaveLength(ALL.length);
    expect(planAgents(observed(new Map(), [], []), { ...SETTINGS, namespace: 'second' }).actions, 'not known').toMatchObject([
      { kind: 'delete-right', object: { kind: 'ServiceAccount' } },
    ]);
  });

  it('gets a deleted Lease again, which no agent may take at once, and which suspends what others serve', () => {
    expect(plan({})[0]).toMatchObject({ kind: 'create-lease', isGuarded: false });
    expect(plan({ groupsWithPods: [GROUP] })[0]).toMatchObject({ kind: 'create-lease', isGuarded: true });
    const group = deployed(plan({ group: LEASE_ONLY, rights: ALL }), NO_LEASE);
    const [created] = planAgents(
      {
        pools: [...['red/a', 'blue/b'].map(pool), { ...pool('red/other'), placement: onClusterNetwork('another') }],
        groups: new Map([[GROUP, group]]),
        groupsWithPods: new Set(),
        legacyPods: new Map(),
        nowMs: 0,
      },
      SETTINGS,
    ).actions.filter((action) => action.kind === 'create-lease' && action.group === GROUP);
    expect(created).toMatchObject({ isGuarded: true, poolKeys: ['red/other'] });
  });
});
