import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Registry } from 'prom-client';
import { CommandError, ExitCode } from '../exit-code.js';
import type { LeaseView } from '../serve/lease-view.js';
import type { UnservedPool } from '../serve/readiness.js';

export interface StatusSources {
  readonly unserved: () => readonly UnservedPool[];
  readonly registry: Registry;
  readonly leases: () => Iterable<LeaseView>;
}

/** Where to listen. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Leases written before the event loop gets its turn. */
const LEASES_PER_CHUNK = 500;
const PATHS = ['/healthz', '/readyz', '/metrics', '/leases'];

/** Health, metrics and leases over HTTP, read only. @throws CommandError if the address cannot be listened on. */
export async function startStatusServer({ host, port }: ListenAddress, sources: StatusSources): Promise<Server> {
  const server = createServer({ requestTimeout: 10_000, maxHeaderSize: 8192 }, (request, response) => {
    respond(request, response, sources).catch((error: unknown) => fail(response, error));
  });
  server.maxConnections = 64;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(
        new CommandError(
          `cannot listen on ${host}:${port}: ${error.message}; give another --http, or --http off`,
          ExitCode.unavailable,
        ),
      );
    });
    server.listen(port, host, resolve);
  });
  return server;
}

async function respond(request: IncomingMessage, response: ServerResponse, sources: StatusSources): Promise<void> {
  const url = URL.parse(request.url ?? '/', 'http://agent');
  if (url === null) {
    send(response, { status: 400, text: 'the request names no path\n' });
    return;
  }
  const { pathname, searchParams } = url;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    send(response, { status: 405, text: 'only GET is known here\n' });
    return;
  }
  switch (pathname) {
    case '/healthz':
      send(response, { status: 200, text: 'ok\n' });
      return;
    case '/readyz':
      sendReadiness(response, sources.unserved());
      return;
    case '/metrics':
      send(response, { status: 200, text: await sources.registry.metrics(), contentType: sources.registry.contentType });
      return;
    case '/leases':
      response.writeHead(200, { 'content-type': 'application/json' });
      await pipeline(Readable.from(leaseChunks(sources.leases(), searchParams.get('pool'))), response);
      return;
    default:
      send(response, { status: 404, text: `nothing is here; there are ${PATHS.join(', ')}\n` });
  }
}

function sendReadiness(response: ServerResponse, unserved: readonly UnservedPool[]): void {
  if (unserved.length === 0) send(response, { status: 200, text: 'ok\n' });
  else send(response, { status: 503, text: unserved.map(({ pool, reason }) => `${pool}: ${reason}\n`).join('') });
}

/** Whatever goes wrong here costs one answer, never the DHCP server. */
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

/** A JSON array in pieces, so that a hundred thousand leases hold up no packet. */
function* leaseChunks(leases: Iterable<LeaseView>, pool: string | null): Generator<string> {
  let chunk = '[';
  let count = 0;
  for (const lease of leases) {
    if (pool !== null && lease.pool !== pool) continue;
    chunk += `${count === 0 ? '' : ','}\n${JSON.stringify(lease)}`;
    if (++count % LEASES_PER_CHUNK === 0) {
      yield chunk;
      chunk = '';
    }
  }
  yield `${chunk}\n]\n`;
}
