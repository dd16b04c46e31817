import type { Readable } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import { internalError, statusOf } from '../failures.js';
import { channels, type ExecProtocol, statusOfExit } from './exec-channels.js';
import type { ExecProcess } from './exec-in-pod.js';

/** What the client asked for. */
export interface ExecStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

export interface ExecSettings {
  readonly streams: ExecStreams;
  readonly protocol: ExecProtocol;
}

const normalClosure = 1000;

/** One command over one WebSocket, from its start to its Status. */
export class ExecSession {
  readonly #socket: WebSocket;
  readonly #settings: ExecSettings;
  #process: ExecProcess | undefined;

  constructor(socket: WebSocket, settings: ExecSettings) {
    this.#socket = socket;
    this.#settings = settings;
    // A broken connection counts as a client that disconnects: `close` follows.
    socket.on('error', () => undefined);
  }

  /** Fulfilled when the WebSocket is closed. */
  async run(start: () => ExecProcess | Promise<ExecProcess>): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#socket.once('close', () => resolve());
    });
    try {
      const started = await start();
      this.#process = started;
      void closed.then(() => leave(started));
      await this.#serve(started);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      await this.#send(channels.status, Buffer.from(JSON.stringify(statusOf(internalError(`Internal error occurred: ${text}`)))));
    }
    this.#socket.close(normalClosure);
    await closed;
  }

  /** Ends the process, and breaks the connection. */
  stop(): void {
    this.#process?.kill();
    this.#socket.terminate();
  }

  async #serve(started: ExecProcess): Promise<void> {
    const { streams } = this.#settings;
    started.stdin.on('error', () => undefined);
    if (streams.stdin) this.#socket.on('message', (data) => this.#receive(started, data));
    else started.stdin.end();
    await Promise.all([
      this.#forward(started.stdout, streams.stdout ? channels.stdout : undefined),
      this.#forward(started.stderr, streams.stderr ? channels.stderr : undefined),
    ]);
    await this.#send(channels.status, Buffer.from(JSON.stringify(statusOfExit(await started.exited))));
  }

  /** A process writes no faster than the client reads. @param channel - undefined: the client did not ask for it, so it is read and dropped. */
  async #forward(output: Readable, channel: number | undefined): Promise<void> {
    try {
      for await (const chunk of output as AsyncIterable<Buffer>) if (channel !== undefined) await this.#send(channel, chunk);
    } catch {
      // The client has gone, and the stream was closed.
    }
  }

  #receive({ stdin }: ExecProcess, data: RawData): void {
    const message = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
    const [channel, first] = message;
    if (channel === channels.close && this.#settings.protocol === 'v5.channel.k8s.io' && first === channels.stdin) stdin.end();
    if (channel !== channels.stdin || !stdin.writable || stdin.write(message.subarray(1))) return;
    this.#socket.pause();
    stdin.once('drain', () => this.#socket.resume());
  }

  #send(channel: number, content: Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.send(Buffer.concat([Buffer.of(channel), content]), () => resolve());
    });
  }
}

/** Nothing reads the output any more: the next write of the process fails. */
function leave({ stdin, stdout, stderr }: ExecProcess): void {
  stdin.end();
  stdout.destroy();
  stderr.destroy();
}
