import type { PageEvent } from '../../model/page-data.js';
import { EventStreamParser } from './event-stream.js';
import { type PageClient, type RequestResult, toRefusal } from './page-client.js';

/** The state of the connection, for people. */
export type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** What is shown may be old. */
  | { readonly kind: 'lost'; readonly message: string }
  /** A new token is needed. */
  | { readonly kind: 'sign-in'; readonly message: string };

/** The callbacks of the connection. */
export interface LiveListener {
  readonly onEvent: (event: PageEvent) => void;
  readonly onState: (state: ConnectionState) => void;
}

const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 15_000;
const FIRST_SILENCE_MS = 30_000;

/** Follows the events of the server. A connection that breaks or falls silent is opened again, each time after a longer delay. */
export class LiveConnection {
  readonly #client: PageClient;
  readonly #listener: LiveListener;
  #parameters: Readonly<Record<string, string>> = {};
  #attempt: AbortController | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #longestSilenceMs = FIRST_SILENCE_MS;
  #delayMs = FIRST_DELAY_MS;

  constructor(client: PageClient, listener: LiveListener) {
    this.#client = client;
    this.#listener = listener;
  }

  /** Connects anew, with the changes of this pool: `{ pool, version }`, or `{}`. */
  follow(parameters: Readonly<Record<string, string>>): void {
    this.#parameters = parameters;
    void this.#connect();
  }

  /** Sets the query of the next connection, without ending this one. */
  remember(parameters: Readonly<Record<string, string>>): void {
    this.#parameters = parameters;
  }

  /** Ends the connection; `follow` opens it again. */
  stop(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#silence);
    this.#attempt?.abort();
    this.#attempt = undefined;
  }

  /** Never rejects. */
  async #connect(): Promise<void> {
    this.stop();
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#expectSound();
    const outcome = await this.#readUntilItEnds(attempt.signal);
    // Another attempt has begun, or `stop` was called.
    if (this.#attempt !== attempt) return;
    this.#afterEnd(outcome);
  }

  #afterEnd(outcome: Exclude<RequestResult<never>, { kind: 'data' }>): void {
    this.stop();
    if (outcome.kind === 'sign-in') {
      this.#listener.onState(outcome);
      return;
    }
    this.#listener.onState({ kind: 'lost', message: outcome.message });
    // Spreads the attempts of many pages.
    this.#retry = setTimeout(() => void this.#connect(), this.#delayMs * (0.75 + Math.random() / 2));
    this.#delayMs = Math.min(this.#delayMs * 2, LONGEST_DELAY_MS);
  }

  async #readUntilItEnds(signal: AbortSignal): Promise<Exclude<RequestResult<never>, { kind: 'data' }>> {
    try {
      const response = await this.#client.open('api/events', this.#parameters, signal);
      if (!response.ok) return await toRefusal(response);
      return await this.#readEvents(response);
    } catch {
      return { kind: 'unreachable', message: 'The connection to the server is lost.' };
    }
  }

  async #readEvents(response: Response): Promise<Exclude<RequestResult<never>, { kind: 'data' }>> {
    const parser = new EventStreamParser();
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      this.#expectSound();
      for (const { event, data } of parser.push(read.value)) {
        const made = { kind: event, data: JSON.parse(data) } as PageEvent;
        if (made.kind === 'end' && made.data.reason === 'session-over') return { kind: 'sign-in', message: made.data.message };
        if (made.kind === 'end') return { kind: 'unreachable', message: made.data.message };
        this.#take(made);
      }
    }
    return { kind: 'unreachable', message: 'The server ended the connection.' };
  }

  #take(event: PageEvent): void {
    if (event.kind === 'hello') {
      this.#longestSilenceMs = event.data.keepAliveMs * 3;
      this.#delayMs = FIRST_DELAY_MS;
      this.#expectSound();
      this.#listener.onState({ kind: 'live' });
    }
    this.#listener.onEvent(event);
  }

  #expectSound(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#attempt?.abort(), this.#longestSilenceMs);
  }
}
