import { type ApiConnection, type ApiRequest, ApiRequestError } from './api-connection.js';
import type { LeaseObject } from './api-lease-store.js';

/** One Lease of an API server. */
export class LeaseServer {
  lease: LeaseObject | undefined;
  #version = 0;

  /** @throws ApiRequestError when the server refuses. */
  answer({ method, body }: ApiRequest): unknown {
    const wanted = body as LeaseObject | undefined;
    if (method === 'GET') return this.lease ?? refuse(404, 'NotFound');
    if (method === 'POST' && this.lease !== undefined) return refuse(409, 'AlreadyExists');
    if (method === 'PUT') this.#assertVersion(wanted);
    this.lease = { ...wanted, metadata: { name: 'l', ...wanted?.metadata, resourceVersion: String(++this.#version) } };
    return this.lease;
  }

  /** A connection to it. @param answer - decides the fate of a request; default: it is answered. */
  connection(answer: (request: ApiRequest) => Promise<unknown> = async (request) => this.answer(request)): ApiConnection {
    return { request: answer } as unknown as ApiConnection;
  }

  #assertVersion(wanted: LeaseObject | undefined): void {
    if (this.lease === undefined) refuse(404, 'NotFound');
    if (this.lease.metadata.resourceVersion !== wanted?.metadata.resourceVersion) refuse(409, 'Conflict');
  }
}

function refuse(status: number, reason: string): never {
  throw new ApiRequestError(reason, { status, reason });
}
