import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { accountNamespacesOf, hasLeaseRule, poolNamesOf, toGroupRights } from './group-rights.js';

const GROUP = 'vm-dhcp-agent-1';
const HOLDER = { group: GROUP, namespace: 'agents' };
const LEAD = ['get', 'list', 'watch', 'update'];
const withFields = (fields: object): KubernetesObject => ({ metadata: { namespace: 'red', name: GROUP }, ...fields });

describe('toGroupRights', () => {
  it('gives every object the labels by which the controller finds it', () => {
    for (const { metadata } of toGroupRights(HOLDER, new Map([['red', ['a']]]))) {
      expect(metadata.labels).toEqual({
        'network.harvesterhci.io/vm-dhcp-controller': 'agent',
        'network.harvesterhci.io/agent-group': GROUP,
        'app.kubernetes.io/managed-by': 'vm-dhcp-controller',
      });
    }
  });

  it('grants the Lease in the namespace of the agents and in the previous namespace, and nowhere else', () => {
    const names = new Map(['red', 'before'].map((namespace) => [namespace, ['a']]));
    const leading = (previousNamespace?: string) =>
      toGroupRights({ ...HOLDER, previousNamespace }, names).flatMap((object) =>
        hasLeaseRule(GROUP, object) ? [object.metadata.namespace] : [],
      );
    expect(leading()).toEqual(['agents']);
    expect(leading('before')).toEqual(['agents', 'before']);
  });
});

describe('poolNamesOf', () => {
  const rule = { resources: ['ippools'], resourceNames: ['a', 'b'], verbs: ['list', 'watch'] };

  it.each<readonly [string, object, readonly string[]]>([
    ['of a Role that lets agents follow pools, those', { rules: [rule] }, ['a', 'b']],
    ['of several rules, those of all', { rules: [rule, { ...rule, resourceNames: ['c'] }] }, ['a', 'b', 'c']],
    ['of a rule that has more verbs, the same', { rules: [{ ...rule, verbs: ['update', ...rule.verbs] }] }, ['a', 'b']],
    ['of a rule without one of the verbs, none', { rules: [{ ...rule, verbs: ['get', 'list'] }] }, []],
    ['of a rule without verbs, none', { rules: [{ ...rule, verbs: undefined }] }, []],
    ['of a rule without names, none', { rules: [{ ...rule, resourceNames: undefined }] }, []],
    ['of other resources, none', { rules: [{ ...rule, resources: ['leases'] }] }, []],
    ['of a rule without resources, none', { rules: [{ ...rule, resources: undefined }] }, []],
    ['without rules, none', {}, []],
    ['of rules that are null, none', { rules: null }, []],
  ])('%s', (_, fields, names) => {
    expect(poolNamesOf(withFields(fields))).toEqual(names);
  });
});

describe('hasLeaseRule', () => {
  const rule = { resources: ['leases'], resourceNames: [GROUP], verbs: LEAD };

  it.each<readonly [string, object, boolean]>([
    ['to follow and update the Lease', { rules: [rule] }, true],
    ['by one of several rules', { rules: [{}, rule] }, true],
    ['of another name', { rules: [{ ...rule, resourceNames: ['another'] }] }, false],
    ['of no name', { rules: [{ ...rule, resourceNames: undefined }] }, false],
    ['to other resources of that name', { rules: [{ ...rule, resources: ['pods'] }] }, false],
    ['to no resources', { rules: [{ ...rule, resources: undefined }] }, false],
    ['only to follow it', { rules: [{ ...rule, verbs: ['get', 'list', 'watch'] }] }, false],
    ['to do nothing', { rules: [{ ...rule, verbs: undefined }] }, false],
    ['by no rule', {}, false],
  ])('a right %s: %s', (_, fields, expected) => {
    expect(hasLeaseRule(GROUP, withFields(fields))).toBe(expected);
  });
});

describe('accountNamespacesOf', () => {
  it.each<readonly [unknown, readonly string[]]>([
    [
      [
        { kind: 'ServiceAccount', namespace: 'one' },
        { kind: 'ServiceAccount', namespace: 'two' },
      ],
      ['one', 'two'],
    ],
    [[{ kind: 'User', name: 'anna' }], []],
    [[], []],
    [null, []],
    [undefined, []],
  ])('the subjects %j yield %j', (subjects, expected) => {
    expect(accountNamespacesOf(withFields({ subjects }))).toEqual(expected);
  });
});
