/** The answers to the paths under /api/, as data. */

import { sectionsIn } from '../access/page-access.js';
import { MOST_OF_SECTION, type SeenSections, toAttention } from '../lists/attention.js';
import { findLeases, type LeasePlace, parseLeasePlace } from '../lists/find-leases.js';
import type { Pause } from '../lists/pause.js';
import { toVerdict } from '../lists/verdict.js';
import type { ChangeFeed } from '../live/change-feed.js';
import {
  type AttentionPage,
  EVENTS_OF,
  type EventsOf,
  type HostsPage,
  type Overview,
  type Section,
  type SectionAccess,
} from '../model/page-data.js';
import { sumCounts } from '../pool/draw-map.js';
import type { LeaseNames } from '../pool/pool-leases.js';
import { type PoolSnapshot, toPoolPage } from '../pool/pool-snapshot.js';
import type { PageSource } from '../source/page-source.js';
import { nextTurn } from './next-turn.js';
import { PageProblem } from './page-problem.js';
import type { Places } from './places.js';

/** Facts about the server itself. */
export interface ServedPage {
  readonly source: PageSource;
  readonly feed: ChangeFeed;
  /** The places of requests that wait for their answers. */
  readonly places: Places<PageRequest>;
  readonly version: string;
  /** The pod or host. */
  readonly servedBy: string;
  /** Milliseconds since 1970. */
  readonly wallTimeMs: () => number;
}

export interface PageRequest {
  /** After `/api/`, with escapes. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly user: string | null;
  readonly sections: Readonly<Record<Section, SectionAccess>>;
  /** False if the connection is closed. */
  readonly isWaiting: () => boolean;
}

/**
 * The maximum number of simultaneous requests of a user; a browser makes six. Each has a slice of about a millisecond in each turn of the event loop, so
 * a user delays others by at most as many milliseconds.
 */
export const MOST_REQUESTS_OF_USER = 32;
const DEFAULT_LIMIT = 100;
const MOST_LIMIT = 500;
const MOST_SEARCH = 200;

interface Route {
  readonly section: Section | undefined;
  readonly answer: Answer;
  /** Waits for the API server before the answer is made. */
  readonly read?: (page: ServedPage, request: PageRequest) => Promise<unknown>;
}

/** The sections that a path needs. */
const ROUTES: Readonly<Record<string, Route>> = {
  overview: { section: undefined, answer: answerOverview },
  attention: { section: undefined, read: readUnhealthyHosts, answer: answerAttention },
  leases: { section: 'pools', answer: answerLeases },
  'machines-without-address': { section: 'machines', answer: answerMachines },
  agents: { section: 'agents', answer: ({ source }) => source.agents() },
  'wake-on-lan': { section: 'wake-on-lan', answer: ({ source }) => source.wakeOnLan() },
  hosts: { section: 'hosts', read: readHosts, answer: asRead },
  'recent-events': { section: 'events', read: readEvents, answer: asRead },
};

interface Work {
  /** Called between two slices of the work. It rejects when the connection is closed, and the rest is dropped. */
  readonly pause: Pause;
  /** The result of `read`. */
  readonly data: unknown;
}

type Answer = (page: ServedPage, request: PageRequest, work: Work) => unknown;

function asRead(_page: ServedPage, _request: PageRequest, { data }: Work): unknown {
  return data;
}

/** The answer as JSON. @throws PageProblem if the request is wrong, or the user lacks the right. */
export async function answerApi(page: ServedPage, request: PageRequest): Promise<string> {
  const route = routeOf(request.path);
  if (route === undefined) throw new PageProblem(404, 'not-found', 'nothing is here; src/model/page-data.ts lists what there is');
  if (route.section !== undefined) demand(request, route.section);
  if (!page.places.take(request.user, request))
    throw new PageProblem(
      429,
      'too-many-requests',
      'too many of your requests wait for their answers; try again in a few seconds',
    );
  try {
    return await answerInSlices(page, route, request);
  } finally {
    page.places.free(request.user, request);
  }
}

function routeOf(path: string): Route | undefined {
  const pool = poolKeyIn(path);
  if (pool !== undefined) return { section: 'pools', answer: (page) => answerPool(page, pool) };
  return Object.hasOwn(ROUTES, path) ? ROUTES[path] : undefined;
}

async function answerInSlices(page: ServedPage, { read, answer }: Route, request: PageRequest): Promise<string> {
  const data = await read?.(page, request);
  const pause = async () => {
    await nextTurn();
    if (!request.isWaiting()) throw new PageProblem(503, 'unavailable', 'the connection was closed before the answer');
  };
  await pause();
  return JSON.stringify(await answer(page, request, { pause, data }));
}

/** For work that several requests share: it continues when one of them is dropped. */
const sharedPause: Pause = async () => void (await nextTurn());

/** `pools/NAMESPACE/NAME` names a pool. */
function poolKeyIn(path: string): string | undefined {
  const [, namespace, name] = /^pools\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  try {
    return `${decodeURIComponent(namespace)}/${decodeURIComponent(name)}`;
  } catch {
    return undefined;
  }
}

function demand({ sections, user }: PageRequest, section: Section): void {
  const access = sections[section];
  if (access.kind === 'off') throw new PageProblem(404, 'not-found', `this server has no section ${section}`);
  if (access.kind === 'shown') return;
  throw new PageProblem(403, 'forbidden', `user ${JSON.stringify(user)} lacks the right to ${access.right}`);
}

