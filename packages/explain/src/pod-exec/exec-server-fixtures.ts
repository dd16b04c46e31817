/** A server with the protocol of `pods/exec` whose replies the test decides. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { ClusterConnection } from '@vmdhcp/kube-runtime/node';
import { type WebSocket, WebSocketServer } from 'ws';

export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
}

/** A self-signed certificate. */
export function selfSigned(name: string): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'pod-exec-'));
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  const parameters = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', [...parameters, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  const made = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(folder, { recursive: true });
  return made;
}

/** How the server handles one request. */
export interface Exchange {
  readonly request: IncomingMessage;
  /** Opens the WebSocket. */
  readonly accept: () => Promise<WebSocket>;
  /** Responds without a WebSocket. */
  readonly refuse: (status: number, body: string) => void;
}

export interface ExecServerSettings {
  readonly protocol?: string;
  readonly tls?: https.ServerOptions;
}

export interface ExecServer {
  readonly cluster: ClusterConnection;
  readonly close: () => Promise<void>;
}

/** @param answer - called for each request. */
export async function execServer(
  answer: (exchange: Exchange) => Promise<void> | void,
  { protocol = 'v5.channel.k8s.io', tls }: ExecServerSettings = {},
): Promise<ExecServer> {
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => protocol });
  const server = tls === undefined ? http.createServer() : https.createServer(tls);
  const open = new Set<Duplex>();
  server.on('upgrade', (request, socket, head) => {
    open.add(socket);
    const accept = () => new Promise<WebSocket>((resolve) => sockets.handleUpgrade(request, socket, head, resolve));
    const refuse = (status: number, body: string) => {
      socket.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`);
    };
    void answer({ request, accept, refuse });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const cluster = {
    server: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    tls: {},
    authorization: async () => 'Bearer token-of-web',
    namespace: 'default',
  };
  const close = async () => {
    for (const socket of open) socket.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { cluster, close };
}

export const SUCCESS = JSON.stringify({ metadata: {}, status: 'Success' });

/** The message of a server for a command that ended with this exit code. */
export function exitStatus(exitCode: number): string {
  const details = { causes: [{ reason: 'ExitCode', message: String(exitCode) }] };
  return JSON.stringify({ metadata: {}, status: 'Failure', reason: 'NonZeroExitCode', message: 'command terminated', details });
}

export function sendOn(socket: WebSocket, channel: number, content: string | Buffer): void {
  socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(content)]));
}
