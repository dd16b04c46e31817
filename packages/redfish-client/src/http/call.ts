import { RedfishError } from '../error/redfish-error.js';

/** Requests of one call. A large host has about 150 resources. */
export const MOST_REQUESTS = 512;
/** Octets of all answers of one call: what a call keeps in memory is a multiple of it. */
export const MOST_OCTETS = 32 * 1_024 * 1_024;

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
  #requests = 0;
  #octets = 0;

  constructor(mayChange: () => boolean = () => true) {
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
  }

  end(reason: RedfishError): void {
    this.#controller.abort(reason);
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
  readonly #running = new Set<Call>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Runs a call. Nothing of it goes on after the result. */
  async run<Result>(work: (call: Call) => Promise<Result>, options: CallOptions = {}): Promise<Result> {
    const { signal, timeoutMs = this.#timeoutMs, mayChange } = options;
    const call = new Call(mayChange);
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
