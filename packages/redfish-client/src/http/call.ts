import { RedfishError } from '../error/redfish-error.js';
import { approximateOctets } from '../resource/approximate-octets.js';
import { AnswerMemory, memoryUsedUp } from './answer-memory.js';

/** The maximum requests of one call. A large host has about 150 resources. */
export const MOST_REQUESTS = 512;
/** The maximum octets of all answers of one call. A large host has one million with its log. */
export const MOST_OCTETS = 16 * 1_024 * 1_024;
/** The maximum JSON values and names of one answer, and of all answers of one call: each takes memory, however short it is. A log entry may have 60. */
export const MOST_VALUES_OF_ANSWER = 131_072;
export const MOST_VALUES = 4 * MOST_VALUES_OF_ANSWER;
/** The approximate memory of one value. */
const OCTETS_OF_VALUE = 64;

/** The size of an answer. */
export interface AnswerSize {
  readonly octets: number;
  /** JSON values and names. */
  readonly values: number;
}

/** How long a call may take, and whether it may change something. */
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
  /** The requests sent so far that change something, without logins and what the service refused. */
  changes = 0;
  readonly #memory: AnswerMemory;
  #requests = 0;
  #waiting = 0;
  #waitedMs = 0;
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

  /** True if it is waiting for memory, or did so for more than half of `timeoutMs`. */
  isShortOfMemory(timeoutMs: number): boolean {
    return this.#waiting > 0 || this.#waitedMs * 2 > timeoutMs;
  }

  /** Resolves when there is memory for them. @throws RedfishError `too-large` for one octet too many. */
  async countOctets(octets: number): Promise<void> {
    this.#octets += octets;
    if (this.#octets > MOST_OCTETS)
      throw new RedfishError('too-large', `all answers together have more than ${MOST_OCTETS} octets`);
    await this.#hold(octets);
  }

  /** Returns the memory of a counted answer. */
  forget({ octets, values }: AnswerSize): void {
    this.#memory.giveBack(this, octets + values * OCTETS_OF_VALUE);
  }

  /** Keeps the memory for the rest of an answer until the call ends. */
  keep(result: unknown): Promise<void> {
    return this.#hold(approximateOctets(result));
  }

  /**
   * Counts values before a text is parsed. It does not wait, because the arrived answer would hold its memory meanwhile. @throws RedfishError
   * `too-large` for one value too many.
   */
  countValues(values: number): void {
    if (values > MOST_VALUES_OF_ANSWER)
      throw new RedfishError('too-large', `the answer has more than ${MOST_VALUES_OF_ANSWER} values`);
    this.#values += values;
    if (this.#values > MOST_VALUES)
      throw new RedfishError('too-large', `all answers together have more than ${MOST_VALUES} values`);
    this.signal.throwIfAborted();
    this.#memory.take(this, values * OCTETS_OF_VALUE);
  }

  end(reason: RedfishError): void {
    this.#memory.release(this);
    this.#controller.abort(reason);
  }

  /** Waits for a promise without holding anything for a call that has ended. @throws the reason of the signal, also if the call ends while it waits. */
  async #hold(octets: number): Promise<void> {
    this.signal.throwIfAborted();
    const beganAtMs = performance.now();
    this.#waiting++;
    await this.#memory.hold(this, octets);
    this.#waiting--;
    this.#waitedMs += performance.now() - beganAtMs;
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

  /** Runs a call. Nothing of it continues after the result. */
  async run<Result>(work: (call: Call) => Promise<Result>, options: CallOptions = {}): Promise<Result> {
    const { signal, timeoutMs = this.#timeoutMs, mayChange } = options;
    const call = new Call(this.#memory, mayChange);
    const text = `no complete answer within ${timeoutMs / 1_000} seconds`;
    const timer = setTimeout(() => {
      const isShort = call.isShortOfMemory(timeoutMs);
      call.end(isShort ? memoryUsedUp(`the call waited for it, and ${text}`) : new RedfishError('timeout', text));
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
