import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Aggregator } from '../aggregation/aggregator.js';
import type { ApiRegistration } from '../aggregation/api-registration.js';
import type { ApiContext } from '../api/api-call.js';
import { ApiError } from '../api-error.js';
import type { ExecInPod } from '../exec/exec-in-pod.js';
import { upgradeRequired } from '../exec/exec-target.js';
import type { Audit } from '../request/audit.js';
import type { FaultVerdict, RequestAttributes, RequestChain } from '../request/request-chain.js';
import type { User } from '../request-user.js';
import { failureAnswer, json, pageNotFound, plainText, refuseUpgrade, send } from './answers.js';
import { aggregatedDiscovery, discoveryDocument } from './discovery.js';
import { ExecUpgrades } from './exec-upgrades.js';
import { acceptsAggregatedDiscovery } from './negotiate.js';
import { openApiMediaType, openApiV2, openApiV2Protobuf } from './open-api.js';
import { mediaTypeOf } from './read-body.js';
import { type Answer, ResourceHandler } from './resource-handler.js';
import { parseRoute, type Route } from './route.js';

export interface HttpServerOptions {
  readonly context: ApiContext;
  readonly chain: RequestChain;
  readonly aggregator: Aggregator;
  readonly audit: Audit;
  /** Runs the commands that clients execute in Pods. */
  readonly execInPod: ExecInPod;
  /** PEM; absent: plain HTTP. */
  readonly tls?: { readonly key: string; readonly certificate: string };
}

/** Everything that goes over the wire. */
export class HttpServer {
  readonly #context: ApiContext;
  readonly #chain: RequestChain;
  readonly #aggregator: Aggregator;
  readonly #audit: Audit;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #exec: ExecUpgrades;
  readonly resources: ResourceHandler;

  constructor({ context, chain, aggregator, audit, execInPod, tls }: HttpServerOptions) {
    this.#context = context;
    this.#chain = chain;
    this.#aggregator = aggregator;
    this.#audit = audit;
    this.resources = new ResourceHandler(context);
    this.#exec = new ExecUpgrades(context, execInPod);
    const listener: RequestListener = (request, response) => {
      void this.serve(request, response);
    };
    // Other upgrades, as to HTTP/2, are not asked for: those requests are answered as they are.
    const options = { shouldUpgradeCallback: isExecUpgrade };
    this.#server =
      tls === undefined
        ? createServer(options, listener)
        : createTlsServer({ ...options, key: tls.key, cert: tls.certificate }, listener);
    this.#server.on('upgrade', (request, socket, head) => {
      void this.#upgrade(request, socket, head);
    });
    this.#server.keepAliveTimeout = 120_000;
    // Tracks the TCP connection below TLS: a connection that is still in its handshake would keep the server from closing.
    this.#server.on('connection', (socket: Socket) => {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** Returns the port that it listens on. */
  async listen(port: number, host: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Closes every connection, whatever is going on over it. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#exec.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Answers a request, whichever way it came. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const warnings: string[] = [];
    try {
      const answer = await this.#answer(request, response, warnings);
      if (answer !== undefined) send(request, response, { ...answer, warnings });
    } catch (error) {
      if (error instanceof ConnectionClosed) request.socket.destroy();
      else send(request, response, { ...failureAnswer(error), warnings });
    }
  }

  /** Returns nothing if the answer is written already. */
  async #answer(request: IncomingMessage, response: ServerResponse, warnings: string[]): Promise<Answer | undefined> {
    const { route, attributes, verdict } = await this.#admit(request);
    const answer = await this.#dispatch({ request, response, route, attributes, warnings });
    if (verdict.kind === 'close-after') throw new ConnectionClosed();
    return answer;
  }

  /** The user and the request, once they are authorized. */
  async #admit(request: IncomingMessage): Promise<Admitted> {
    const route = parseRoute(request.method ?? 'GET', request.url ?? '/');
    const user = await this.#chain.authenticator.authenticate({
      authorization: request.headers.authorization,
      headers: request.headers,
    });
    const attributes = attributesOf(route, user);
    const verdict = await this.#chain.faults.inspect(attributes);
    assertUndisturbed(verdict);
    await this.#authorize(withSelectedName(attributes, route));
    return { route, attributes, verdict };
  }

  /** A command in a Pod: everything that may be wrong is answered before the connection becomes a WebSocket. */
  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    try {
      const { route, attributes } = await this.#admit(request);
      const asked = { request, socket, head, attributes, query: route.query };
      await this.#exec.accept(asked, (also) => this.#authorize(also));
    } catch (error) {
      if (error instanceof ConnectionClosed) socket.destroy();
      else refuseUpgrade(request, socket, error);
    }
  }

  async #authorize(attributes: RequestAttributes): Promise<void> {
    try {
      await this.#chain.authorizer.authorize(attributes);
    } catch (error) {
      this.#audit.record(attributes, false);
      throw error;
    }
    this.#audit.record(attributes, true);
  }

  async #dispatch(exchange: Exchange): Promise<Answer | undefined> {
    const { request, response, route, attributes, warnings } = exchange;
    const elsewhere = this.#aggregator.registrationAt(route.path);
    if (elsewhere !== undefined) return this.#forward(elsewhere, exchange);
    if (!route.isResourceRequest) return this.#path(exchange);
    const type = this.#context.registry.find(route.group, route.version, route.resource);
    if (type === undefined || !fits(route, type)) return pageNotFound;
    if (isExec(route)) throw upgradeRequired();
    if (type.custom && mediaTypeOf(request) === 'application/vnd.kubernetes.protobuf') throw new ConnectionClosed();
    const resource = { attributes, type, query: route.query, request, warnings };
    if (route.verb !== 'watch') return this.resources.handle(resource);
    await this.resources.watch(resource, response);
    return undefined;
  }

  /** The answer of the server that the group and version belong to. A watch is forwarded event by event. */
  async #forward(registration: ApiRegistration, { request, response, attributes }: Exchange): Promise<Answer | undefined> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { user } = attributes;
    const forwarded = await this.#aggregator.forward(registration, { request, user, signal: gone.signal });
    if (forwarded.kind === 'unavailable') {
      return { status: 503, contentType: plainText, body: Buffer.from(`${forwarded.message}\n`) };
    }
    const { response: answer, headers } = forwarded;
    const status = answer.statusCode ?? 0;
    if (attributes.verb !== 'watch') return { status, contentType: '', body: await buffer(answer), headers };
    response.writeHead(status, headers);
    await pipeline(answer, response).catch(() => response.destroy());
    return undefined;
  }

  #path({ request, route }: Exchange): Answer {
    const { path } = route;
    const { accept } = request.headers;
    return fixedAnswer(path, accept) ?? this.#discovery(path, accept, request.headers.host ?? '');
  }

  #discovery(path: string, accept: string | undefined, host: string): Answer {
    const served = { registry: this.#context.registry, aggregated: this.#aggregator.versions };
    if ((path === '/api' || path === '/apis') && acceptsAggregatedDiscovery(accept)) {
      const document = aggregatedDiscovery(served, path);
      return { ...json(document), contentType: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };
    }
    const document = discoveryDocument(served, path, host);
    return document === undefined ? pageNotFound : json(document);
  }
}

