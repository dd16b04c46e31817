import type { ApiClient } from '../api/api-client.js';
import { LiveList } from '../api/live-list.js';
import { ApiError } from '../api-error.js';
import type { Authorizer, RequestAttributes } from '../request/request-chain.js';
import { authorize } from './authorize.js';
import type { Policy, Role, RoleBinding } from './policy.js';
import { forbidden } from './refusal.js';

const group = 'rbac.authorization.k8s.io';

/** The policy of the RBAC objects in the cluster, up to date until it is stopped. */
export const livePolicy = (api: Pick<ApiClient, 'get' | 'watch'>): Policy & { stop(): void } => {
  const clusterRoleBindings = new LiveList(api, { group, resource: 'clusterrolebindings' });
  const roleBindings = new LiveList(api, { group, resource: 'rolebindings' });
  return {
    clusterRoleBindings: () => clusterRoleBindings.all() as readonly RoleBinding[],
    roleBindings: (namespace) => roleBindings.inNamespace(namespace) as Iterable<RoleBinding>,
    clusterRole: (name) => api.get({ group, resource: 'clusterroles', name }) as Role | undefined,
    role: (namespace, name) => api.get({ group, resource: 'roles', namespace, name }) as Role | undefined,
    stop: () => {
      clusterRoleBindings.stop();
      roleBindings.stop();
    },
  };
};

/** Allows the requests that RBAC allows. */
export class RbacAuthorizer implements Authorizer {
  readonly #policy: Policy;

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  authorize(request: RequestAttributes): void {
    if (!authorize(request, this.#policy).allowed) throw new ApiError(forbidden(request));
  }
}
