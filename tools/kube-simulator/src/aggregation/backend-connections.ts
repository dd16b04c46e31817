import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { Agent, type RequestOptions, request as requestOf } from 'node:https';
import type { Endpoint } from '../admission/webhook-address.js';
import type { ApiRegistration } from './api-registration.js';

/** The credentials with which this server proves to aggregated servers that it is the proxy of the cluster. */
export interface ClientCertificate {
  /** PEM: the authority of requestheader clients. */
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

export interface BackendRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly signal: AbortSignal;
  /** Absent: no body. */
  readonly body?: NodeJS.ReadableStream;
  /** The certificate of the server is not checked: the availability check does not. */
  readonly skipsVerification?: boolean;
}

/** HTTPS connections to aggregated servers, with the certificate of the front proxy. */
export class BackendConnections {
  readonly #certificate: ClientCertificate;
  readonly #agents = new Map<string, Agent>();

  constructor(certificate: ClientCertificate) {
    this.#certificate = certificate;
  }

  /** The answer; its body is not read yet. Rejects if there is none. */
  send(registration: ApiRegistration, endpoint: Endpoint, request: BackendRequest): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { method, path, headers, signal } = request;
    const isUnverified = request.skipsVerification ?? registration.skipsVerification;
    const options: RequestOptions = { host: endpoint.host, port: endpoint.port, method, path, headers, signal };
    const sent = requestOf({ ...options, agent: this.#agentOf(registration, isUnverified) }, resolve);
    sent.on('error', reject);
    if (request.body === undefined) sent.end();
    else request.body.pipe(sent);
    return promise;
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  #agentOf({ service, ca }: ApiRegistration, isUnverified: boolean): Agent {
    const servername = `${service.name}.${service.namespace}.svc`;
    const id = `${servername} ${isUnverified} ${ca ?? ''}`;
    const known = this.#agents.get(id);
    if (known !== undefined) return known;
    const { certificate: cert, key } = this.#certificate;
    const trust = ca === undefined ? {} : { ca };
    const agent = new Agent({ keepAlive: true, servername, cert, key, rejectUnauthorized: !isUnverified, ...trust });
    this.#agents.set(id, agent);
    return agent;
  }
}
