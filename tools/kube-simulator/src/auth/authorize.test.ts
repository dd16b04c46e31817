import { describe, expect, it } from 'vitest';
import type { RequestAttributes } from '../request/request-chain.js';
import type { User } from '../request-user.js';
import { authorize, grantedRules } from './authorize.js';
import { defaultRoles } from './default-roles.js';
import type { Policy, Role, RoleBinding } from './policy.js';
import { serviceAccountUser } from './user.js';

const limited: User = { username: 'limited', groups: ['system:authenticated'] };
const pools = 'network.example.com';

const objects = [
  ...defaultRoles,
  {
    kind: 'Role',
    metadata: { name: 'ro', namespace: 's16' },
    rules: [
      { apiGroups: [pools], resources: ['ippools'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [pools], resources: ['ippools/status'], verbs: ['patch'] },
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['one'], verbs: ['*'] },
      { apiGroups: ['apps'], resources: ['*/scale'], verbs: ['update'] },
    ],
  },
  {
    kind: 'RoleBinding',
    metadata: { name: 'ro', namespace: 's16' },
    roleRef: { kind: 'Role', name: 'ro' },
    subjects: [
      { kind: 'User', name: 'limited' },
      { kind: 'ServiceAccount', name: 'agent', namespace: 's16' },
    ],
  },
  {
    kind: 'RoleBinding',
    metadata: { name: 'all', namespace: 'own' },
    roleRef: { kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'Group', name: 'operators' }],
  },
];

const find = (kind: string, name: string, namespace?: string) =>
  objects.find(
    (o) => o.kind === kind && o.metadata.name === name && (o.metadata as { namespace?: string }).namespace === namespace,
  );

const policy: Policy = {
  clusterRoleBindings: () => objects.filter((o) => o.kind === 'ClusterRoleBinding') as unknown as RoleBinding[],
  roleBindings: (namespace) =>
    objects.filter(
      (o) => o.kind === 'RoleBinding' && (o.metadata as { namespace?: string }).namespace === namespace,
    ) as unknown as RoleBinding[],
  clusterRole: (name) => find('ClusterRole', name) as unknown as Role | undefined,
  role: (namespace, name) => find('Role', name, namespace) as unknown as Role | undefined,
};

const ask = (over: Partial<RequestAttributes>): RequestAttributes => ({
  user: limited,
  verb: 'list',
  path: '',
  isResourceRequest: true,
  version: 'v1',
  subresource: '',
  name: '',
  group: pools,
  resource: 'ippools',
  namespace: 's16',
  ...over,
});

describe('authorize', () => {
  it.each<[string, Partial<RequestAttributes>, boolean]>([
    ['a verb that a rule names', {}, true],
    ['a verb that no rule names', { verb: 'delete' }, false],
    ['a subresource that a rule names', { verb: 'patch', subresource: 'status' }, true],
    ['the main resource, where a rule names the subresource only', { verb: 'patch' }, false],
    ['a subresource, where a rule names the main resource only', { verb: 'get', subresource: 'status' }, false],
    [
      'any resource with that subresource',
      { group: 'apps', resource: 'deployments', subresource: 'scale', verb: 'update' },
      true,
    ],
    ['another namespace', { namespace: 'default' }, false],
    ['all namespaces', { namespace: '' }, false],
    ['another group', { group: '' }, false],
    ['the named object', { group: '', resource: 'configmaps', verb: 'get', name: 'one' }, true],
    ['another object', { group: '', resource: 'configmaps', verb: 'get', name: 'two' }, false],
    ['a collection, where a rule names an object', { group: '', resource: 'configmaps', verb: 'list' }, false],
    ['a ServiceAccount', { user: serviceAccountUser('s16', 'agent') }, true],
    ['its namesake in another namespace', { user: serviceAccountUser('s17', 'agent') }, false],
    ['a group with a cluster role in one namespace', { user: { username: 'x', groups: ['operators'] }, namespace: 'own' }, true],
    ['the same elsewhere', { user: { username: 'x', groups: ['operators'] } }, false],
    ['system:masters', { user: { username: 'x', groups: ['system:masters'] }, verb: '*', namespace: '' }, true],
  ])('%s', (_name, over, allowed) => {
    expect(authorize(ask(over), policy).allowed).toBe(allowed);
  });

  it.each([
    ['/version', 'get', true],
    ['/apis/apps/v1', 'get', true],
    ['/apis', 'get', true],
    ['/metrics', 'get', false],
    ['/version', 'post', false],
  ])('path %s, verb %s', (path, verb, allowed) => {
    expect(authorize(ask({ isResourceRequest: false, resource: '', namespace: '', verb, path }), policy).allowed).toBe(allowed);
  });

  it('names the binding', () => {
    expect(authorize(ask({}), policy)).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "ro/s16" of Role "ro" to User "limited"',
    });
    expect(authorize(ask({ user: serviceAccountUser('s16', 'agent') }), policy)).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "ro/s16" of Role "ro" to ServiceAccount "agent/s16"',
    });
    expect(authorize(ask({ user: { username: 'admin', groups: ['system:masters'] } }), policy)).toEqual({ allowed: true });
  });

  it('lists the rules of a user, cluster-wide ones first', () => {
    const verbs = [...grantedRules(limited, 's16', policy)].map(({ rule }) => rule.verbs.join());
    expect(verbs).toEqual(['create', 'create', 'get', 'get', 'get', 'get,list,watch', 'patch', '*', 'update']);
  });
});
