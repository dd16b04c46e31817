import type { RequestAttributes } from './request-chain.js';

/** A request by a user, and whether RBAC allowed it. */
export interface AuditedRequest {
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty for all namespaces, or a kind without namespaces. */
  readonly namespace: string;
  /** Also set for a list or a watch that selects one name. Empty for all names, and for a create. */
  readonly name: string;
  readonly allowed: boolean;
}

/** The distinct requests for resources so far, including authorized requests that failed later. */
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