function fixedAnswer(path: string, accept: string | undefined): Answer | undefined {
  if (healthPaths.has(path)) return { status: 200, contentType: plainText, body: Buffer.from('ok') };
  if (path === '/version') return json(versionDocument);
  if (path !== '/openapi/v2') return undefined;
  if (accept?.includes('proto-openapi') !== true) return json(openApiV2);
  return { status: 200, contentType: openApiMediaType, body: openApiV2Protobuf };
}

interface Admitted {
  readonly route: Route;
  readonly attributes: RequestAttributes;
  readonly verdict: FaultVerdict;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  readonly attributes: RequestAttributes;
  readonly warnings: string[];
}

function isExec({ group, resource, subresource, name }: Route): boolean {
  return group === '' && resource === 'pods' && subresource === 'exec' && name !== '';
}

function isExecUpgrade({ method, url, headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket' && isExec(parseRoute(method ?? 'GET', url ?? '/'));
}

/** Thrown if the connection is closed without an answer. */
class ConnectionClosed extends Error {
  readonly code = 'connection-closed';
}

function assertUndisturbed(verdict: FaultVerdict): void {
  if (verdict.kind === 'answer') throw new ApiError(verdict.failure);
  if (verdict.kind === 'close-before') throw new ConnectionClosed();
}

function attributesOf(route: Route, user: User): RequestAttributes {
  const { query: _query, ...attributes } = route;
  return { ...attributes, user };
}

/**
 * A list or a watch that asks for one name by its field selector is authorized for that name.
 *
 * Source: k8s.io/apiserver/pkg/endpoints/request RequestInfoFactory.
 */
function withSelectedName(attributes: RequestAttributes, { query }: Route): RequestAttributes {
  if (attributes.name !== '' || (attributes.verb !== 'list' && attributes.verb !== 'watch')) return attributes;
  const names = (query.get('fieldSelector') ?? '')
    .split(',')
    .flatMap((term) => /^metadata\.name==?([^=!]+)$/.exec(term)?.[1] ?? []);
  return names.length === 1 ? { ...attributes, name: names[0] ?? '' } : attributes;
}

/** A namespaced path is for namespaced kinds only; a cluster-wide one also lists and watches those. */
function fits(route: Route, type: { readonly namespaced: boolean; readonly plural: string; readonly custom: boolean }): boolean {
  if (type.plural === 'namespaces') return true;
  if (!type.namespaced) return route.namespace === '';
  if (route.namespace !== '') return true;
  if (route.name !== '') return false;
  return !type.custom || route.verb === 'list' || route.verb === 'watch' || route.verb === 'deletecollection';
}

const healthPaths = new Set(['/healthz', '/livez', '/readyz']);
const versionDocument = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.2',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'linux/amd64',
};
