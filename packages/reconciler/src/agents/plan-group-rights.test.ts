import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { applyMergePatch } from '@vmdhcp/kube-runtime/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accountNamespacesOf, toGroupRights } from './group-rights.js';
import { planGroupRights, planRightsRemoval, type RightsAction } from './plan-group-rights.js';

const HOLDER = { group: 'vm-dhcp-agent-1', namespace: 'vm-dhcp-agents' };
const KNOWN = [HOLDER.namespace];
const identityOf = ({ kind, metadata }: KubernetesObject) => `${kind} ${metadata.namespace}/${metadata.name}`;

function plan(
  poolKeys: readonly string[],
  observed: readonly KubernetesObject[],
  isKept: (key: string) => boolean = () => false,
) {
  return planGroupRights({ ...HOLDER, poolKeys, isKept, knownNamespaces: KNOWN }, observed);
}

function wantedIn(namespace: string, poolKeys: readonly string[]) {
  return { ...HOLDER, namespace, poolKeys, isKept: () => false, knownNamespaces: [namespace] };
}

function carriedOut(observed: readonly KubernetesObject[], actions: readonly RightsAction[]): KubernetesObject[] {
  const after = new Map(observed.map((object) => [identityOf(object), object]));
  for (const action of actions) {
    const identity = identityOf(action.object);
    if (action.kind === 'create-right') after.set(identity, action.object);
    else if (action.kind === 'patch-right') after.set(identity, applyMergePatch(action.object, action.patch) as KubernetesObject);
    else after.delete(identity);
  }
  return [...after.values()];
}

const described = (actions: readonly RightsAction[]) => actions.map(({ kind, object }) => `${kind} ${identityOf(object)}`);
const POOLS = ['default/a', 'default/b', 'red/c'];
const GIVEN = carriedOut([], plan(POOLS, []).actions);
const beingDeleted = (object: KubernetesObject): KubernetesObject => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
});

describe('rights of a group that moves to another namespace', () => {
  const moved = {
    group: HOLDER.group,
    namespace: 'second',
    previousNamespace: HOLDER.namespace,
    poolKeys: ['default/a', 'vm-dhcp-agents/d'],
    isKept: (key: string) => POOLS.includes(key),
    knownNamespaces: ['second', HOLDER.namespace],
  };
  const rightsDuring = () => carriedOut(GIVEN, planGroupRights(moved, GIVEN).actions);

  it('are given beside those of the agents that were there before, which keep theirs', () => {
    const during = rightsDuring();
    for (const { kind, rules = [] } of GIVEN as (KubernetesObject & { readonly rules?: readonly object[] })[])
      if (kind === 'Role') expect(JSON.stringify(during)).toContain(JSON.stringify(rules.at(-1)).slice(1, -1));
    const accounts = during.flatMap((object) =>
      object.kind === 'RoleBinding' ? [[object.metadata.namespace, accountNamespacesOf(object)]] : [],
    );
    expect(Object.fromEntries(accounts)).toEqual({
      'vm-dhcp-agents': ['second', 'vm-dhcp-agents'],
      default: ['second', 'vm-dhcp-agents'],
      red: ['second', 'vm-dhcp-agents'],
      second: ['second', 'vm-dhcp-agents'],
    });
    expect(planGroupRights(moved, during)).toEqual({
      actions: [],
      granted: new Set([...POOLS, 'vm-dhcp-agents/d']),
      isReady: true,
    });
  });

  it('are the only ones when those are gone', () => {
    const during = rightsDuring();
    const alone = { ...moved, previousNamespace: undefined, poolKeys: ['default/a'], isKept: () => false };
    const after = carriedOut(during, planGroupRights(alone, during).actions);
    expect(after.map(identityOf).toSorted()).toEqual(
      toGroupRights({ ...HOLDER, namespace: 'second' }, new Map([['default', ['a']]]))
        .map(identityOf)
        .toSorted(),
    );
    expect(JSON.stringify(after)).not.toContain('vm-dhcp-agents');
    expect(planGroupRights(alone, after).isReady).toBe(true);
  });
});

