/** Runs a command in a container of a pod, as `kubectl exec` does, over a WebSocket of the API server. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { ClusterConnection } from '@vmdhcp/kube-runtime/node';
import { type RawData, WebSocket } from 'ws';
import { CHANNELS, EXEC_PROTOCOLS, exitCodeIn } from './exec-channels.js';
import { PodExecError, type PodName, refusalOf } from './pod-exec-error.js';

export interface ExecCommand extends PodName {
  /** Absent: the only container of the pod. */
  readonly container?: string;
  /** The program and its arguments. */
  readonly command: readonly string[];
}

export interface ExecSettings {
  /** If the command does not end within this time, it fails with `deadline`; default: no limit. */
  readonly timeoutMs?: number;
  /** Aborting ends the connection: the command fails with `aborted`. */
  readonly signal?: AbortSignal;
}

/** A command that runs in a pod: its output, and its exit code when it ends. */
export interface RunningCommand {
  /** Read both: the API server sends nothing more while one of them is full. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The exit code, after all output is read. Rejects with a PodExecError if the end of the command is not known. */
  readonly exited: Promise<number>;
  /** Closes the standard input of the command, so that it can end. Returns false if the API server is too old for that. */
  closeInput(): boolean;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** A connection that is silent for twice as long has ended. */
const PING_INTERVAL_MS = 20_000;
const MOST_MESSAGE_BYTES = 16 * 1024 * 1024;
const MOST_REFUSAL_BYTES = 64 * 1024;

/** Resolves when the API server has accepted the command. @throws PodExecError if it does not. */
export async function execInPod(
  cluster: ClusterConnection,
  command: ExecCommand,
  { timeoutMs, signal }: ExecSettings = {},
): Promise<RunningCommand> {
  const deadline = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const ending = AbortSignal.any([signal, deadline].filter((one) => one !== undefined));
  const seconds = Math.round((timeoutMs ?? 0) / 1000);
  const endingError = (): PodExecError =>
    deadline?.aborted === true
      ? new PodExecError('deadline', `pod ${command.namespace}/${command.pod} did not answer within ${seconds} s`)
      : new PodExecError('aborted', 'the command was aborted');
  if (ending.aborted) throw endingError();
  const socket = await openSocket(cluster, command);
  const running = new PodCommand(socket, command);
  const end = (): void => running.fail(endingError());
  ending.addEventListener('abort', end, { once: true });
  if (ending.aborted) end();
  void running.exited.catch(() => undefined).finally(() => ending.removeEventListener('abort', end));
  await running.opened;
  return running;
}

async function openSocket(cluster: ClusterConnection, command: ExecCommand): Promise<WebSocket> {
  const authorization = await cluster.authorization();
  return new WebSocket(urlOf(cluster.server, command), [...EXEC_PROTOCOLS], {
    ...cluster.tls,
    ...(cluster.ca && { ca: await cluster.ca() }),
    ...(await cluster.clientCertificate?.()),
    headers: { ...cluster.headers, 'user-agent': 'kubectl-vmdhcp', ...(authorization !== undefined && { authorization }) },
    handshakeTimeout: CONNECT_TIMEOUT_MS,
    maxPayload: MOST_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
}

function urlOf(server: string, { namespace, pod, container, command }: ExecCommand): string {
  const query = new URLSearchParams({ stdin: 'true', stdout: 'true', stderr: 'true' });
  for (const word of command) query.append('command', word);
  if (container !== undefined) query.append('container', container);
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/exec`;
  return `${server.replace(/^http/, 'ws').replace(/\/+$/, '')}${path}?${query}`;
}

class PodCommand implements RunningCommand {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<number>;
  /** Rejects like `exited`. */
  readonly opened: Promise<void>;
  readonly #socket: WebSocket;
  readonly #pod: PodName;
  readonly #opening = Promise.withResolvers<void>();
  readonly #ending = Promise.withResolvers<number>();
  readonly #full = new Set<Readable>();
  #isOver = false;
  #isAlive = true;

  constructor(socket: WebSocket, pod: PodName) {
    this.#socket = socket;
    this.#pod = pod;
    this.stdout = this.#output();
    this.stderr = this.#output();
    this.opened = this.#opening.promise;
    this.exited = this.#ending.promise;
    // A caller that waits for one of them gets the error; callers need not wait for both.
    this.opened.catch(() => undefined);
    this.exited.catch(() => undefined);
    this.#listen();
  }

  closeInput(): boolean {
    if (this.#socket.protocol !== EXEC_PROTOCOLS[0] || this.#isOver) return false;
    this.#socket.send(Buffer.of(CHANNELS.close, CHANNELS.stdin));
    return true;
  }

  /** Ends the connection. Received output stays readable. */
  fail(error: PodExecError): void {
    if (this.#isOver) return;
    this.#finish();
    this.#opening.reject(error);
    this.#ending.reject(error);
    this.#socket.terminate();
  }

  #listen(): void {
    const where = `${this.#pod.namespace}/${this.#pod.pod}`;
    this.#socket.on('open', () => {
      this.#opening.resolve();
      this.#watchConnection();
    });
    this.#socket.on('unexpected-response', (_request, response) => void this.#refuse(response));
    this.#socket.on('error', (error) => {
      const isOpen = this.#socket.protocol !== '';
      this.fail(
        new PodExecError(isOpen ? 'connection-ended' : 'unreachable', `cannot query pod ${where}: ${error.message}`, error),
      );
    });
    this.#socket.on('message', (data) => this.#receive(data));
    this.#socket.on('close', () => {
      this.fail(new PodExecError('connection-ended', `the API server ended the connection to pod ${where}; try again`));
    });
    this.#socket.on('pong', () => {
      this.#isAlive = true;
    });
  }

  async #refuse(response: IncomingMessage): Promise<void> {
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > MOST_REFUSAL_BYTES) break;
        chunks.push(chunk);
      }
    } catch {
      // Its status is enough.
    }
    this.fail(refusalOf(response.statusCode ?? 0, Buffer.concat(chunks).toString('utf8'), this.#pod));
  }

  #receive(data: RawData): void {
    if (this.#isOver) return;
    this.#isAlive = true;
    const message = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
    const content = message.subarray(1);
    // Servers first send an empty message on each channel.
    if (content.length === 0) return;
    if (message[0] === CHANNELS.stdout) this.#push(this.stdout, content);
    if (message[0] === CHANNELS.stderr) this.#push(this.stderr, content);
    if (message[0] === CHANNELS.status) this.#end(content.toString('utf8'));
  }

  #end(status: string): void {
    try {
      const exitCode = exitCodeIn(status, this.#pod);
      this.#finish();
      this.#ending.resolve(exitCode);
      this.#socket.close();
    } catch (error) {
      this.fail(error as PodExecError);
    }
  }

  #finish(): void {
    this.#isOver = true;
    this.stdout.push(null);
    this.stderr.push(null);
  }

  #output(): Readable {
    const output: Readable = new Readable({
      read: () => {
        this.#full.delete(output);
        if (this.#full.size === 0 && this.#socket.isPaused) this.#socket.resume();
      },
    });
    return output;
  }

  #push(output: Readable, content: Buffer): void {
    if (output.push(content)) return;
    this.#full.add(output);
    this.#socket.pause();
  }

  /** A peer that vanished sends no close. While this side pauses the connection, silence is ignored. */
  #watchConnection(): void {
    const timer = setInterval(() => {
      if (this.#isOver) return clearInterval(timer);
      if (this.#socket.isPaused) return;
      if (!this.#isAlive) this.#socket.terminate();
      this.#isAlive = false;
      this.#socket.ping();
    }, PING_INTERVAL_MS);
    this.#socket.once('close', () => clearInterval(timer));
  }
}
