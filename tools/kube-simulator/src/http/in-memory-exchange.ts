/** A request and its answer without a connection: the server reads and writes in memory, without the event loop's I/O. */
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface InMemoryRequest {
  readonly method: string;
  /** With query. */
  readonly path: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface InMemoryAnswer {
  readonly onHead: (status: number) => void;
  readonly onData: (part: Buffer) => void;
  /** @param isComplete - false: the connection broke. */
  readonly onEnd: (isComplete: boolean) => void;
}

/** The part of a response that the server uses. */
class Response extends EventEmitter {
  headersSent = false;
  destroyed = false;
  writableEnded = false;
  readonly writableLength = 0;
  readonly #answer: InMemoryAnswer;

  constructor(answer: InMemoryAnswer) {
    super();
    this.#answer = answer;
  }

  writeHead(status: number): void {
    this.headersSent = true;
    this.#answer.onHead(status);
  }

  flushHeaders(): void {
    // The head is on its way already.
  }

  write(part: Buffer): void {
    if (!this.#isOver) this.#answer.onData(part);
  }

  end(part?: Buffer): void {
    if (part !== undefined) this.write(part);
    this.#finish(true);
    this.writableEnded = true;
  }

  destroy(): void {
    this.#finish(false);
    this.destroyed = true;
  }

  /** The client is gone: it is not called any more. */
  leave(): void {
    if (this.#isOver) return;
    this.destroyed = true;
    this.emit('close');
  }

  get #isOver(): boolean {
    return this.writableEnded || this.destroyed;
  }

  #finish(isComplete: boolean): void {
    if (this.#isOver) return;
    this.#answer.onEnd(isComplete);
    this.emit('close');
  }
}

/** @returns the arguments for the server, and a function by which the client disconnects. */
export function inMemoryExchange(
  { method, path, headers, body }: InMemoryRequest,
  answer: InMemoryAnswer,
): { readonly request: IncomingMessage; readonly response: ServerResponse; readonly leave: () => void } {
  const response = new Response(answer);
  const request = {
    method,
    url: path,
    headers,
    socket: { destroy: () => response.destroy() },
    async *[Symbol.asyncIterator]() {
      if (body !== undefined) yield Buffer.from(body);
    },
  };
  return {
    request: request as unknown as IncomingMessage,
    response: response as unknown as ServerResponse,
    leave: () => response.leave(),
  };
}
