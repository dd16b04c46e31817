import type { Json, JsonObject } from './api-object.js';
import { badRequest } from './failures.js';
import type { Fault, Faults, RequestSelector } from './faults.js';
import type { PathHandler } from './http/request-chain.js';

/**
 * What may happen to a watch: its connection breaks, it ends in good order, it stays open but silent, or the client is told that it
 * has to list again (410).
 */
export type WatchFault = 'break' | 'end' | 'stall' | 'expire';

const watchFaults: Readonly<Record<string, WatchFault>> = {
  'drop-watches': 'break',
  'end-watches': 'end',
  'stall-watches': 'stall',
  'expire-watches': 'expire',
};

/** What a fault may do to the whole server at once. */
export interface ServerFaults {
  /** Does something to the watches that are open and meant; returns how many. */
  disturbWatches(how: WatchFault, requests: RequestSelector): number;
  /** Forgets all changes so far. */
  compact(): void;
  /** Stops and starts again with the same data. */
  restart(): Promise<void>;
}

const restartDelayMs = 50;

/**
 * Faults over HTTP, for the administrator: GET shows what is waiting, POST adds a fault or does something at once
 * (`{"action": "drop-watches"}`, or `end-watches`, `stall-watches`, `expire-watches`, `compact`, `restart`), DELETE takes all back.
 */
export const faultsPath = (faults: Faults, server: () => ServerFaults): PathHandler => ({
  path: '/simulator/faults',
  handle: ({ method, body }) => {
    switch (method) {
      case 'GET':
        return { status: 200, body: { faults: faults.list() as unknown as Json } };
      case 'DELETE':
        faults.clear();
        return { status: 200, body: { faults: [] } };
      case 'POST':
        return { status: 200, body: post(body, faults, server) };
      default:
        throw badRequest(`method ${method} is not for faults; use GET, POST or DELETE`);
    }
  },
});

const post = (body: Json | undefined, faults: Faults, server: () => ServerFaults): JsonObject => {
  const order = (body ?? {}) as JsonObject;
  if (order['action'] === undefined) return { id: faults.inject(toFault(order)) };
  const action = order['action'] as string;
  const how = watchFaults[action];
  if (how !== undefined) return { watches: server().disturbWatches(how, (order['requests'] ?? {}) as RequestSelector) };
  switch (action) {
    case 'compact':
      server().compact();
      return {};
    case 'restart':
      // The answer goes out first.
      setTimeout(() => void server().restart(), restartDelayMs);
      return {};
    default:
      throw badRequest(
        `action ${JSON.stringify(action)} is unknown; use ${Object.keys(watchFaults).join(', ')}, compact or restart`,
      );
  }
};

const toFault = (order: JsonObject): Fault => {
  if (!isEffect((order['effect'] ?? {}) as JsonObject)) {
    throw badRequest(
      'a fault needs an effect: {"kind":"answer","status":500}, {"kind":"delay","delayMs":100} or {"kind":"close","when":"before"}',
    );
  }
  return order as unknown as Fault;
};

const isEffect = ({ kind, status, delayMs, when }: JsonObject): boolean => {
  if (kind === 'answer') return typeof status === 'number';
  if (kind === 'delay') return typeof delayMs === 'number';
  return kind === 'close' && (when === 'before' || when === 'after');
};
