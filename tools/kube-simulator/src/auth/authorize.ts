import type { RequestAttributes } from '../request/request-chain.js';
import type { User } from '../request-user.js';
import type { Policy, PolicyRule, RoleBinding, Subject } from './policy.js';
import { parseServiceAccountUser } from './user.js';

/** A denial has no reason: RBAC has no rules that deny. */
export type Decision = { readonly allowed: true; readonly reason?: string } | { readonly allowed: false };

/** A rule that a binding gives to a user, with the text that names the binding. */
export interface GrantedRule {
  readonly rule: PolicyRule;
  readonly reason: string;
}

/** Whether the request is allowed: by membership of system:masters, or by a rule of a role bound to the user. */
export const authorize = (request: RequestAttributes, policy: Policy): Decision => {
  if (request.user.groups.includes('system:masters')) return { allowed: true };
  for (const { rule, reason } of grantedRules(request.user, request.namespace, policy)) {
    if (ruleAllows(rule, request)) return { allowed: true, reason };
  }
  return { allowed: false };
};

/** Every rule that the user has: cluster-wide ones, then those of the namespace, unless it is the empty one. */
export function* grantedRules(user: User, namespace: string, policy: Policy): Generator<GrantedRule> {
  for (const binding of policy.clusterRoleBindings()) yield* rulesOfBinding(binding, user, policy);
  if (namespace === '') return;
  for (const binding of policy.roleBindings(namespace)) yield* rulesOfBinding(binding, user, policy);
}

function* rulesOfBinding(binding: RoleBinding, user: User, policy: Policy): Generator<GrantedRule> {
  const namespace = binding.metadata.namespace;
  const subject = binding.subjects?.find((candidate) => isSubject(candidate, user, namespace));
  if (subject === undefined) return;
  const { kind, name } = binding.roleRef;
  const role = kind === 'ClusterRole' ? policy.clusterRole(name) : policy.role(namespace ?? '', name);
  const bindingName = namespace === undefined ? binding.metadata.name : `${binding.metadata.name}/${namespace}`;
  const reason = `RBAC: allowed by ${binding.kind} "${bindingName}" of ${kind} "${name}" to ${describeSubject(subject)}`;
  for (const rule of role?.rules ?? []) yield { rule, reason };
}

const describeSubject = (subject: Subject): string =>
  subject.kind === 'ServiceAccount'
    ? `ServiceAccount "${subject.name}/${subject.namespace ?? ''}"`
    : `${subject.kind} "${subject.name}"`;

const isSubject = (subject: Subject, user: User, bindingNamespace: string | undefined): boolean => {
  switch (subject.kind) {
    case 'User':
      return subject.name === user.username;
    case 'Group':
      return user.groups.includes(subject.name);
    case 'ServiceAccount': {
      const account = parseServiceAccountUser(user.username);
      return account?.name === subject.name && account.namespace === (subject.namespace ?? bindingNamespace);
    }
    default:
      return false;
  }
};

const ruleAllows = (rule: PolicyRule, request: RequestAttributes): boolean =>
  has(rule.verbs, request.verb) && (request.isResourceRequest ? resourceMatches(rule, request) : pathMatches(rule, request.path));

const resourceMatches = (rule: PolicyRule, request: RequestAttributes): boolean =>
  has(rule.apiGroups ?? [], request.group) && matchesResource(rule.resources ?? [], request) && matchesName(rule, request.name);

const matchesResource = (resources: readonly string[], { resource, subresource }: RequestAttributes): boolean =>
  subresource === ''
    ? has(resources, resource)
    : has(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`);

const matchesName = (rule: PolicyRule, name: string): boolean =>
  (rule.resourceNames ?? []).length === 0 || (rule.resourceNames ?? []).includes(name);

const pathMatches = (rule: PolicyRule, path: string): boolean =>
  (rule.nonResourceURLs ?? []).some((url) => (url.endsWith('*') ? path.startsWith(url.slice(0, -1)) : url === path));

/** True if the list of a rule names this, or everything. */
export const has = (list: readonly string[], wanted: string): boolean => list.includes('*') || list.includes(wanted);