function answerOverview({ source, version, servedBy, wallTimeMs }: ServedPage, { user, sections }: PageRequest): Overview {
  const pools = sections.pools.kind === 'shown' ? source.pools().map(({ summary }) => summary) : [];
  return {
    source: source.kind,
    version,
    servedBy,
    isLeader: source.isLeader(),
    atMs: wallTimeMs(),
    unready: source.unready(),
    user,
    sections,
    totals: sumCounts(pools.map(({ counts }) => counts)),
    pools,
  };
}

function answerPool({ feed }: ServedPage, key: string): unknown {
  const found = feed.pool(key);
  if (found === undefined) throw new PageProblem(404, 'not-found', `there is no pool ${key}; it may have been deleted`);
  return toPoolPage(found.snapshot, found.version);
}

function answerLeases({ source }: ServedPage, { query, sections }: PageRequest, { pause }: Work): unknown {
  const search = query.get('search') ?? '';
  if (search.length > MOST_SEARCH)
    throw new PageProblem(400, 'bad-request', `search has more than ${MOST_SEARCH} characters; write fewer`);
  const wanted = { search, limit: limitIn(query), after: placeIn(query) };
  return findLeases(poolsIn(source, query), wanted, { names: namesFor(source, sections), pause });
}

function placeIn(query: URLSearchParams): LeasePlace | undefined {
  const text = query.get('continue') ?? '';
  const place = parseLeasePlace(text);
  if (text === '' || place !== undefined) return place;
  throw new PageProblem(400, 'bad-request', 'continue is not of an earlier answer; begin without it');
}

/** All pools, or the named one. */
function poolsIn(source: PageSource, query: URLSearchParams): readonly PoolSnapshot[] {
  const key = query.get('pool') ?? '';
  if (key === '') return source.pools();
  const found = source.pool(key);
  return found === undefined ? [] : [found.snapshot];
}

async function answerMachines({ source }: ServedPage, { query, sections }: PageRequest): Promise<unknown> {
  const after = query.get('continue') ?? '0';
  if (!/^\d{1,9}$/.test(after))
    throw new PageProblem(400, 'bad-request', 'continue is not of an earlier answer; begin without it');
  return await source.machines({
    ...{ limit: limitIn(query), offset: Number(after) },
    ...{ sections: sectionsIn(sections), pause: sharedPause },
  });
}

function readHosts({ source }: ServedPage, { query, sections }: PageRequest): Promise<unknown> {
  const limit = query.has('limit') ? limitIn(query) : Number.POSITIVE_INFINITY;
  return source.hosts({ limit, sections: sectionsIn(sections) });
}

/** Undefined if the user may see none, or they cannot be read now. */
async function readUnhealthyHosts({ source }: ServedPage, { sections }: PageRequest): Promise<HostsPage | undefined> {
  if (sections.hosts.kind !== 'shown') return undefined;
  try {
    return await source.hosts({ limit: MOST_OF_SECTION, sections: sectionsIn(sections) });
  } catch {
    // The answer names the skipped sections; the view of hosts shows the error.
    return undefined;
  }
}

async function answerAttention({ source }: ServedPage, { sections }: PageRequest, { data }: Work): Promise<AttentionPage> {
  const shown = sectionsIn(sections);
  const query = { limit: MOST_OF_SECTION, offset: 0, sections: shown, pause: sharedPause };
  const seen: SeenSections = {
    ...(shown.has('pools') && { pools: source.pools().map(({ summary }) => summary) }),
    ...(shown.has('machines') && { machines: await source.machines(query) }),
    ...(shown.has('agents') && { agents: source.agents() }),
    ...(shown.has('wake-on-lan') && { 'wake-on-lan': source.wakeOnLan() }),
    ...(data !== undefined && { hosts: data as HostsPage }),
  };
  return { ...toAttention(seen), ...toVerdict({ sections, unready: source.unready() }, seen) };
}

/** The right to list Events does not reveal objects that the user may not list. */
async function readEvents({ source }: ServedPage, request: PageRequest): Promise<unknown> {
  const [asked = '', pool = ''] = ['of', 'pool'].map((name) => request.query.get(name) ?? '');
  const isKnown = (EVENTS_OF as readonly string[]).includes(asked);
  if (!isKnown) throw new PageProblem(400, 'bad-request', `of must be one of ${EVENTS_OF.join(', ')}`);
  if (pool !== '' && !POOL_KEY.test(pool)) throw new PageProblem(400, 'bad-request', 'pool must be NAMESPACE/NAME');
  const of = asked as EventsOf;
  demand(request, of);
  return await source.recentEvents({ of, pool, sections: sectionsIn(request.sections) });
}

/** Only Kubernetes names, so that the text cannot change the meaning of a selector. */
const POOL_KEY = /^[a-z0-9][a-z0-9.-]{0,252}\/[a-z0-9][a-z0-9.-]{0,252}$/;

/** Hides names of virtual machines from users who may not list VirtualMachineNetworkConfigs. */
function namesFor(source: PageSource, sections: PageRequest['sections']): LeaseNames {
  return sectionsIn(sections).has('machines') ? source.machineOf : () => '';
}

function limitIn(query: URLSearchParams): number {
  const text = query.get('limit') ?? String(DEFAULT_LIMIT);
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MOST_LIMIT)
    throw new PageProblem(
      400,
      'bad-request',
      `limit must be a number from 1 to ${MOST_LIMIT}, not ${JSON.stringify(text.slice(0, 20))}`,
    );
  return limit;
}
