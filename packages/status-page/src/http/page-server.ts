/** Serves the page on a socket: HTTP, or HTTPS with a certificate that can be replaced while it serves. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { CommandError, ExitCode, formatListenAddress, type ListenAddress, limitConnections } from '@vmdhcp/service-process';
import { PageHandler, type PageHandlerSettings } from './page-handler.js';
import { Places } from './places.js';

/** The certificate of the page, and its key, in PEM. */
export interface PageCertificate {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

/** Where the page listens, and with which certificate. */
export interface PageServerSettings extends PageHandlerSettings {
  readonly listen: ListenAddress;
  /** Undefined for HTTP without TLS, only for loopback addresses. */
  readonly certificate: PageCertificate | undefined;
}

const MOST_CONNECTIONS = 256;
/** The maximum connections of a peer, eight pages with up to six each; beyond that its own are closed first. */
const MOST_CONNECTIONS_OF_USER = 48;
const HEADERS_MS = 5_000;
const REQUEST_MS = 10_000;
const IDLE_MS = 30_000;
/** The time for each part of an answer to be read; keep-alives of event streams come more often. */
const ANSWER_MS = 60_000;

/** A page that is served. */
export class PageServer {
  readonly #server: NetServer & { setSecureContext?: (options: { cert: string; key: string }) => void };
  readonly #handler: PageHandler;

  private constructor(server: NetServer, handler: PageHandler) {
    this.#server = server;
    this.#handler = handler;
  }

  /** @throws CommandError if it cannot listen on the address. */
  static async start(settings: PageServerSettings): Promise<PageServer> {
    const handler = new PageHandler(settings);
    const times = { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, keepAliveTimeout: IDLE_MS };
    const server = createServer(settings.certificate, { ...times, maxHeaderSize: 16_384 });
    server.timeout = ANSWER_MS;
    keepThoseWhoLook(server, handler);
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        const message = `cannot listen on ${formatListenAddress(settings.listen)}: ${error.message}; give another --ui-listen`;
        reject(new CommandError(message, ExitCode.unavailable));
      });
      server.listen(settings.listen, resolve);
    });
    return new PageServer(server, handler);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The number of open pages. */
  get streams(): number {
    return this.#handler.streams;
  }

  /** Uses this certificate for new connections. */
  use({ certificate: cert, key }: PageCertificate): void {
    this.#server.setSecureContext?.({ cert, key });
  }

  /** Resolves when every connection is closed. */
  async stop(): Promise<void> {
    this.#handler.stop();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    (this.#server as Server).closeIdleConnections();
    const timer = setTimeout(() => (this.#server as Server).closeAllConnections(), STOP_MS);
    await closed;
    clearTimeout(timer);
  }
}

const STOP_MS = 3_000;

/** A flood of connections that are idle, have no token, or exceed a user's limit closes only its own: open pages stay. */
function keepThoseWhoLook(server: NetServer, handler: PageHandler): void {
  const connections = limitConnections(server, MOST_CONNECTIONS);
  const places = new Places<Socket>(MOST_CONNECTIONS_OF_USER);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    void handler.handle(request, response, (user) => {
      if (places.has(user, socket)) connections.keep(socket);
      else if (!socket.destroyed && places.take(user, socket)) {
        connections.keep(socket);
        socket.once('close', () => places.free(user, socket));
      }
    });
  });
}

function createServer(certificate: PageCertificate | undefined, times: Readonly<Record<string, number>>): Server {
  // Like in the status server, an `import` would load fetch and HTTP/2 too.
  if (certificate === undefined) return process.getBuiltinModule('node:http').createServer(times);
  const { certificate: cert, key } = certificate;
  const tls = { cert, key, handshakeTimeout: HEADERS_MS };
  return process.getBuiltinModule('node:https').createServer({ ...tls, ...times }) as unknown as Server;
}
