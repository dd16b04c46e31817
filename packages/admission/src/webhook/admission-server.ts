/** Responds to AdmissionReviews over HTTPS. Certificates are replaced while it serves; open connections stay open. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Pair } from '@vmdhcp/service-certificates';
import {
  CommandError,
  type ConnectionLimit,
  ExitCode,
  formatListenAddress,
  type ListenAddress,
  limitConnections,
} from '@vmdhcp/service-process';
import { type AdmissionAnswer, decodeReview, encodeAnswer, type ReceivedReview } from './admission-message.js';
import { BodyBudget, type HeldBody } from './body-budget.js';
import { FairTurns } from './fair-turns.js';

/** The kind of request: fill in defaults, or decide. */
export type AdmissionPath = 'defaulting' | 'validation';

/** Decides. If it throws, the response is HTTP 500, and the failurePolicy of the webhook decides. */
export type AdmissionReviewer = (path: AdmissionPath, review: ReceivedReview) => AdmissionAnswer | Promise<AdmissionAnswer>;

export interface AdmissionDecision {
  readonly path: AdmissionPath;
  readonly resource: string;
  readonly operation: string;
  readonly outcome: 'allowed' | 'refused' | 'failed';
  readonly durationMs: number;
}

export interface AdmissionServerSettings {
  readonly listen: ListenAddress;
  readonly certificate: Pair;
  readonly review: AdmissionReviewer;
  readonly onDecided: (decision: AdmissionDecision, review: ReceivedReview, answer: AdmissionAnswer | undefined) => void;
  /** A request that is not an AdmissionReview was refused. */
  readonly onMalformed: (message: string) => void;
  readonly onError: (error: unknown) => void;
}

/** The same as upstream. */
export const ADMISSION_PATHS: Readonly<Record<AdmissionPath, string>> = {
  defaulting: '/v1/webhook/mutation',
  validation: '/v1/webhook/validation',
};

/** The API server sends an object and its previous version; etcd accepts 1.5 MiB of each. */
const MOST_BODY_OCTETS = 3 * 1024 * 1024;
/** For all unanswered requests: any pod can send some, and memory is limited. */
const MOST_OCTETS_AT_ONCE = 32 * 1024 * 1024;
/** The memory that each part of a body takes, however small the part is. */
const PART_OCTETS = 256;
const MOST_CONNECTIONS = 256;
const HANDSHAKE_MS = 5_000;
/** The API server waits five seconds for the response, and sends the whole request at once: a slower request is not from it. */
const REQUEST_MS = 3_000;
/** How often Node checks for slow requests; its default is half a minute. */
const LOOK_FOR_SLOW_MS = 500;
/**
 * The API server closes an idle connection after 90 s. It must close first, otherwise a request may meet a connection that is
 * closing.
 */
const IDLE_MS = 120_000;
const STOP_MS = 10_000;

const CUT = `the AdmissionReview was cut: requests in progress have more than ${MOST_OCTETS_AT_ONCE} octets, and most of them are from its address`;
const INCOMPLETE = `the AdmissionReview did not come completely: the connection ended, or ${REQUEST_MS / 1000} s were over`;

/** Why a request is not decided. */
interface Refusal {
  readonly status: number;
  readonly message: string;
}

export class AdmissionServer {
  readonly #server: Server;
  readonly #settings: AdmissionServerSettings;
  /** Any pod can open connections: those that brought a decision are closed last. */
  readonly #connections: ConnectionLimit;
  readonly #bodies = new BodyBudget(MOST_OCTETS_AT_ONCE);
  readonly #turns = new FairTurns();
  /** The response to the last request of each connection. */
  readonly #lastAnswer = new WeakMap<Socket, ServerResponse>();
  #isStopping = false;

