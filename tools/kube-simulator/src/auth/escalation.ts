/**
 * No user grants more than they have: a Role, or a binding to one, is refused if it grants more than its author may do.
 *
 * Source: k8s.io/kubernetes/pkg/registry/rbac policybased storage, k8s.io/component-helpers/auth/rbac/validation Covers.
 */
import { ApiError } from '../api-error.js';
import type { Admission, AdmissionRequest, RequestAttributes } from '../request/request-chain.js';
import { authorize, grantedRules, has } from './authorize.js';
import type { Policy, PolicyRule, Role, RoleBinding } from './policy.js';

/** Checks the rights that RBAC objects give, in addition to another admission. */
export class EscalationCheck implements Admission {
  readonly #next: Admission;
  readonly #policy: Policy;

  constructor(next: Admission, policy: Policy) {
    this.#next = next;
    this.#policy = policy;
  }

  mutate(request: AdmissionRequest): ReturnType<Admission['mutate']> {
    return this.#next.mutate(request);
  }

  validate(request: AdmissionRequest): ReturnType<Admission['validate']> {
    if (request.type.group === 'rbac.authorization.k8s.io' && request.object !== undefined) this.#check(request);
    return this.#next.validate(request);
  }

  #check({ attributes, object }: AdmissionRequest): void {
    const { user, resource, namespace } = attributes;
    if (user.groups.includes('system:masters')) return;
    const isBinding = resource.endsWith('bindings');
    const given = isBinding ? this.#rulesOf(object as RoleBinding) : ((object as Role).rules ?? []);
    if (this.#isAllowed({ ...attributes, verb: isBinding ? 'bind' : 'escalate' }, object as RoleBinding)) return;
    const own = [...grantedRules(user, namespace, this.#policy)].map(({ rule }) => rule);
    const missing = given.filter((rule) => !isCovered(rule, own));
    if (missing.length === 0) return;
    const name = object?.metadata.name ?? '';
    const groups = user.groups.map((group) => JSON.stringify(group)).join(' ');
    const message = `${resource}.rbac.authorization.k8s.io "${name}" is forbidden: user "${user.username}" (groups=[${groups}]) is attempting to grant RBAC permissions not currently held:\n${missing.map(describeRule).join('\n')}`;
    const details = { name, group: 'rbac.authorization.k8s.io', kind: resource };
    throw new ApiError({ code: 403, reason: 'Forbidden', message, details });
  }

  /** The verb `escalate` on Roles, and `bind` on the Role that is bound. */
  #isAllowed(asked: RequestAttributes, { roleRef }: RoleBinding): boolean {
    const target =
      asked.verb === 'bind' ? { resource: roleRef.kind === 'Role' ? 'roles' : 'clusterroles', name: roleRef.name } : {};
    return authorize({ ...asked, subresource: '', ...target }, this.#policy).allowed;
  }

  #rulesOf({ roleRef, metadata }: RoleBinding): readonly PolicyRule[] {
    const { kind, name } = roleRef;
    const role = kind === 'Role' ? this.#policy.role(metadata.namespace ?? '', name) : this.#policy.clusterRole(name);
    if (role !== undefined) return role.rules ?? [];
    const plural = kind === 'Role' ? 'roles' : 'clusterroles';
    throw new ApiError({
      code: 404,
      reason: 'NotFound',
      message: `${plural}.rbac.authorization.k8s.io "${name}" not found`,
      details: { name, group: 'rbac.authorization.k8s.io', kind: plural },
    });
  }
}

/** True if everything that the rule allows is allowed by the other rules. */
function isCovered(rule: PolicyRule, own: readonly PolicyRule[]): boolean {
  const parts = rule.nonResourceURLs === undefined ? resourceParts(rule) : pathParts(rule);
  return parts.every((part) => own.some((owned) => covers(owned, part)));
}

interface Part {
  readonly verb: string;
  readonly group?: string;
  readonly resource?: string;
  /** Undefined: all. */
  readonly name?: string | undefined;
  readonly path?: string;
}

function resourceParts({ verbs, apiGroups = [], resources = [], resourceNames = [] }: PolicyRule): Part[] {
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  return verbs.flatMap((verb) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => names.map((name) => ({ verb, group, resource, name })))),
  );
}

function pathParts({ verbs, nonResourceURLs = [] }: PolicyRule): Part[] {
  return verbs.flatMap((verb) => nonResourceURLs.map((path) => ({ verb, path })));
}

function covers(owned: PolicyRule, part: Part): boolean {
  if (!has(owned.verbs, part.verb)) return false;
  return part.path === undefined ? coversObjects(owned, part) : has(owned.nonResourceURLs ?? [], part.path);
}

function coversObjects({ apiGroups = [], resources = [], resourceNames = [] }: PolicyRule, part: Part): boolean {
  const coversName = resourceNames.length === 0 || (part.name !== undefined && resourceNames.includes(part.name));
  return coversName && has(apiGroups, part.group ?? '') && coversResource(resources, part.resource ?? '');
}

/** A star before a subresource stands for every resource. */
function coversResource(owned: readonly string[], resource: string): boolean {
  const [, subresource] = resource.split('/', 2);
  return has(owned, resource) || (subresource !== undefined && owned.includes(`*/${subresource}`));
}

function describeRule({ apiGroups, resources, resourceNames, nonResourceURLs, verbs }: PolicyRule): string {
  const list = (name: string, values: readonly string[] | undefined) =>
    values === undefined || values.length === 0 ? [] : [`${name}:[${values.map((value) => JSON.stringify(value)).join(', ')}]`];
  const parts = [
    ...list('APIGroups', apiGroups),
    ...list('Resources', resources),
    ...list('ResourceNames', resourceNames),
    ...list('NonResourceURLs', nonResourceURLs),
    ...list('Verbs', verbs),
  ];
  return `{${parts.join(', ')}}`;
}
