import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Registry } from 'prom-client';
import { limitConnections } from './connection-limit.js';
import { CommandError, ExitCode } from './exit-code.js';
import { inSlices, joined } from './in-slices.js';
import { formatListenAddress, type ListenAddress } from './listen-address.js';
import { metricsText } from './metrics-text.js';

const MOST_CONNECTIONS = 64;
/** For a whole request, and between one answer and the next request. */
const REQUEST_MS = 2_000;
const CHECK_INTERVAL_MS = 250;
/** For each part of an answer to be taken. */
const ANSWER_MS = 5_000;

/** What the status server asks on each request. */
export interface StatusSources {
  /** Why the process is not ready, a line each; empty: it is. */
  readonly unready: () => readonly string[];
  /** What the process works without, a line each: it is ready all the same. */
  readonly lacks?: () => readonly string[];
  /** Why the process cannot do its task, a line each, so that it should be started again; empty, or not given: it can. */
  readonly unhealthy?: () => readonly string[];
  readonly registry: Registry;
  /** Further pages, by path; the page of a path that ends in `/` receives the rest of the path. */
  readonly pages?: Readonly<Record<string, StatusPage>>;
}

/** Answers requests for one path of the status server. */
export type StatusPage = (request: { readonly rest: string; readonly query: URLSearchParams }) => PageAnswer;

/** What a page of the status server answers. */
export interface PageAnswer {
  readonly status: number;
  readonly contentType: string;
  /** In pieces, so that much of it holds up nothing else. */
  readonly body: Iterable<string>;
}

/** A socket that listens already: the caller has decided from where it can be reached. */
export interface ListeningSocket {
  /** Its file descriptor, which the server closes. */
  readonly fd: number;
}

/**
 * Health, metrics and pages of a process over HTTP, read only. A connection without a whole request is closed after two seconds, and
 * the oldest one where there are too many, so that a probe always gets in.
 * @throws CommandError if the address cannot be listened on.
 */
export async function startStatusServer(where: ListenAddress | ListeningSocket, sources: StatusSources): Promise<Server> {
  // An `import` reads all that a module of Node exports, and of this one that loads fetch (undici), HTTP/2 and TLS: 50 ms and 6 MB.
  const { createServer } = process.getBuiltinModule('node:http');
  const times = { headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS, keepAliveTimeout: REQUEST_MS };
  const settings = { ...times, connectionsCheckingInterval: CHECK_INTERVAL_MS, maxHeaderSize: 8192 };
  const server = createServer(settings, (request, response) => {
    respond(request, response, sources).catch((error: unknown) => fail(response, error));
  });
  server.timeout = ANSWER_MS;
  limitConnections(server, MOST_CONNECTIONS);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const place = 'fd' in where ? `socket ${where.fd}` : formatListenAddress(where);
      const message = `cannot listen on ${place}: ${error.message}; give another --http, or --http off`;
      reject(new CommandError(message, ExitCode.unavailable));
    });
    server.listen(where, resolve);
  });
  return server;
}

async function respond(request: IncomingMessage, response: ServerResponse, sources: StatusSources): Promise<void> {
  const url = URL.parse(request.url ?? '/', 'http://status');
  if (url === null) {
    send(response, { status: 400, text: 'the request names no path\n' });
    return;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    send(response, { status: 405, text: 'only GET is known here\n' });
    return;
  }
  switch (url.pathname) {
    case '/healthz':
      sendReadiness(response, healthProblems(sources));
      return;
    case '/readyz':
      sendReadiness(response, sources.unready(), sources.lacks?.());
      return;
    case '/metrics':
      response.writeHead(200, { 'content-type': sources.registry.contentType });
      await pipeline(Readable.from(inSlices(metricsText(sources.registry))), response);
      return;
    default:
      await sendPage(response, url, sources.pages ?? {});
  }
}

async function sendPage(response: ServerResponse, url: URL, pages: Readonly<Record<string, StatusPage>>): Promise<void> {
  const path = Object.keys(pages).find((one) => (one.endsWith('/') ? url.pathname.startsWith(one) : url.pathname === one));
  const page = path === undefined ? undefined : pages[path];
  if (path === undefined || page === undefined) {
    const paths = ['/healthz', '/readyz', '/metrics', ...Object.keys(pages)];
    send(response, { status: 404, text: `nothing is here; there are ${paths.join(', ')}\n` });
    return;
  }
  const { status, contentType, body } = page({ rest: decoded(url.pathname.slice(path.length)), query: url.searchParams });
  response.writeHead(status, { 'content-type': contentType });
  await pipeline(Readable.from(inSlices(joined(body))), response);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function healthProblems({ unhealthy }: StatusSources): readonly string[] {
  return unhealthy?.() ?? [];
}

/** As upstream answers. */
const OK: Body = { status: 200, text: '{"ok":true}\n', contentType: 'application/json' };

function sendReadiness(response: ServerResponse, unready: readonly string[], lacks: readonly string[] = []): void {
  if (unready.length === 0) send(response, lacks.length === 0 ? OK : { ...OK, text: `${JSON.stringify({ ok: true, lacks })}\n` });
  else send(response, { status: 503, text: [...unready, ...lacks].map((line) => `${line}\n`).join('') });
}

/** Whatever goes wrong here costs one answer, never the process. */
function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy();
  else send(response, { status: 500, text: `${error instanceof Error ? error.message : error}\n` });
}

interface Body {
  readonly status: number;
  readonly text: string;
  readonly contentType?: string;
}

function send(response: ServerResponse, { status, text, contentType = 'text/plain' }: Body): void {
  response.writeHead(status, { 'content-type': contentType });
  response.end(text);
}
