import type { RequestAttributes } from './request-chain.js';

/** Who asked for what, and whether RBAC allowed it. */
export interface AuditedRequest {
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty: of all namespaces, or of a kind without namespaces. */
  readonly namespace: string;
  /** Also of a list or a watch that selects one name. Empty: of all names, and of a creation. */
  readonly name: string;
  readonly allowed: boolean;
}

/** The requests for resources so far, equal ones once. Also those that failed later on, as far as they were authorized. */
export class Audit {
  readonly #requests = new Map<string, AuditedRequest>();

  record(attributes: RequestAttributes, allowed: boolean): void {
    if (!attributes.isResourceRequest) return;
    const { user, verb, group, resource, subresource, namespace, name } = attributes;
    const request = { user: user.username, verb, group, resource, subresource, namespace, name, allowed };
    this.#requests.set(Object.values(request).join(' '), request);
  }

  get requests(): readonly AuditedRequest[] {
    return [...this.#requests.values()];
  }
}