describe('planGroupRights', () => {
  it('gives a ServiceAccount, the Lease of the group, and its pools by name in each of their namespaces', () => {
    expect(plan(POOLS, [])).toMatchObject({ isReady: false, granted: new Set() });
    expect(described(plan(POOLS, []).actions)).toEqual([
      'create-right ServiceAccount vm-dhcp-agents/vm-dhcp-agent-1',
      'create-right Role vm-dhcp-agents/vm-dhcp-agent-1',
      'create-right RoleBinding vm-dhcp-agents/vm-dhcp-agent-1',
      'create-right Role default/vm-dhcp-agent-1',
      'create-right RoleBinding default/vm-dhcp-agent-1',
      'create-right Role red/vm-dhcp-agent-1',
      'create-right RoleBinding red/vm-dhcp-agent-1',
    ]);
    const rules = GIVEN.flatMap((object) => (object as { readonly rules?: readonly unknown[] }).rules ?? []);
    expect(rules).toEqual([
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: ['vm-dhcp-agent-1'],
        verbs: ['get', 'list', 'watch', 'update'],
      },
      {
        apiGroups: ['network.harvesterhci.io'],
        resources: ['ippools'],
        resourceNames: ['a', 'b'],
        verbs: ['list', 'watch'],
      },
      { apiGroups: ['network.harvesterhci.io'], resources: ['ippools'], resourceNames: ['c'], verbs: ['list', 'watch'] },
    ]);
    expect(plan(POOLS, GIVEN)).toEqual({ actions: [], granted: new Set(POOLS), isReady: true });
  });

  it('has one Role for the Lease and the pools where those are in the agents’ namespace', () => {
    const own = carriedOut([], plan(['vm-dhcp-agents/p'], []).actions);
    expect(own.map(identityOf)).toEqual(toGroupRights(HOLDER, new Map()).map(identityOf));
    expect(plan(['vm-dhcp-agents/p'], own)).toEqual({ actions: [], granted: new Set(['vm-dhcp-agents/p']), isReady: true });
  });

  it('takes the right to a pool that left, but not while pods may still follow it', () => {
    expect(described(plan(['default/a'], GIVEN, (key) => key === 'red/c').actions)).toEqual([
      'patch-right Role default/vm-dhcp-agent-1',
    ]);
    expect(described(plan(['default/a', 'default/b'], GIVEN).actions)).toEqual([
      'delete-right Role red/vm-dhcp-agent-1',
      'delete-right RoleBinding red/vm-dhcp-agent-1',
    ]);
  });

  it('a right that is not there is not given for a pool that only leaves', () => {
    const lost = GIVEN.filter(({ metadata }) => metadata.namespace !== 'red');
    expect(plan(['default/a', 'default/b'], lost, (key) => key === 'red/c').actions).toEqual([]);
    const unbound = GIVEN.filter((object) => !identityOf(object).startsWith('RoleBinding red/'));
    expect(described(plan(['default/a', 'default/b'], unbound, (key) => key === 'red/c').actions)).toEqual([
      'delete-right Role red/vm-dhcp-agent-1',
    ]);
  });

  it.each([
    ['a Role without its binding', 'RoleBinding default', ['red/c'], true],
    ['the Lease’s binding', 'RoleBinding vm-dhcp-agents', ['default/a', 'default/b', 'red/c'], false],
    ['the ServiceAccount', 'ServiceAccount vm-dhcp-agents', ['default/a', 'default/b', 'red/c'], false],
  ])('%s gives nothing', (_, missing, granted, isReady) => {
    const observed = GIVEN.filter((object) => !identityOf(object).startsWith(`${missing}/`));
    const { actions, ...rest } = plan(POOLS, observed);
    expect(rest).toEqual({ granted: new Set(granted), isReady });
    expect(described(actions)).toEqual([`create-right ${missing}/vm-dhcp-agent-1`]);
  });

  const changed = (target: string, change: (object: KubernetesObject) => KubernetesObject) =>
    GIVEN.map((object) => (identityOf(object).startsWith(`${target}/`) ? change(object) : object));

  it.each([
    ['a Role', 'Role default', ['red/c'], true],
    ['the binding of a Role', 'RoleBinding default', ['red/c'], true],
    ['the Lease’s Role', 'Role vm-dhcp-agents', POOLS, false],
    ['the Lease’s binding', 'RoleBinding vm-dhcp-agents', POOLS, false],
    ['the ServiceAccount', 'ServiceAccount vm-dhcp-agents', POOLS, false],
  ])('%s that is being deleted gives nothing, and is left alone until it is gone', (_, target, granted, isReady) => {
    const observed = changed(target, beingDeleted);
    expect(plan(POOLS, observed)).toEqual({ actions: [], granted: new Set(granted), isReady });
  });

  it.each([
    ['a binding of another ServiceAccount', 'RoleBinding default', { subjects: [] }, ['red/c'], true],
    ['the Lease’s binding of another ServiceAccount', 'RoleBinding vm-dhcp-agents', { subjects: [] }, POOLS, false],
    ['a Role without the right to the Lease', 'Role vm-dhcp-agents', { rules: [] }, POOLS, false],
  ])('%s gives nothing, and is corrected', (_, target, fields, granted, isReady) => {
    const { actions, ...rest } = plan(
      POOLS,
      changed(target, (object) => ({ ...object, ...fields })),
    );
    expect(rest).toEqual({ granted: new Set(granted), isReady });
    expect(described(actions)).toEqual([`patch-right ${target}/vm-dhcp-agent-1`]);
  });

  it('a Role that was widened is narrowed; a binding to another Role is deleted, and created again when it is gone', () => {
    const altered = GIVEN.map((object) => {
      if (identityOf(object) === 'Role red/vm-dhcp-agent-1')
        return { ...object, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] };
      if (identityOf(object) === 'RoleBinding default/vm-dhcp-agent-1')
        return { ...object, roleRef: { kind: 'Role', name: 'another' } };
      return object;
    });
    const { actions } = plan(POOLS, altered);
    expect(described(actions)).toEqual([
      'delete-right RoleBinding default/vm-dhcp-agent-1',
      'patch-right Role red/vm-dhcp-agent-1',
    ]);
    const next = plan(POOLS, carriedOut(altered, actions)).actions;
    expect(described(next)).toEqual(['create-right RoleBinding default/vm-dhcp-agent-1']);
  });

  it('what has the label of the group and another name is left alone', () => {
    const others = GIVEN.map((object) => ({ ...object, metadata: { ...object.metadata, name: 'another' } }));
    expect(planRightsRemoval(HOLDER.group, others, KNOWN)).toEqual([]);
    expect(planRightsRemoval(HOLDER.group, GIVEN, KNOWN)).toHaveLength(GIVEN.length);
  });

  it('what is being deleted is not deleted again', () => {
    const going = GIVEN.map(beingDeleted);
    expect(planRightsRemoval(HOLDER.group, going, KNOWN)).toEqual([]);
    expect(plan(['default/a', 'default/b'], going).actions).toEqual([]);
  });

  it('bindings of a known namespace are deleted, although agents of an unknown one have them too', () => {
    const shared = changed('RoleBinding red', (object) => {
      const { subjects } = object as KubernetesObject & { readonly subjects: readonly object[] };
      return { ...object, ...{ subjects: [{ kind: 'ServiceAccount', namespace: 'elsewhere' }, ...subjects] } };
    });
    expect(planRightsRemoval(HOLDER.group, shared, KNOWN)).toHaveLength(GIVEN.length);
  });

  it('agents in a namespace that the controller does not know keep theirs, also when the group is removed', () => {
    const elsewhere = carriedOut([], planGroupRights(wantedIn('elsewhere', POOLS), []).actions).slice(1);
    expect(elsewhere.map(identityOf)).toContain('Role red/vm-dhcp-agent-1');
    expect(planRightsRemoval(HOLDER.group, elsewhere, KNOWN)).toEqual([]);
    expect(described(plan(['default/a', 'default/b'], elsewhere).actions)).not.toContainEqual(
      expect.stringMatching(/delete-right/),
    );
  });

  it('a plan after it was carried out is empty, whatever there was before', () => {
    const keys = fc.uniqueArray(fc.constantFrom('default/a', 'default/b', 'red/c', 'vm-dhcp-agents/d'));
    fc.assert(
      fc.property(keys, keys, fc.subarray(GIVEN), (before, after, there) => {
        const start = carriedOut(there, plan(before, there).actions);
        const end = carriedOut(start, plan(after, start).actions);
        expect(plan(after, end)).toEqual({ actions: [], granted: new Set(after), isReady: true });
      }),
    );
  });
});
