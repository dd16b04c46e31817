/** HTTP to a Kubernetes API: requests with JSON answers, and watches with lines. */
import type http from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { NotLeadingError } from '../election/fenced-client.js';
import type { ClusterConnection } from './cluster-connection.js';
import { messageOf } from './message-of.js';

/** The server answered with an error, or not at all. If `status` is undefined or 5xx, a write may have happened. */
export class ApiRequestError extends Error {
  readonly code = 'ERR_API_REQUEST';
  /** The HTTP status; undefined if there was no answer. */
  readonly status: number | undefined;
  /** The reason in the server's Status, such as `AlreadyExists`. */
  readonly reason: string | undefined;
  /** The delay of the server's `Retry-After`. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    facts: { readonly status?: number; readonly reason?: string; readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: facts.cause });
    this.status = facts.status;
    this.reason = facts.reason;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** The `cause` of an `ApiRequestError` for an answer that is longer than allowed. */
export class AnswerTooLongError extends Error {}

/** One request to the API server. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With query. */
  readonly path: string;
  readonly body?: unknown;
  /** Default: application/json. */
  readonly contentType?: string;
  /** Default: application/json. */
  readonly accept?: string;
  /** Called when there is a token, and again when there is a connection. If it returns false, nothing is sent (`NotLeadingError`). */
  readonly mayBegin?: () => boolean;
}

/** Called for each request, for metrics. `status` is 0 if there was no answer. `date` is the Date header of the answer, by the server's clock. */
export type RequestObserver = (request: {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly date?: string;
}) => void;

/** How requests name themselves, how long they may take, and who counts them. */
export interface ApiConnectionSettings {
  /** Sent as User-Agent: it names the field manager and shows in audit logs. */
  readonly userAgent: string;
  /** A request without an answer fails after this time; default 30 seconds. */
  readonly timeoutMs?: number;
  /** The answer to a request may have this many octets; default: any number. Other users of a cluster may make objects large. */
  readonly mostAnswerOctets?: number;
  readonly onRequest?: RequestObserver;
}

/** The part of a connection that clients of objects and Leases need. */
export type ApiTransport = Pick<ApiConnection, 'request' | 'stream'>;

const TIMEOUT_MS = 30_000;
const MOST_SOCKETS = 32;
const KEEP_ALIVE_MS = 30_000;

/** Connections to one API server, with the credentials of a kubeconfig or of a pod: requests with JSON answers, and watches with lines. */
export class ApiConnection {
  readonly namespace: string;
  readonly #cluster: ClusterConnection;
  readonly #settings: ApiConnectionSettings;
  readonly #server: URL;
  readonly #request: HttpClient['request'];
  readonly #agent: http.Agent;
  /** Watches hold their connections for minutes, so they must not use those of requests. */
  readonly #watchAgent: http.Agent;

