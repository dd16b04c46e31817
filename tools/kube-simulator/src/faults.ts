/** Faults on demand: what a real API server, its network and its load balancer do now and then, exactly when a test needs it. */
import type { Failure } from './api-error.js';
import { forbidden } from './auth/refusal.js';
import type { WatchStream } from './http/watch-stream.js';
import type { FaultInjector, FaultVerdict, RequestAttributes } from './request/request-chain.js';

/** Selects requests: every field that is present must be equal; no field selects all. */
export interface RequestSelector {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verb?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly username?: string;
}

export type FaultEffect =
  /** Answers with this HTTP status and with the given reason and text, or those of a real server. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  /** Served, but late. */
  | { readonly kind: 'delay'; readonly delayMs: number }
  /** The connection is closed: `before` the request had any effect, or `after` it took effect but before it was answered. */
  | { readonly kind: 'close'; readonly when: 'before' | 'after' };

export interface Fault {
  readonly requests?: RequestSelector;
  readonly effect: FaultEffect;
  /** How many requests it hits; 1 by default, 0 until it is cleared. */
  readonly times?: number;
  /** True: requests of `system:masters` are served. */
  readonly sparesMasters?: boolean;
}

/** How a server that has just started answers: first its roles are not loaded, then its storage, then its dependencies are missing. */
const STARTING: readonly FaultEffect[] = [
  { kind: 'answer', status: 403 },
  { kind: 'answer', status: 429, message: 'storage is (re)initializing' },
  { kind: 'answer', status: 500 },
  { kind: 'answer', status: 503 },
  { kind: 'answer', status: 504 },
];
/** Requests that get each of these answers. */
const ANSWERED_EACH = 2;
const MASTERS = 'system:masters';

/** A fault that is waiting for requests. */
interface PendingFault extends Fault {
  readonly id: number;
  /** How many requests it has hit so far. */
  readonly hits: number;
}

/** A fault of a watch: its connection breaks, it ends normally, or the client has to list again (410). */
export type WatchFault = 'break' | 'end' | 'expire';

export const disturbStream: Readonly<Record<WatchFault, (stream: WatchStream) => void>> = {
  break: (stream) => stream.destroy(),
  end: (stream) => stream.end(),
  expire: (stream) => stream.expire(),
};

/** Decides for every request whether it is disturbed. Several delays add up; otherwise the oldest fault wins. */
export class Faults implements FaultInjector {
  #pending: readonly PendingFault[] = [];
  #lastId = 0;

  /** Adds a fault and returns its id. */
  inject(fault: Fault): number {
    this.#lastId += 1;
    this.#pending = [...this.#pending, { ...fault, id: this.#lastId, hits: 0 }];
    return this.#lastId;
  }

  /** Behaves as after a start: the next requests, except those of administrators, get the answers of a server that is still loading. */
  injectStart(): void {
    for (const effect of STARTING) this.inject({ effect, times: ANSWERED_EACH, sparesMasters: true });
  }

  /** Removes one fault, or all of them. */
  clear(id?: number): void {
    this.#pending = id === undefined ? [] : this.#pending.filter((fault) => fault.id !== id);
  }

  /** False once it has hit all its requests. */
  isPending(id: number): boolean {
    return this.#pending.some((fault) => fault.id === id);
  }

  async inspect(attributes: RequestAttributes): Promise<FaultVerdict> {
    if (this.#pending.length === 0 || !attributes.isResourceRequest) return none;
    const isMaster = attributes.user.groups.includes(MASTERS);
    const matching = this.#pending.filter(
      ({ requests, sparesMasters = false }) => !(sparesMasters && isMaster) && selects(requests ?? {}, attributes),
    );
    const delays = matching.filter(({ effect }) => effect.kind === 'delay');
    const disturbance = matching.find(({ effect }) => effect.kind !== 'delay');
    for (const fault of [...delays, disturbance]) if (fault !== undefined) this.#hit(fault);
    await wait(delays.reduce((total, { effect }) => total + (effect.kind === 'delay' ? effect.delayMs : 0), 0));
    return disturbance === undefined ? none : verdictOf(disturbance.effect, attributes);
  }

  #hit(fault: PendingFault): void {
    const hits = fault.hits + 1;
    const isSpent = hits === (fault.times ?? 1);
    this.#pending = this.#pending.flatMap((each) => (each.id !== fault.id ? [each] : isSpent ? [] : [{ ...each, hits }]));
  }
}

const none: FaultVerdict = { kind: 'none' };

/** Whether a request is selected. */
export const selects = (
  { username, ...fields }: RequestSelector,
  attributes: Pick<RequestAttributes, Exclude<keyof RequestSelector, 'username'> | 'user'>,
): boolean =>
  (username === undefined || username === attributes.user.username) &&
  Object.entries(fields).every(([field, wanted]) => attributes[field as keyof typeof fields] === wanted);

const wait = async (delayMs: number): Promise<void> => {
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
};

const verdictOf = (effect: FaultEffect, attributes: RequestAttributes): FaultVerdict => {
  switch (effect.kind) {
    case 'answer':
      return { kind: 'answer', failure: failureOf(effect, attributes) };
    case 'close':
      return { kind: effect.when === 'before' ? 'close-before' : 'close-after' };
    case 'delay':
      return none;
  }
};

const knownFailures: Readonly<Record<number, Omit<Failure, 'code'>>> = {
  401: { reason: 'Unauthorized', message: 'Unauthorized' },
  409: {
    reason: 'Conflict',
    message:
      'Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest version and try again',
  },
  410: { reason: 'Expired', message: 'The resourceVersion for the provided watch is too old.' },
  429: { reason: 'TooManyRequests', message: 'the server is currently unable to handle the request', retryAfterSeconds: 1 },
  500: { reason: 'InternalError', message: 'Internal error occurred: a fault that was asked for' },
  503: { reason: 'ServiceUnavailable', message: 'the server is currently unable to handle the request' },
  504: {
    reason: 'Timeout',
    message: 'Timeout: request did not complete within the allotted timeout',
    retryAfterSeconds: 1,
  },
};

const failureOf = (
  { status, reason, message, retryAfterSeconds }: FaultEffect & { kind: 'answer' },
  attributes: RequestAttributes,
): Failure => ({
  message: 'a fault that was asked for',
  ...(status === 403 ? forbidden(attributes) : knownFailures[status]),
  code: status,
  ...(reason === undefined ? {} : { reason }),
  ...(message === undefined ? {} : { message }),
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});
