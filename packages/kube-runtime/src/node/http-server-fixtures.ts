/** An HTTP server on this machine and a connection to it. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiConnection, type ApiConnectionSettings } from './api-connection.js';

export interface HttpServer {
  readonly url: string;
  readonly connection: ApiConnection;
  /** How many TCP connections there were. */
  readonly connected: () => number;
  /** Resolves when the server has none of them any more. */
  readonly disconnected: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface HttpServerSettings extends Partial<ApiConnectionSettings> {
  /** The URL of the connection. */
  readonly path?: string;
  readonly authorization?: () => Promise<string | undefined>;
}

/** A server whose connection sends `Bearer mine`, unless `authorization` is another. */
export async function serveHttp(
  handler: (request: http.IncomingMessage, response: http.ServerResponse) => unknown,
  { path = '', authorization = async () => 'Bearer mine', ...settings }: HttpServerSettings = {},
): Promise<HttpServer> {
  const server = http.createServer((request, response) => void handler(request, response));
  const closings: Promise<unknown>[] = [];
  server.on('connection', (socket) => closings.push(new Promise((resolve) => socket.on('close', resolve))));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connection = new ApiConnection(
    { server: `${url}${path}`, tls: {}, authorization, namespace: 'default' },
    { userAgent: 'test', ...settings },
  );
  return {
    url,
    connection,
    connected: () => closings.length,
    disconnected: async () => void (await Promise.all(closings)),
    close: async () => {
      connection.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with this status, these headers and this body: a text, or something else as JSON. */
export function answer(status: number, body: unknown = '', headers: http.OutgoingHttpHeaders = {}): http.RequestListener {
  return (_, response) => {
    response.writeHead(status, headers);
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}
