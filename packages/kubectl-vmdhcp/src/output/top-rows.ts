/** The output of `kubectl vmdhcp top`: packets of pools, and the clients that sent most. */
import { mostFrequent, packetsOf, refusalsOf, type TrafficCounts } from '@vmdhcp/explain';
import type { AskedAgent, Leader } from '@vmdhcp/explain/observe';

/** One for each pool of a leader, including leaders that could not be queried. */
export interface TopPoolRow {
  /** `namespace/name`; empty if the agent reports no pool. */
  readonly pool: string;
  /** `namespace/pod`; empty if the group has no leader. */
  readonly agent: string;
  readonly group: string;
  /** Clients that sent something, as far as the agent remembers them. */
  readonly clients: number;
  readonly packets: number;
  readonly answers: number;
  /** Packets without a reply, or with a NAK. */
  readonly refusals: number;
  /** The most frequent reason for that. */
  readonly topReason: string;
  /** Seconds since the last packet; undefined if there was none. */
  readonly lastSeconds: number | undefined;
  /** How many seconds the agent has counted; undefined if it could not be queried. */
  readonly countedSeconds: number | undefined;
  /** Why the agent could not be queried; empty if it was. */
  readonly error: string;
}

export interface TopClientRow {
  readonly macAddress: string;
  readonly pool: string;
  readonly agent: string;
  readonly packets: number;
  readonly answers: number;
  readonly refusals: number;
  readonly topReason: string;
  readonly lastSeconds: number | undefined;
  /** The last message and its reply: `DISCOVER: OFFER 192.168.48.10`. */
  readonly last: string;
}

export const TOP_ORDERS = ['packets', 'refusals', 'last', 'name'] as const;

export type TopOrder = (typeof TOP_ORDERS)[number];

export interface AskedLeader {
  readonly leader: Leader;
  readonly asked: AskedAgent;
}

export interface TopRows {
  readonly pools: readonly TopPoolRow[];
  readonly clients: readonly TopClientRow[];
}

export interface TopQuestion {
  /** `namespace/name`; undefined for all. */
  readonly pool: string | undefined;
  readonly sort: TopOrder;
  /** The largest number of clients. */
  readonly limit: number;
  readonly nowMs: number;
}

export function topRows(leaders: readonly AskedLeader[], { pool, sort, limit, nowMs }: TopQuestion): TopRows {
  const isAsked = (row: { readonly pool: string }): boolean => pool === undefined || row.pool === pool;
  const pools = leaders.flatMap((one) => poolRows(one, nowMs)).filter(isAsked);
  const clients = leaders.flatMap((one) => clientRows(one, nowMs)).filter(isAsked);
  return {
    pools: pools.toSorted(inOrder(sort, ({ pool: name, agent }) => `${name} ${agent}`)),
    clients: clients.toSorted(inOrder(sort, ({ macAddress }) => macAddress)).slice(0, limit),
  };
}

interface Sorted {
  readonly packets: number;
  readonly refusals: number;
  readonly lastSeconds: number | undefined;
}

/** The highest count first; equal ones by name. */
function inOrder<Row extends Sorted>(sort: TopOrder, nameOf: (row: Row) => string): (one: Row, other: Row) => number {
  const weightOf = ({ packets, refusals, lastSeconds }: Row): number =>
    ({ packets, refusals, last: -(lastSeconds ?? Number.MAX_SAFE_INTEGER), name: 0 })[sort];
  return (one, other) => weightOf(other) - weightOf(one) || (nameOf(one) < nameOf(other) ? -1 : 1);
}

function poolRows({ leader, asked }: AskedLeader, nowMs: number): TopPoolRow[] {
  const { group, pools } = leader;
  const agent = agentOf(leader);
  if (asked.kind === 'failed') {
    const nothing = { clients: 0, packets: 0, answers: 0, refusals: 0, topReason: '', lastSeconds: undefined };
    const names = pools.length === 0 ? [''] : pools;
    return names.map((pool) => ({ pool, agent, group, ...nothing, countedSeconds: undefined, error: asked.message }));
  }
  const { traffic } = asked;
  const countedSeconds = secondsSince(traffic.sinceMs, nowMs);
  const silent = pools.filter((pool) => !traffic.places.some((place) => place.pool === pool));
  const none = { interface: '', messages: {}, answers: {}, unanswered: {}, lastAtMs: 0 };
  return [...traffic.places, ...silent.map((pool) => ({ pool, ...none }))].map((place) => ({
    pool: place.pool,
    agent,
    group,
    clients: traffic.clients.filter(({ pool, interface: on }) => pool === place.pool && on === place.interface).length,
    ...countsOf(place, nowMs),
    countedSeconds,
    error: '',
  }));
}

function clientRows({ leader, asked }: AskedLeader, nowMs: number): TopClientRow[] {
  if (asked.kind === 'failed') return [];
  return asked.traffic.clients.map((client) => {
    const last = client.last.at(-1);
    return {
      macAddress: client.macAddress,
      pool: client.pool,
      agent: agentOf(leader),
      ...countsOf(client, nowMs),
      last: last === undefined ? '' : `${last.received}: ${last.answer ?? last.reason ?? 'no answer'}`,
    };
  });
}

function agentOf({ namespace, pod }: Leader): string {
  return pod === undefined ? '' : `${namespace}/${pod}`;
}

function countsOf(counts: TrafficCounts, nowMs: number) {
  const { answers, unanswered, lastAtMs } = counts;
  return {
    packets: packetsOf(counts),
    answers: packetsOf({ messages: answers }),
    refusals: refusalsOf(counts),
    topReason: mostFrequent(unanswered) ?? ((answers['NAK'] ?? 0) > 0 ? 'NAK' : ''),
    lastSeconds: lastAtMs === 0 ? undefined : secondsSince(lastAtMs, nowMs),
  };
}

function secondsSince(atMs: number, nowMs: number): number {
  return Math.max(0, Math.round((nowMs - atMs) / 1000));
}
