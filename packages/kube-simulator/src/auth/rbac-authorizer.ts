import type { ApiClient } from '../api/api-client.js';
import { ApiError } from '../api-error.js';
import type { Authorizer, RequestAttributes } from '../http/request-chain.js';
import { authorize } from './authorize.js';
import type { Policy, Role, RoleBinding } from './policy.js';
import { forbidden } from './refusal.js';

const group = 'rbac.authorization.k8s.io';

/** The policy that the RBAC objects of the cluster make at this moment. */
export const policyOf = (api: Pick<ApiClient, 'get' | 'list'>): Policy => ({
  clusterRoleBindings: () => api.list({ group, resource: 'clusterrolebindings' }) as readonly RoleBinding[],
  roleBindings: (namespace) => api.list({ group, resource: 'rolebindings', namespace }) as readonly RoleBinding[],
  clusterRole: (name) => api.get({ group, resource: 'clusterroles', name }) as Role | undefined,
  role: (namespace, name) => api.get({ group, resource: 'roles', namespace, name }) as Role | undefined,
});

/** Lets through what RBAC allows. */
export class RbacAuthorizer implements Authorizer {
  readonly #policy: Policy;

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  authorize(request: RequestAttributes): void {
    if (!authorize(request, this.#policy).allowed) throw new ApiError(forbidden(request));
  }
}
