/**
 * The control socket of an agent: local, and for its own user only. Serving does not depend on it: an agent whose socket cannot
 * be opened still serves.
 */
import { chmodSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Logger } from '@vmdhcp/service-process';
import { type ControlAnswer, type ControlRequest, parseControlRequest } from './control-request.js';

const MOST_CONNECTIONS = 16;
const LONGEST_REQUEST = 4_096;
/** The time limit for the request; later, for the client to take each part of the response. */
const IDLE_MS = 10_000;

/** In pieces: the next one is produced when the last one has been taken. */
export type ControlOctets = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** The data after the first line, or why there is none. */
export type ControlContent = { readonly ok: true; readonly content: ControlOctets } | Extract<ControlAnswer, { ok: false }>;

export interface ControlServerSettings {
  readonly path: string;
  readonly logger: Logger;
  /** Makes the folder of the socket. @throws Error */
  readonly prepare?: (() => void) | undefined;
  /** @param signal - aborts when the connection ends, or the client wants no more. */
  readonly answer: (request: ControlRequest, signal: AbortSignal) => ControlContent;
}

/** Listens until `close` is called. Never rejects: errors of listening are logged. */
export async function startControlServer(settings: ControlServerSettings): Promise<{ readonly close: () => void }> {
  const { path, logger, prepare } = settings;
  const connections = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
    serve(socket, settings).catch(() => socket.destroy());
  });
  server.maxConnections = MOST_CONNECTIONS;
  try {
    prepare?.();
    await listen(server, path);
    server.on('error', (error) => logger.warn({ err: error }, 'the control socket failed'));
  } catch (error) {
    const consequence = '`vmdhcp-agent clients` cannot query this agent; clients are served nevertheless';
    logger.warn({ path, err: (error as Error).message }, `control socket cannot be opened: ${consequence}`);
  }
  return {
    close: () => {
      // Also removes the file.
      server.close();
      for (const socket of connections) socket.destroy();
    },
  };
}

async function serve(socket: Socket, { answer }: ControlServerSettings): Promise<void> {
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  const request = parseControlRequest(await firstLine(socket));
  const ended = new AbortController();
  for (const event of ['end', 'close']) socket.once(event, () => ended.abort());
  // Captured packets may arrive late.
  if (request?.ask === 'capture') socket.setTimeout(0);
  const answered =
    request === undefined
      ? { ok: false as const, problem: 'the agent does not know this request' }
      : answer(request, ended.signal);
  if (answered.ok) await pipeline(Readable.from(withFirstLine(answered.content)), socket);
  else socket.end(`${JSON.stringify(answered)}\n`);
}

async function* withFirstLine(content: ControlOctets): AsyncGenerator<string | Uint8Array> {
  yield '{"ok":true}\n';
  yield* content;
}

function firstLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed')));
    socket.on('data', (part: string) => {
      text += part;
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
      else if (text.length > LONGEST_REQUEST) reject(new Error('too long'));
    });
  });
}

/** Replaces the socket of an agent that has ended, but not of a running one. @throws Error */
async function listen(server: Server, path: string): Promise<void> {
  try {
    await listenOnce(server, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    if (await isAnswered(path)) throw new Error('another agent listens on it', { cause: error });
    unlinkSync(path);
    await listenOnce(server, path);
  }
  chmodSync(path, 0o600);
}

function listenOnce(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // The file is created during the call, and never has other permissions.
    const before = process.umask(0o177);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
    process.umask(before);
  });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.on('connect', () => end(true));
    socket.on('error', () => end(false));
  });
}
