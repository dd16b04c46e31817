import { RedfishError } from '../error/redfish-error.js';
import { AnswerMemory } from './answer-memory.js';

/** Requests of one call. A large host has about 150 resources. */
export const MOST_REQUESTS = 512;
/** Octets of all answers of one call. A large host has one million with its log. */
export const MOST_OCTETS = 4 * 1_024 * 1_024;
/** JSON values and names of one answer, and of all answers of one call: each takes memory, however few octets it is. */
export const MOST_VALUES_OF_ANSWER = 65_536;
export const MOST_VALUES = 4 * MOST_VALUES_OF_ANSWER;
/** What one of them takes in memory, about. */
const OCTETS_OF_VALUE = 64;

export interface CallOptions {
  /** Ends the call: it rejects with the code `aborted`. */
  readonly signal?: AbortSignal;
  /** Milliseconds for this call, 1 or more. Default: that of the client. */
  readonly timeoutMs?: number;
  /** Asked on a connection that is ready, right before a request that changes something is sent; false: it is not sent, and the call rejects with the code `aborted`. Default: always true. */
  readonly mayChange?: () => boolean;
}

/** One call of a client while it runs: its deadline and its budget of requests. */
export class Call {
  readonly #controller = new AbortController();
  readonly mayChange: () => boolean;
  readonly #memory: AnswerMemory;
  #requests = 0;
  #octets = 0;
  #values = 0;

  constructor(memory: AnswerMemory, mayChange: () => boolean = () => true) {
    this.#memory = memory;
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

  /** @throws RedfishError `too-large` for one octet too many. */
  countOctets(octets: number): void {
    this.#octets += octets;
    if (this.#octets > MOST_OCTETS)
      throw new RedfishError('too-large', `all answers together have more than ${MOST_OCTETS} octets`);
    this.#hold(octets);
  }

  /** Of values that were counted: what is left of them takes no more memory than their octets. */
  forgetValues(values: number): void {
    if (!this.signal.aborted) this.#memory.hold(this, -values * OCTETS_OF_VALUE);
  }

  /** Before a text is parsed. @throws RedfishError `too-large` for one value too many. */
  countValues(values: number): void {
    if (values > MOST_VALUES_OF_ANSWER)
      throw new RedfishError('too-large', `the answer has more than ${MOST_VALUES_OF_ANSWER} values`);
    this.#values += values;
    if (this.#values > MOST_VALUES)
      throw new RedfishError('too-large', `all answers together have more than ${MOST_VALUES} values`);
    this.#hold(values * OCTETS_OF_VALUE);
  }

  end(reason: RedfishError): void {
    this.#memory.release(this);
    this.#controller.abort(reason);
  }

  /** Holds nothing for a call that has ended. @throws the reason of the signal, also if there is no memory left and this call has the most of it. */
  #hold(octets: number): void {
    this.signal.throwIfAborted();
    this.#memory.hold(this, octets);
    this.signal.throwIfAborted();
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
  readonly #memory: AnswerMemory;
  readonly #running = new Set<Call>();

  constructor(timeoutMs: number, memory: AnswerMemory = new AnswerMemory()) {
    this.#timeoutMs = timeoutMs;
    this.#memory = memory;
  }

  /** Runs a call. Nothing of it goes on after the result. */
  async run<Result>(work: (call: Call) => Promise<Result>, options: CallOptions = {}): Promise<Result> {
    const { signal, timeoutMs = this.#timeoutMs, mayChange } = options;
    const call = new Call(this.#memory, mayChange);
    const text = `no complete answer within ${timeoutMs / 1_000} seconds`;
    const timer = setTimeout(() => call.end(new RedfishError('timeout', text)), timeoutMs);
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