  private constructor(server: Server, settings: AdmissionServerSettings) {
    this.#server = server;
    this.#settings = settings;
    this.#connections = limitConnections(server, MOST_CONNECTIONS);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      // The API server waits for a response before its next request: otherwise unlimited requests would fit into one connection.
      // The next request may arrive before 'finish' or 'close' of the previous response.
      if (this.#lastAnswer.get(socket)?.writableEnded === false) {
        socket.destroy();
        return;
      }
      this.#lastAnswer.set(socket, response);
      this.#respond(request, response).catch((error: unknown) => this.#fail(response, error));
    });
  }

  /** @throws CommandError if it cannot listen on the address. */
  static async start(settings: AdmissionServerSettings): Promise<AdmissionServer> {
    // Like the status server: an `import` would also load fetch and HTTP/2.
    const { createServer } = process.getBuiltinModule('node:https');
    const server = createServer({
      ...toTls(settings.certificate),
      headersTimeout: REQUEST_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: LOOK_FOR_SLOW_MS,
      keepAliveTimeout: IDLE_MS,
      handshakeTimeout: HANDSHAKE_MS,
    });
    const started = new AdmissionServer(server, settings);
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        const message = `cannot listen on ${formatListenAddress(settings.listen)}: ${error.message}; give another --listen`;
        reject(new CommandError(message, ExitCode.unavailable));
      });
      server.listen(settings.listen, resolve);
    });
    return started;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Sets the certificate of new connections. */
  use(certificate: Pair): void {
    this.#server.setSecureContext(toTls(certificate));
  }

  /** Serves for this long, and tells clients with each response to open another connection, which goes to another replica. */
  async drain(durationMs: number): Promise<void> {
    this.#isStopping = true;
    await new Promise((resolve) => setTimeout(resolve, durationMs));
  }

  /** Stops accepting connections; resolves when requests in progress are answered, or after ten seconds. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const timer = setTimeout(() => this.#server.closeAllConnections(), STOP_MS);
    await closed;
    clearTimeout(timer);
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#isStopping) response.setHeader('connection', 'close');
    const path = pathOf(request.url ?? '');
    if (path === undefined) {
      send(response, 404, `nothing is here; there are ${Object.values(ADMISSION_PATHS).join(' and ')}\n`);
      return;
    }
    if (request.method !== 'POST') {
      send(response, 405, 'only POST is allowed here\n');
      return;
    }
    const address = request.socket.remoteAddress ?? '';
    const held = this.#bodies.hold(address, () => request.destroy(new Error(CUT)));
    try {
      const body = await this.#read(request, held);
      if (typeof body !== 'string') {
        this.#refuse(response, body.status, body.message);
        return;
      }
      await this.#turns.take(address);
      // A client that disconnected meanwhile needs no decision.
      if (!response.destroyed) await this.#answer(response, path, body);
    } finally {
      held.release();
    }
  }

  async #read(request: IncomingMessage, held: HeldBody): Promise<string | Refusal> {
    const parts: Buffer[] = [];
    let size = 0;
    try {
      for await (const part of request as AsyncIterable<Buffer>) {
        size += part.length;
        if (size > MOST_BODY_OCTETS)
          return { status: 413, message: `the AdmissionReview is larger than ${MOST_BODY_OCTETS} octets` };
        parts.push(part);
        held.add(part.length + PART_OCTETS);
      }
    } catch (error) {
      const wasCut = error instanceof Error && error.message === CUT;
      return { status: wasCut ? 503 : 408, message: wasCut ? CUT : INCOMPLETE };
    }
    held.complete();
    return Buffer.concat(parts).toString('utf8');
  }

  async #answer(response: ServerResponse, path: AdmissionPath, body: string): Promise<void> {
    const decoded = decodeReview(body);
    if (!decoded.ok) {
      this.#refuse(response, 400, decoded.message);
      return;
    }
    const { review } = decoded;
    const startedAtMs = performance.now();
    const report = (outcome: AdmissionDecision['outcome'], answer?: AdmissionAnswer) => {
      const about = { path, resource: review.resource, operation: review.request.operation, outcome };
      this.#settings.onDecided({ ...about, durationMs: performance.now() - startedAtMs }, review, answer);
    };
    try {
      const answer = await this.#settings.review(path, review);
      this.#connections.keep(response.req.socket);
      send(response, 200, encodeAnswer(review.uid, answer));
      report(answer.response.allowed ? 'allowed' : 'refused', answer);
    } catch (error) {
      report('failed');
      throw error;
    }
  }

  #refuse(response: ServerResponse, status: number, message: string): void {
    this.#settings.onMalformed(message);
    // The rest of the body is not read.
    if (status !== 400) response.setHeader('connection', 'close');
    send(response, status, `${message}\n`);
  }

  /** A failure affects one response, never the process. */
  #fail(response: ServerResponse, error: unknown): void {
    this.#settings.onError(error);
    if (response.headersSent) response.destroy();
    else send(response, 500, `no decision: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

/** The API server adds its time-out as a query. */
function pathOf(url: string): AdmissionPath | undefined {
  const [path] = url.split('?', 1);
  return (Object.keys(ADMISSION_PATHS) as AdmissionPath[]).find((name) => ADMISSION_PATHS[name] === path);
}

function toTls({ certificate: cert, key }: Pair): { readonly cert: string; readonly key: string } {
  return { cert, key };
}

function send(response: ServerResponse, status: number, text: string): void {
  const contentType = status === 200 ? 'application/json' : 'text/plain';
  response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
