import http from 'node:http';
import https from 'node:https';
import type { Json } from '../api-object.js';

export interface OutgoingRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer {
  /** 0 if the connection was closed without an answer. */
  readonly status: number;
  /** The three headers that transcripts keep. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

/** A watch that was answered; it continues until either side closes it. */
export interface OpenWatch {
  readonly answer: Answer;
  /** The events so far. */
  readonly events: readonly Json[];
  /** True once the server ended the stream. */
  isEnded(): boolean;
  close(): void;
}

/** No recorded answer took longer; a watch is answered at once. */
const PATIENCE_MS = 20_000;
const KEPT_HEADERS = ['content-type', 'retry-after', 'warning'];

/** Sends requests exactly as they were recorded: the same headers and no others. */
export class RecordedClient {
  private readonly base: URL;
  private readonly agent: http.Agent;
  private readonly send: typeof http.request;

  constructor(url: string, caCertificate?: string) {
    this.base = new URL(url);
    const secure = this.base.protocol === 'https:';
    this.agent = secure ? new https.Agent({ keepAlive: true, ca: caCertificate }) : new http.Agent({ keepAlive: true });
    this.send = secure ? https.request : http.request;
  }

  async request(outgoing: OutgoingRequest): Promise<Answer> {
    const response = await this.open(outgoing);
    if (response === undefined) return { status: 0, headers: {}, body: '<connection closed>' };
    return toAnswer(response, await readText(response));
  }

  /** Resolves when the watch was answered; an answer that is not a stream of events is read whole. */
  async watch(outgoing: OutgoingRequest): Promise<OpenWatch> {
    const response = await this.open(outgoing);
    if (response === undefined) return endedWatch({ status: 0, headers: {}, body: '<connection closed>' });
    if (response.statusCode !== 200) {
      return endedWatch(toAnswer(response, await readText(response)));
    }
    return readEvents(response);
  }

  close(): void {
    this.agent.destroy();
  }

  private open({ method, path, headers, body }: OutgoingRequest): Promise<http.IncomingMessage | undefined> {
    const { hostname, port } = this.base;
    return new Promise((resolve, reject) => {
      const outgoing = this.send({ hostname, port, method, path, headers, agent: this.agent }, resolve);
      const giveUp = (): unknown => outgoing.destroy(new Error(`no answer within ${PATIENCE_MS / 1000} s`));
      const waiting = setTimeout(giveUp, PATIENCE_MS);
      for (const settled of ['response', 'close']) outgoing.once(settled, () => clearTimeout(waiting));
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ECONNRESET') resolve(undefined);
        else reject(new Error(`${method} ${path}: ${error.message}`, { cause: error }));
      });
      outgoing.end(body);
    });
  }
}

async function readText(response: http.IncomingMessage): Promise<string> {
  const giveUp = (): unknown => response.destroy(new Error(`no end of the answer within ${PATIENCE_MS / 1000} s`));
  const waiting = setTimeout(giveUp, PATIENCE_MS);
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
  } finally {
    clearTimeout(waiting);
  }
  return text;
}

function toAnswer(response: http.IncomingMessage, text: string): Answer {
  return { status: response.statusCode ?? 0, headers: keptHeaders(response), body: parseBody(text) };
}

function keptHeaders({ headers }: http.IncomingMessage): Record<string, string> {
  const kept = KEPT_HEADERS.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]];
  });
  return Object.fromEntries(kept) as Record<string, string>;
}

function parseBody(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function endedWatch(answer: Answer): OpenWatch {
  return { answer, events: [], isEnded: () => true, close: () => undefined };
}

function readEvents(response: http.IncomingMessage): OpenWatch {
  const events: Json[] = [];
  let rest = '';
  let ended = false;
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') events.push(parseBody(line));
  });
  // Closing the watch from here makes the stream fail: that is how it ends.
  response.on('error', () => undefined);
  response.on('close', () => {
    if (rest !== '') events.push(parseBody(rest));
    rest = '';
    ended = true;
  });
  const answer = { status: response.statusCode ?? 0, headers: keptHeaders(response), body: null };
  return { answer, events, isEnded: () => ended, close: () => response.destroy() };
}
