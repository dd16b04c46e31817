/** The aggregated API server of KubeVirt: `subresources.kubevirt.io/v1`, over TLS, for requests that a front proxy hands on. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import type { JsonObject, ServerCertificate } from '@vmdhcp/kube-simulator';
import { type Refusal, SUBRESOURCES } from './decide-subresource.js';

export const SUBRESOURCE_GROUP = 'subresources.kubevirt.io';
const HOST = '127.0.0.1';

export interface SubresourceCall {
  /** `virtualmachines/start`. */
  readonly subresource: string;
  /** `namespace/name`. */
  readonly key: string;
  /** Who asks, as the API server has authenticated it. */
  readonly user: string;
  readonly body: JsonObject;
}

/** A refusal is answered as a Status, a number is the status of an answer without a body; `no-answer` keeps the request open. */
export type SubresourceAnswer = number | Refusal | 'no-answer';

export interface SubresourceServerSettings {
  readonly certificate: ServerCertificate;
  /** PEM: of clients that may name users. */
  readonly clientAuthority: string;
  /** Common names of those clients. */
  readonly allowedNames: readonly string[];
  readonly answer: (call: SubresourceCall) => Promise<SubresourceAnswer>;
}

export class SubresourceServer {
  readonly #settings: SubresourceServerSettings;
  readonly #server: Server;

  private constructor(settings: SubresourceServerSettings) {
    this.#settings = settings;
    const { certificate, clientAuthority } = settings;
    const client = { ca: clientAuthority, requestCert: true, rejectUnauthorized: true };
    this.#server = createServer({ key: certificate.key, cert: certificate.certificate, ...client }, (request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        refuse(response, { code: 500, reason: 'InternalError', message: `Internal error occurred: ${message}` });
      });
    });
    // Servers written in Go keep idle connections. Node ends them after five seconds, in the midst of a request on a busy machine.
    this.#server.keepAliveTimeout = 0;
  }

  static async start(settings: SubresourceServerSettings): Promise<SubresourceServer> {
    const server = new SubresourceServer(settings);
    server.#server.listen(0, HOST);
    await once(server.#server, 'listening');
    return server;
  }

  get endpoint(): { readonly host: string; readonly port: number } {
    return { host: HOST, port: (this.#server.address() as AddressInfo).port };
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const client = (request.socket as TLSSocket).getPeerCertificate().subject.CN;
    if (!this.#settings.allowedNames.includes(String(client))) {
      return refuse(response, { code: 401, reason: 'Unauthorized', message: 'request is not authenticated' });
    }
    const path = (request.url ?? '').split('?')[0] ?? '';
    if (path === `/apis/${SUBRESOURCE_GROUP}/v1`) {
      response.writeHead(200, JSON_TYPE).end(JSON.stringify(DISCOVERY));
      return;
    }
    const target = request.method === 'PUT' ? targetOf(path) : undefined;
    if (target === undefined) {
      return refuse(response, { code: 404, reason: 'NotFound', message: 'the server could not find the requested resource' });
    }
    const body = parseBody(await text(request));
    if (body === undefined) {
      return refuse(response, { code: 400, reason: 'BadRequest', message: 'Can not unmarshal Request body to struct' });
    }
    send(response, await this.#settings.answer({ ...target, user: String(request.headers['x-remote-user']), body }));
  }
}

const JSON_TYPE = { 'content-type': 'application/json' };

const DISCOVERY = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${SUBRESOURCE_GROUP}/v1`,
  resources: [...SUBRESOURCES.keys()].map((name) => ({ name, singularName: '', namespaced: true, kind: '', verbs: null })),
};

const PATH = /^\/apis\/subresources\.kubevirt\.io\/v1\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)\/([^/]+)$/;

function targetOf(path: string): { readonly subresource: string; readonly key: string } | undefined {
  const [, namespace = '', resource = '', name = '', last = ''] = PATH.exec(path)?.map(decodeURIComponent) ?? [];
  const subresource = `${resource}/${last}`;
  return SUBRESOURCES.has(subresource) ? { subresource, key: `${namespace}/${name}` } : undefined;
}

/** @returns no fields for a request without a body; undefined for what is not JSON. */
function parseBody(body: string): JsonObject | undefined {
  if (body.trim() === '') return {};
  try {
    return JSON.parse(body) as JsonObject;
  } catch {
    return undefined;
  }
}

function send(response: ServerResponse, answer: SubresourceAnswer): void {
  if (typeof answer === 'number') response.writeHead(answer).end();
  else if (answer !== 'no-answer') refuse(response, answer);
}

function refuse(response: ServerResponse, { code, ...refusal }: Refusal): void {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...refusal, code };
  response.writeHead(code, JSON_TYPE).end(JSON.stringify(status));
}
