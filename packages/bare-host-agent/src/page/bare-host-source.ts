/** Reads what the page shows of a bare host, its pools and their leases, repeatedly while a page is open. */
import { parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import type { Clock } from '@vmdhcp/kube-runtime';
import type { LeaseView, QuarantineView } from '@vmdhcp/lease-stores';
import {
  AddressTable,
  keptReservations,
  type PageReason,
  type PageSource,
  POOLS_ALONE,
  type PoolClient,
  type PoolFacts,
  type SourceChange,
  toPageReason,
  toPoolSnapshot,
  type VersionedPool,
} from '@vmdhcp/status-page';
import type { BareHostView } from '../agent/bare-host-view.js';

/** Requests within this time share one reading. */
const READ_MS = 1_000;
/** Reading pauses for forty times its duration: packets come first. */
const REST_FACTOR = 40;
const MOST_REST_MS = 5_000;

export interface BareHostNames {
  /** Identifies this process. */
  readonly instance: string;
  /** The name of the host. */
  readonly host: string;
}

/** Returns what the page shows: the pools of this host and their leases. */
export function bareHostSource(view: BareHostView, clock: Clock, names: BareHostNames): PageSource {
  const pools = new BareHostPools(view, clock, names);
  return {
    ...POOLS_ALONE,
    kind: 'bare-host',
    unready: () => [],
    pools: () => [...pools.read().values()].map(({ snapshot }) => snapshot),
    pool: (key) => pools.read().get(key),
    onChange: (listener) => pools.follow(listener),
  };
}

type Pools = ReadonlyMap<string, VersionedPool>;

/** One pool in one reading. */
interface FoundOfPool {
  readonly leases: readonly LeaseView[];
  readonly quarantines: readonly QuarantineView[];
  /** Why it is not served; undefined if it is. */
  readonly unserved: string | undefined;
}

class BareHostPools {
  readonly #view: BareHostView;
  readonly #clock: Clock;
  readonly #names: BareHostNames;
  #known: Pools = new Map();
  #versions = 0;
  #freshUntilMs = Number.NEGATIVE_INFINITY;

  constructor(view: BareHostView, clock: Clock, names: BareHostNames) {
    this.#view = view;
    this.#clock = clock;
    this.#names = names;
  }

  /** Sorted by key. */
  read(): Pools {
    const startedAtMs = this.#clock.nowMs();
    if (startedAtMs < this.#freshUntilMs) return this.#known;
    const leases = Map.groupBy(this.#view.leases(), ({ pool }) => pool);
    const quarantines = Map.groupBy(this.#view.quarantines(), ({ pool }) => pool);
    const reasons = new Map(this.#view.unserved().map(({ pool, reason }) => [pool, reason]));
    const names = [...this.#view.planned().keys()].toSorted();
    this.#known = new Map(
      names.map((name) => {
        const found = { leases: leases.get(name) ?? [], quarantines: quarantines.get(name) ?? [], unserved: reasons.get(name) };
        return [name, this.#version(name, this.#factsOf(name, found))];
      }),
    );
    const endedAtMs = this.#clock.nowMs();
    this.#freshUntilMs = endedAtMs + Math.min(MOST_REST_MS, Math.max(READ_MS, REST_FACTOR * (endedAtMs - startedAtMs)));
    return this.#known;
  }

  /** Checks the leases from time to time: the packet path should not know of the page. */
  follow(listener: (change: SourceChange) => void): () => void {
    let before = this.read();
    let cancel: () => void = () => undefined;
    const later = () => {
      cancel = this.#clock.after(Math.max(READ_MS, this.#freshUntilMs - this.#clock.nowMs()), look);
    };
    const look = () => {
      const now = this.read();
      const keys = new Set([...before.keys(), ...now.keys()]);
      for (const pool of keys) if (before.get(pool) !== now.get(pool)) listener({ section: 'pools', pool });
      before = now;
      later();
    };
    later();
    return () => cancel();
  }

  /** Returns the earlier version if nothing changed. */
  #version(name: string, facts: PoolFacts): VersionedPool {
    const known = this.#known.get(name);
    if (known !== undefined && isSame(known.snapshot.facts, facts)) return known;
    return { version: `${this.#names.instance}-${++this.#versions}`, snapshot: toPoolSnapshot(facts) };
  }

  #factsOf(name: string, { leases, quarantines, unserved }: FoundOfPool): PoolFacts {
    const [namespace = '', poolName = ''] = name.split('/', 2);
    const pool = this.#view.planned().get(name)?.configured.pool;
    const before = this.#known.get(name)?.snapshot.facts;
    const { clients, kept } = tablesOf(pool, leases, before);
    const reasons: readonly PageReason[] = unserved === undefined ? [] : [toPageReason('NotServing', unserved)];
    return {
      namespace,
      name: poolName,
      network: (this.#view.interfacesOf.get(name) ?? []).join(', '),
      pool,
      clients,
      kept,
      unusable: [],
      quarantined: quarantines.map(({ address, untilMs }) => ({ address, untilMs, usedBy: '' })),
      state: reasons.length === 0 ? 'ok' : 'broken',
      reasons,
      conditions: [],
      servedByPod: reasons.length === 0 ? this.#names.host : '',
      agents: '',
    };
  }
}

/** A declaration in the pools file reserves the address until the client requests it. */
function tablesOf(pool: PoolFacts['pool'], leases: readonly LeaseView[], before: PoolFacts | undefined) {
  const { bound = [], assigned = [] } = Object.groupBy(leases, ({ state }) => state);
  const clients = toTable(bound, before?.clients ?? NO_CLIENTS);
  const known: AddressTable<PoolClient> = before?.kept ?? NO_CLIENTS;
  const declared = toTable(assigned, known);
  const kept = keptReservations(pool, clients).with({ removed: [], set: declared.entries() });
  return { clients, kept: kept.sharing(known) };
}

const NO_CLIENTS: AddressTable<PoolClient> = AddressTable.of();

/** By address. @param before - leases of an earlier reading: an unchanged lease stays the same object. */
function toTable(leases: readonly LeaseView[], before: AddressTable<PoolClient>): AddressTable<PoolClient> {
  const entries = leases.flatMap((lease) => {
    const client = toClient(lease);
    if (client === undefined) return [];
    const known = before.get(client.address);
    return [[client.address, known !== undefined && isSameClient(known, client) ? known : client] as const];
  });
  return AddressTable.of(entries).sharing(before);
}

function toClient({ address: text, macAddress: mac, hostname, owner, expires, dynamic }: LeaseView): PoolClient | undefined {
  const [address, macAddress] = [parseIpv4Address(text), parseMacAddress(mac)];
  if (address === undefined || macAddress === undefined) return undefined;
  // A declared address stays with its client when the lease ends.
  const expiresAtMs = dynamic === true ? Date.parse(expires ?? '') : Number.NaN;
  return {
    address,
    macAddress,
    ...(hostname !== undefined && { hostname }),
    ...(owner !== undefined && { owner }),
    ...(!Number.isNaN(expiresAtMs) && { expiresAtMs }),
    ...(dynamic === true && { isUnknown: true }),
  };
}

function isSameClient(one: PoolClient, other: PoolClient): boolean {
  const parts = ['macAddress', 'hostname', 'owner', 'expiresAtMs', 'isUnknown'] as const;
  return parts.every((part) => one[part] === other[part]);
}

function isSame(one: PoolFacts, other: PoolFacts): boolean {
  if (one.pool !== other.pool || one.network !== other.network) return false;
  if (one.reasons[0]?.message !== other.reasons[0]?.message) return false;
  if (describeQuarantines(one) !== describeQuarantines(other)) return false;
  return isSameTable(one.clients, other.clients) && isSameTable(one.kept, other.kept);
}

function isSameTable<Row extends object>(one: AddressTable<Row>, other: AddressTable<Row>): boolean {
  return one.size === other.size && other.differences(one).length === 0;
}

function describeQuarantines({ quarantined }: PoolFacts): string {
  return quarantined.map(({ address, untilMs }) => `${address} ${untilMs}`).join();
}
