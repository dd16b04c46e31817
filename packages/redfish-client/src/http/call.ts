import { RedfishError } from '../error/redfish-error.js';
import { approximateOctets } from '../resource/approximate-octets.js';
import { AnswerPlaces, noPlace } from './answer-places.js';

/** The maximum requests of one call. A large host has about 150 resources. */
export const MOST_REQUESTS = 512;
/** The maximum octets of all answers of one call. A large host has one million with its log. */
export const MOST_OCTETS = 16 * 1_024 * 1_024;
/** The maximum octets of answers, and of what is kept of them, that one call holds at the same time (approximately). */
export const MOST_HELD = 2 * 1_024 * 1_024;
/**
 * The maximum JSON values and names of one answer, and of all answers of one call: each takes memory, however short it is. A log entry may have 60.
 */
export const MOST_VALUES_OF_ANSWER = 131_072;
export const MOST_VALUES = 4 * MOST_VALUES_OF_ANSWER;

export interface CallOptions {
  /** Ends the call: it rejects with the code `aborted`. */
  readonly signal?: AbortSignal;
  /** Milliseconds for this call, 1 or more. Default: that of the client. */
  readonly timeoutMs?: number;
  /**
   * Called on a ready connection, right before a request that changes something is sent. If it returns false, the request is not sent, and the call
   * rejects with the code `aborted`. Default: always true.
   */
  readonly mayChange?: () => boolean;
}

/** One call of a client while it runs: its deadline and its budget of requests. */
export class Call {
  readonly #controller = new AbortController();
  readonly mayChange: () => boolean;
  readonly #places: AnswerPlaces;
  #place: Promise<void> | undefined;
  #hasPlace = false;
  #requests = 0;
  #octets = 0;
  #held = 0;
  #values = 0;

  constructor(places: AnswerPlaces, mayChange: () => boolean = () => true) {
    this.#places = places;
    this.mayChange = mayChange;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** @throws RedfishError `too-large` for one request too many. */
  countRequest(): void {
    this.#requests++;
    if (this.#requests > MOST_REQUESTS)
      throw new RedfishError('too-large', `the service has more than ${MOST_REQUESTS} resources to read`);
  }

  /** True if it waits for a place. */
  get waitsForPlace(): boolean {
    return this.#place !== undefined && !this.#hasPlace;
  }

  /** Waits until an answer may be read: the first one of the call needs a place. @throws the reason of the signal, if the call ends first. */
  async beginAnswer(): Promise<void> {
    this.#place ??= this.#takePlace();
    await this.#place;
    this.signal.throwIfAborted();
  }

  /** @throws RedfishError `too-large` for one octet too many. */
  countOctets(octets: number): void {
    this.#octets += octets;
    if (this.#octets > MOST_OCTETS)
      throw new RedfishError('too-large', `all answers together have more than ${MOST_OCTETS} octets`);
    this.#hold(octets);
  }

  /** Stops counting octets that are no longer in memory. */
  forget(octets: number): void {
    this.#held -= octets;
  }

  /** Counts what is kept of an answer until the call ends. @throws RedfishError `too-large` */
  keep(result: unknown): void {
    this.#hold(approximateOctets(result));
  }

  /** @throws RedfishError `too-large` for one value too many. */
  countValues(values: number): void {
    if (values > MOST_VALUES_OF_ANSWER)
      throw new RedfishError('too-large', `the answer has more than ${MOST_VALUES_OF_ANSWER} values`);
    this.#values += values;
    if (this.#values > MOST_VALUES)
      throw new RedfishError('too-large', `all answers together have more than ${MOST_VALUES} values`);
  }

  end(reason: RedfishError): void {
    this.#controller.abort(reason);
    if (!this.#hasPlace) return;
    this.#hasPlace = false;
    this.#places.giveBack();
  }

  async #takePlace(): Promise<void> {
    await this.#places.take(this.signal);
    // The call ended at the moment at which it got the place.
    if (this.signal.aborted) this.#places.giveBack();
    else this.#hasPlace = true;
  }

  #hold(octets: number): void {
    if (this.#held + octets > MOST_HELD)
      throw new RedfishError('too-large', `answers have more than ${MOST_HELD} octets at the same time`);
    this.#held += octets;
  }

  /** Resolves after `milliseconds`. @throws the reason of the signal, if the call ends before. */
  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        clearTimeout(timer);
        reject(this.signal.reason as Error);
      };
      const timer = setTimeout(() => {
        this.signal.removeEventListener('abort', onAbort);
        resolve();
      }, milliseconds);
      if (this.signal.aborted) onAbort();
      else this.signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}

/** The calls of one client: each has a deadline, and all end when the client is closed. */
export class Calls {
  readonly #timeoutMs: number;
  readonly #places: AnswerPlaces;
  readonly #running = new Set<Call>();

  constructor(timeoutMs: number, places: AnswerPlaces = new AnswerPlaces()) {
    this.#timeoutMs = timeoutMs;
    this.#places = places;
  }

  /** Runs a call. Nothing of it continues after the result. */
  async run<Result>(work: (call: Call) => Promise<Result>, options: CallOptions = {}): Promise<Result> {
    const { signal, timeoutMs = this.#timeoutMs, mayChange } = options;
    const call = new Call(this.#places, mayChange);
    const text = `no complete answer within ${timeoutMs / 1_000} seconds`;
    const timer = setTimeout(() => {
      call.end(call.waitsForPlace ? noPlace(text) : new RedfishError('timeout', text));
    }, timeoutMs);
    const onAbort = () => call.end(new RedfishError('aborted', 'the caller ended the call'));
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    this.#running.add(call);
    try {
      return await work(call);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      this.#running.delete(call);
      call.end(new RedfishError('closed', 'the call has ended'));
    }
  }

  endAll(): void {
    for (const call of this.#running) call.end(new RedfishError('closed', 'the client was closed'));
  }
}