  constructor(cluster: ClusterConnection, settings: ApiConnectionSettings) {
    this.#cluster = cluster;
    this.#settings = settings;
    this.#server = new URL(cluster.server);
    this.namespace = cluster.namespace;
    const { createAgent, request } = clientOf(this.#server.protocol, cluster.tls);
    const create = (maxSockets: number) =>
      createAgent({ keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, maxSockets, noDelay: true });
    this.#request = request;
    this.#agent = create(MOST_SOCKETS);
    this.#watchAgent = create(Number.POSITIVE_INFINITY);
  }

  /** The answer's JSON. @throws ApiRequestError for every error status, and if there is no answer. */
  async request(request: ApiRequest): Promise<unknown> {
    const begunAtMs = performance.now();
    const { status, headers, body } = await this.#send(request).catch((error: unknown) => {
      this.#observe(request, { status: 0 }, begunAtMs);
      if (error instanceof NotLeadingError) throw error;
      throw new ApiRequestError(`${request.method} ${pathOnly(request.path)}: ${messageOf(error)}`, { cause: error });
    });
    this.#observe(request, { status, date: headers.date }, begunAtMs);
    if (status >= 200 && status < 300) return parseBody(request, body.toString('utf8'));
    throw toError(request, { status, headers, body: body.toString('utf8') });
  }

  /**
   * Reads an answer line by line. Returns a function that ends it; after that no handler is called.
   *
   * @param handlers.onEnd - called once; without an error if the answer ended normally.
   */
  stream(
    { path, accept }: Pick<ApiRequest, 'path' | 'accept'>,
    handlers: { readonly onLine: (line: string) => void; readonly onEnd: (error?: unknown) => void },
  ): () => void {
    const opening = new AbortController();
    const { timeoutMs = TIMEOUT_MS } = this.#settings;
    const timer = setTimeout(() => {
      opening.abort(new Error(`no answer within ${timeoutMs} ms`));
      this.#closeIdle();
    }, timeoutMs);
    let isOver = false;
    let close = () => opening.abort();
    const end = (error?: unknown) => {
      clearTimeout(timer);
      if (isOver) return;
      isOver = true;
      handlers.onEnd(error);
    };
    this.#openStream({ method: 'GET', path, ...(accept && { accept }) }, opening.signal).then((response) => {
      clearTimeout(timer);
      // Not by the request's signal: that would fail a socket which may already serve another request.
      close = () => response.destroy();
      if (isOver) close();
      const lines = new LineSplitter((line) => {
        if (!isOver) handlers.onLine(line);
      });
      response.on('data', (chunk: Buffer) => lines.push(chunk));
      response.on('end', () => end());
      response.on('error', end);
      response.on('close', () => end());
    }, end);
    return () => {
      isOver = true;
      clearTimeout(timer);
      close();
    };
  }

  close(): void {
    this.#agent.destroy();
    this.#watchAgent.destroy();
  }

  async #openStream(request: ApiRequest, signal: AbortSignal): Promise<http.IncomingMessage> {
    const credentials = await this.#credentials(signal);
    const response = await this.#open(request, { agent: this.#watchAgent, signal, credentials });
    const { statusCode: status = 0, headers } = response;
    if (status === 200) return response;
    // For the next watch.
    if (status === 401) this.#cluster.forget?.();
    throw toError(request, { status, headers, body: (await readAll(response)).toString('utf8') });
  }

  async #send(request: ApiRequest): Promise<Answer> {
    const { timeoutMs = TIMEOUT_MS } = this.#settings;
    const signal = AbortSignal.timeout(Math.ceil(timeoutMs));
    try {
      const credentials = await this.#credentials(signal);
      const answer = await this.#exchange(request, signal, credentials);
      if (answer.status !== 401 || this.#cluster.forget === undefined) return answer;
      this.#cluster.forget();
      const renewed = await this.#credentials(signal);
      return isDeepStrictEqual(renewed, credentials) ? answer : await this.#exchange(request, signal, renewed);
    } catch (error) {
      if (signal.aborted) this.#closeIdle();
      throw error;
    }
  }

  async #exchange(request: ApiRequest, signal: AbortSignal, credentials: Credentials): Promise<Answer> {
    const response = await this.#open(request, { agent: this.#agent, signal, credentials });
    const body = await readAll(response, this.#settings.mostAnswerOctets);
    return { status: response.statusCode ?? 0, headers: response.headers, body };
  }

  /** A peer that did not answer may have vanished: then every idle connection to it would cost another time limit. */
  #closeIdle(): void {
    for (const { freeSockets } of [this.#agent, this.#watchAgent])
      for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
  }

  async #open(
    { method, path, body, contentType = 'application/json', accept = 'application/json', mayBegin = () => true }: ApiRequest,
    {
      agent,
      signal,
      credentials,
    }: { readonly agent: http.Agent; readonly signal: AbortSignal; readonly credentials: Credentials },
  ): Promise<http.IncomingMessage> {
    const { authorization, ...tls } = credentials;
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = {
      ...this.#cluster.headers,
      accept,
      'user-agent': this.#settings.userAgent,
      ...(authorization !== undefined && { authorization }),
      ...(payload !== undefined && { 'content-type': contentType, 'content-length': payload.length }),
    };
    const { hostname, port, pathname } = this.#server;
    const options = {
      method,
      agent,
      signal,
      headers,
      // A new CA, or a new client certificate, needs new connections.
      ...tls,
      port,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      path: `${pathname.replace(/\/$/, '')}${path}`,
    };
    if (!mayBegin()) throw new NotLeadingError();
    return await new Promise((resolve, reject) => {
      const request = this.#request(options, resolve);
      request.on('error', reject);
      request.on('socket', () => {
        if (!mayBegin()) request.destroy(new NotLeadingError());
      });
      request.end(payload);
    });
  }

  /** @throws if they do not come before the request is aborted. */
  async #credentials(signal: AbortSignal): Promise<Credentials> {
    const { timeoutMs = TIMEOUT_MS } = this.#settings;
    const read = async () => {
      const authorization = await this.#cluster.authorization();
      const ca = await this.#cluster.ca?.();
      return { authorization, ...(ca !== undefined && { ca }), ...(await this.#cluster.clientCertificate?.()) };
    };
    const message = `no credentials within ${timeoutMs} ms: an exec plugin of the kubeconfig may wait for something`;
    return await beforeAbort(read(), signal, message);
  }

  #observe(
    { method, path }: ApiRequest,
    answer: { readonly status: number; readonly date?: string | undefined },
    begunAtMs: number,
  ): void {
    const { status, date } = answer;
    const durationMs = performance.now() - begunAtMs;
    this.#settings.onRequest?.({ method, path: pathOnly(path), status, durationMs, ...(date !== undefined && { date }) });
  }
}

interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What a request says about its client, and which CA it trusts. */
type Credentials = { readonly authorization: string | undefined } & Pick<ClusterConnection['tls'], 'ca' | 'cert' | 'key'>;

/** The value, if it comes before the signal. @throws Error with this message otherwise. */
function beforeAbort<Value>(value: Promise<Value>, signal: AbortSignal, message: string): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error(message));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

interface HttpClient {
  readonly createAgent: (options: http.AgentOptions & { readonly noDelay: boolean }) => http.Agent;
  readonly request: (options: http.RequestOptions, onResponse: (response: http.IncomingMessage) => void) => http.ClientRequest;
}

/** Not by `import`, which evaluates every export of a Node module: for `node:http` that loads fetch (undici) and HTTP/2, 40 ms and 3 MB. */
function clientOf(protocol: string, tls: ClusterConnection['tls']): HttpClient {
  if (protocol === 'http:') {
    const { Agent, request } = process.getBuiltinModule('node:http');
    return { createAgent: (options) => new Agent(options), request };
  }
  const { Agent, request } = process.getBuiltinModule('node:https');
  return { createAgent: (options) => new Agent({ ...options, ...tls }), request };
}

/** Not by `for await`, which costs as much as the rest of a small answer. */
function readAll(response: http.IncomingMessage, most = Number.POSITIVE_INFINITY): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let octets = 0;
    response.on('data', (chunk: Buffer) => {
      octets += chunk.length;
      if (octets > most) response.destroy(new AnswerTooLongError(`the answer has more than ${most} octets`));
      else chunks.push(chunk);
    });
    response.on('end', () => resolve(Buffer.concat(chunks)));
    response.on('error', reject);
    response.on('close', () => reject(new Error('the connection was closed before the end of the answer')));
  });
}

interface Refusal {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

function toError({ method, path }: ApiRequest, { status, headers, body }: Refusal): ApiRequestError {
  const { reason, message } = parseStatus(body);
  const seconds = Number(headers['retry-after']);
  const redirect = headers.location && `redirect to ${headers.location}: no API server does that`;
  const text = message ?? (redirect ?? body.trim()).slice(0, 200);
  return new ApiRequestError(`${method} ${pathOnly(path)}: ${status} ${text || `HTTP ${status}`}`, {
    status,
    ...(reason !== undefined && { reason }),
    // A date, or a missing header, is not a number.
    ...(Number.isFinite(seconds) && { retryAfterMs: seconds * 1000 }),
  });
}

/** Proxies and sign-in pages answer 200 too. */
function parseBody({ method, path }: ApiRequest, body: string): unknown {
  if (body === '') return undefined;
  try {
    return JSON.parse(body);
  } catch (error) {
    const start = JSON.stringify(body.trim().slice(0, 100));
    throw new ApiRequestError(`${method} ${pathOnly(path)}: the answer is not JSON: ${start}`, { cause: error });
  }
}

function parseStatus(body: string): { readonly reason?: string; readonly message?: string } {
  try {
    const { reason, message } = JSON.parse(body) as { reason?: unknown; message?: unknown };
    return { ...(typeof reason === 'string' && { reason }), ...(typeof message === 'string' && { message }) };
  } catch {
    return {};
  }
}

function pathOnly(path: string): string {
  return path.split('?', 1)[0] ?? path;
}

/** Splits chunks, which may end anywhere, into lines. */
class LineSplitter {
  readonly #onLine: (line: string) => void;
  #pending: Buffer[] = [];

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...this.#pending, chunk.subarray(start, end)]).toString('utf8');
      this.#pending = [];
      start = end + 1;
      if (line.trim() !== '') this.#onLine(line);
    }
    if (start < chunk.length) this.#pending.push(chunk.subarray(start));
  }
}
