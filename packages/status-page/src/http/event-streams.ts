/** The connections of open pages: server-sent events, limited in number, backlog and time. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '@vmdhcp/kube-runtime';
import { type AccessDecision, sectionsIn } from '../access/page-access.js';
import { type ChangeFeed, formatEvent, type Viewer } from '../live/change-feed.js';
import type { PageEvent, StreamEndReason } from '../model/page-data.js';
import { PageProblem } from './page-problem.js';

export const MOST_STREAMS = 64;
const MOST_STREAMS_OF_USER = 8;
/** The maximum octets that a client has not read. */
const MOST_BACKLOG = 1_048_576;
const KEEP_ALIVE_MS = 15_000;
/** How often the access of a client is checked again; each decision is valid for as long. */
const REVIEW_MS = 60_000;
/** The time for the last event to be read. */
const LAST_MS = 2_000;

export interface StreamRequest {
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
  readonly granted: AccessDecision & { readonly kind: 'granted' };
  /** Checks the access again. */
  readonly decide: () => Promise<AccessDecision>;
}

export interface EventStreamsPorts {
  readonly feed: ChangeFeed;
  readonly clock: Clock;
  /** The name of this process. */
  readonly instance: string;
}

export class EventStreams {
  readonly #ports: EventStreamsPorts;
  readonly #streams = new Set<EventStream>();

  constructor(ports: EventStreamsPorts) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** @throws PageProblem if there are too many. */
  open(request: StreamRequest): void {
    const { user } = request.granted;
    // The client left while its access was being decided; its `close` event is already over.
    if (request.response.destroyed) return;
    const ofUser = [...this.#streams].filter((one) => one.user === user).length;
    if (this.#streams.size >= MOST_STREAMS || (user !== null && ofUser >= MOST_STREAMS_OF_USER))
      throw new PageProblem(429, 'too-many-requests', 'too many pages are open; close one of them');
    const stream = new EventStream(request, this.#ports, () => this.#streams.delete(stream));
    this.#streams.add(stream);
    stream.begin();
  }

  stop(): void {
    for (const stream of [...this.#streams]) stream.end('stopping', 'the server ends; connect again');
  }
}

class EventStream {
  readonly user: string | null;
  readonly #request: StreamRequest;
  readonly #ports: EventStreamsPorts;
  readonly #viewer: Viewer;
  readonly #onEnd: () => void;
  #cancelKeepAlive: () => void = () => undefined;
  #cancelReview: () => void = () => undefined;
  #isOver = false;

  constructor(request: StreamRequest, ports: EventStreamsPorts, onEnd: () => void) {
    const { granted, query } = request;
    this.user = granted.user;
    this.#request = request;
    this.#ports = ports;
    this.#onEnd = onEnd;
    this.#viewer = {
      pool: query.get('pool') ?? undefined,
      version: query.get('version') ?? undefined,
      sections: sectionsIn(granted.sections),
      send: (text) => this.#write(text),
    };
  }

  begin(): void {
    const { response } = this.#request;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    response.once('close', () => this.#finish());
    this.#write(formatEvent({ kind: 'hello', data: { instance: this.#ports.instance, keepAliveMs: KEEP_ALIVE_MS } }));
    this.#ports.feed.add(this.#viewer);
    this.#keepAlive();
    this.#reviewLater();
  }

  end(reason: StreamEndReason, message: string): void {
    if (this.#isOver) return;
    const { response } = this.#request;
    this.#finish();
    const last: PageEvent = { kind: 'end', data: { reason, message } };
    response.end(formatEvent(last));
    this.#ports.clock.after(LAST_MS, () => response.destroy());
  }

  #write(text: string): void {
    const { response } = this.#request;
    if (this.#isOver) return;
    response.write(text);
    if (response.writableLength > MOST_BACKLOG) this.end('too-slow', 'the page did not read what happened; it connects again');
  }

  #keepAlive(): void {
    this.#cancelKeepAlive = this.#ports.clock.after(KEEP_ALIVE_MS, () => {
      this.#write(':\n\n');
      if (!this.#isOver) this.#keepAlive();
    });
  }

  #reviewLater(): void {
    this.#cancelReview = this.#ports.clock.after(REVIEW_MS, () => void this.#review());
  }

  async #review(): Promise<void> {
    const decision = await this.#request.decide();
    if (this.#isOver) return;
    if (decision.kind === 'refused') {
      this.end(decision.status === 503 ? 'unavailable' : 'session-over', decision.message);
      return;
    }
    const [before, now] = [this.#viewer.sections, sectionsIn(decision.sections)].map((sections) =>
      [...sections].toSorted().join(),
    );
    if (before !== now) this.end('session-over', 'the rights of the user have changed; connect again');
    else this.#reviewLater();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancelKeepAlive();
    this.#cancelReview();
    this.#ports.feed.remove(this.#viewer);
    this.#onEnd();
  }
}
