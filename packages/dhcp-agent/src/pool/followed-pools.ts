/** Follows the IPPools that this agent serves, and keeps the DHCP server up to date with them. */
import { type Assignment, formatIpv4Address, type Lease, type MacAddress, type Pool } from '@vmdhcp/dhcp-allocator';
import { type AgentNetworkConfig, type ReasonAt, readPoolLogSettings } from '@vmdhcp/ippool-api/agent';
import {
  describeProblems,
  isBeingDeleted,
  type KubernetesObject,
  ObjectCache,
  readConditions,
  readField,
  readList,
} from '@vmdhcp/kube-runtime';
import { type AddressConflict, probesConflicts, readPool } from '@vmdhcp/reconciler/pool';
import type { AgentPorts, NameLookup } from '../ports.js';
import type { DhcpServer } from '../server/dhcp-server.js';
import { ServedRecord } from './served-record.js';

const NETWORK_SILENT = 'NetworkSilent' satisfies ReasonAt<'IPPool AgentReady=False'>;

/** The state of a pool. */
export type FollowedPool =
  | {
      readonly kind: 'active';
      readonly pool: Pool;
      /** True if an address is probed before a new client gets it. */
      readonly probesConflicts: boolean;
      /** True if clients are not answered while another DHCP server is on the network. */
      readonly stopsForRogueServer: boolean;
      /** True if the controller reports that machines run on the network and the leader reaches none of them. */
      readonly isSilent: boolean;
    }
  /** Nothing is wrong, but the pool must not be served. */
  | { readonly kind: 'paused' }
  | { readonly kind: 'unserved'; readonly reason: ReasonAt<'agent report'>; readonly message: string };

export interface FollowedPoolsPorts
  extends Pick<AgentPorts, 'clock' | 'random' | 'poolSource' | 'ntpNames' | 'neededFor' | 'observer'> {
  readonly server: DhcpServer;
  /** A pool has changed. */
  readonly onChange: (poolKey: string) => void;
  /** Clients of a pool have new addresses. */
  readonly onFresh: (poolKey: string, leases: readonly Lease[]) => void;
}

/** How long a client does not get an address that another host uses. */
const QUARANTINE_MS = 3_600_000;
const SERVER_ADDRESS_REFUSED = 'ServerAddressRefused';
const BACK_OFF = { firstMs: 100, mostMs: 5_000 };
const NOT_LISTED: FollowedPool = {
  kind: 'unserved',
  reason: 'NotListed',
  message:
    'the API server has not sent the pool yet; if this lasts, look at the log of the agent and at the rights of its ServiceAccount',
};

export class FollowedPools {
  readonly #ports: FollowedPoolsPorts;
  readonly #caches = new Map<string, ObjectCache<KubernetesObject>>();
  readonly #pools = new Map<string, FollowedPool>();
  /** The parsed pool of each spec, so that a change of the status does not make a new one. */
  readonly #read = new Map<string, { readonly of: string; readonly pool: Pool }>();
  /** By pool, then MAC address: the address that another machine uses, and until when the conflict lasts. */
  readonly #conflicts = new Map<string, Map<MacAddress, { readonly conflict: AddressConflict; readonly untilMs: number }>>();
  /** By pool: the record that the server uses. */
  readonly #records = new Map<string, ServedRecord>();
  readonly #ntpNames: NameLookup;
  /** By pool: the last logged problem of its log annotations. */
  readonly #logProblems = new Map<string, string>();

  constructor(configs: readonly AgentNetworkConfig[], ports: FollowedPoolsPorts) {
    this.#ports = ports;
    this.#ntpNames = ports.ntpNames(() => {
      this.#read.clear();
      for (const key of this.#caches.keys()) this.#update(key);
    });
    for (const { ipPoolRef } of configs) this.#caches.set(ipPoolRef, this.#createCache(ipPoolRef));
  }

  start(): void {
    for (const cache of this.#caches.values()) cache.start();
  }

  /** Lists pools again that are already listed, because their watches may lag. Until the new lists arrive, the known state is served. */
  async refresh(): Promise<void> {
    const listed = [...this.#caches.values()].filter(({ synced }) => synced);
    await Promise.all(listed.map((cache) => cache.refresh()));
  }

  stop(): void {
    this.#ntpNames.stop();
    for (const cache of this.#caches.values()) cache.stop();
  }

  get(poolKey: string): FollowedPool {
    return this.#pools.get(poolKey) ?? NOT_LISTED;
  }

  /** The pool, if it is active and addresses may be probed on its network. */
  probedPool(poolKey: string): Pool | undefined {
    const followed = this.#pools.get(poolKey);
    return followed?.kind === 'active' && followed.probesConflicts ? followed.pool : undefined;
  }

  /** The resourceVersion of the known state of a pool. */
  versionOf(poolKey: string): string | undefined {
    return this.#caches.get(poolKey)?.get(poolKey)?.metadata.resourceVersion;
  }

  /** Addresses that clients cannot have because other machines use them, for the report to the controller. */
  conflictsOf(poolKey: string): AddressConflict[] {
    return [...(this.#conflicts.get(poolKey)?.values() ?? [])].map(({ conflict }) => conflict);
  }

  /** Notes a conflict: the client gets no reply until it has another address or the time is over, which is better than an address in use. */
  noteConflict(poolKey: string, conflict: AddressConflict): void {
    const ofPool = this.#conflicts.get(poolKey) ?? new Map<MacAddress, { conflict: AddressConflict; untilMs: number }>();
    const known = ofPool.get(conflict.macAddress)?.conflict;
    if (known?.address === conflict.address && (known.usedBy ?? conflict.usedBy) === known.usedBy) return;
    this.#conflicts.set(
      poolKey,
      ofPool.set(conflict.macAddress, { conflict, untilMs: this.#ports.clock.nowMs() + QUARANTINE_MS }),
    );
    this.#update(poolKey);
  }

  /** Forgets conflicts whose time is over. Call it now and then. */
  expireConflicts(): void {
    for (const [poolKey, ofPool] of this.#conflicts) {
      const isOver = [...ofPool.values()].some(({ untilMs }) => untilMs <= this.#ports.clock.nowMs());
      if (isOver && this.#caches.get(poolKey)?.synced) this.#update(poolKey);
    }
  }

  /** Call it when the addresses that the pod needs may have changed. */
  checkServerAddresses(): void {
    for (const [key, cache] of this.#caches) {
      const known = this.#pools.get(key);
      const wasRefused = known?.kind === 'unserved' && known.reason === SERVER_ADDRESS_REFUSED;
      const isRefused = known?.kind === 'active' && this.#whyRefused(known.pool) !== undefined;
      if ((wasRefused || isRefused) && cache.synced) this.#update(key);
    }
  }

  /** Pools that have not been listed yet. */
  unsynced(): string[] {
    return [...this.#caches].flatMap(([key, cache]) => (cache.synced ? [] : [key]));
  }

  #createCache(key: string): ObjectCache<KubernetesObject> {
    const { poolSource, clock, random, observer } = this.#ports;
    return new ObjectCache({
      port: poolSource(key),
      clock,
      backOff: { ...BACK_OFF, random },
      onChange: () => {
        if (this.#caches.get(key)?.synced) this.#update(key);
      },
      onSynced: () => this.#update(key),
      onError: (error) => observer.observe({ kind: 'pool-unreadable', pool: key, error }),
    });
  }

  #update(key: string): void {
    const { server, onChange, onFresh } = this.#ports;
    const before = this.#pools.get(key);
    const object = this.#caches.get(key)?.get(key);
    const now = this.#toPool(key, object);
    this.#pools.set(key, now);
    if (now.kind === 'active') {
      const fresh = this.#serve(key, now.pool, object?.status);
      if (now.probesConflicts && fresh.length > 0) onFresh(key, fresh);
    } else {
      server.removePool(key);
      this.#records.delete(key);
    }
    if (before?.kind !== now.kind) this.#observeState(key, now);
    this.#wantNtpNames();
    this.#readLogSettings(key, object);
    onChange(key);
  }

  #serve(key: string, pool: Pool, status: unknown): Lease[] {
    const { server } = this.#ports;
    const record = this.#records.get(key) ?? new ServedRecord(server);
    this.#records.set(key, record);
    if (this.#conflictsIn(key).size === 0) return record.serve(pool, status);
    return record.serve(pool, status, (assignments) => this.#inConflict(key, assignments));
  }

  /** Clients whose address another machine uses. */
  #inConflict(key: string, assignments: readonly Assignment[]): ReadonlySet<MacAddress> {
    this.#forgetConflicts(key, assignments);
    return new Set(this.#conflictsIn(key).keys());
  }

  #conflictsIn(key: string): ReadonlyMap<MacAddress, unknown> {
    return this.#conflicts.get(key) ?? new Map();
  }

  #readLogSettings(key: string, object: KubernetesObject | undefined): void {
    const { settings, problems } = readPoolLogSettings(object?.metadata.annotations ?? {});
    const { observer } = this.#ports;
    const problem = problems.map(({ message, remedy }) => `${message}; ${remedy}`).join('; ');
    if (problem !== '' && this.#logProblems.get(key) !== problem)
      observer.observe({ kind: 'pool-log-annotation-ignored', pool: key, problem });
    this.#logProblems.set(key, problem);
    observer.observe({ kind: 'pool-log-settings', pool: key, settings });
  }

  #observeState(pool: string, now: FollowedPool): void {
    const { observer } = this.#ports;
    if (now.kind === 'unserved') observer.observe({ kind: 'pool', pool, state: now.kind, message: now.message });
    else observer.observe({ kind: 'pool', pool, state: now.kind });
  }

  #toPool(key: string, object: KubernetesObject | undefined): FollowedPool {
    if (object === undefined || isBeingDeleted(object)) {
      this.#read.delete(key);
      return { kind: 'unserved', reason: 'PoolMissing', message: `IPPool ${key} does not exist` };
    }
    if (readField(object.spec, 'paused') === true) return { kind: 'paused' };
    const pool = this.#readPool(key, object);
    if (typeof pool === 'string') return { kind: 'unserved', reason: 'PoolInvalid', message: pool };
    const refusal = this.#whyRefused(pool);
    if (refusal !== undefined) return { kind: 'unserved', reason: SERVER_ADDRESS_REFUSED, message: refusal };
    return {
      kind: 'active',
      pool,
      probesConflicts: probesConflicts(object.spec),
      stopsForRogueServer: readField(object.spec, 'onRogueServer') === 'Stop',
      isSilent: readConditions(object.status).some(({ reason }) => reason === NETWORK_SILENT),
    };
  }

  #whyRefused({ serverAddress }: Pool): string | undefined {
    const owner = this.#ports.neededFor(serverAddress);
    return (
      owner &&
      `the server address ${formatIpv4Address(serverAddress)} is that of ${owner}, which would cut the agent off; replace the pool by one with another spec.ipv4Config.serverIP`
    );
  }

  /** A conflict ends when its client has another address, or when its time is over. */
  #forgetConflicts(poolKey: string, assignments: readonly Assignment[]): void {
    const ofPool = this.#conflicts.get(poolKey);
    if (ofPool === undefined) return;
    const addresses = new Map(assignments.map(({ macAddress, address }) => [macAddress, address]));
    for (const [macAddress, { conflict, untilMs }] of ofPool) {
      if (addresses.get(macAddress) !== conflict.address || untilMs <= this.#ports.clock.nowMs()) ofPool.delete(macAddress);
    }
  }

  /** The pool, or what is wrong with it. */
  #readPool(key: string, object: KubernetesObject): Pool | string {
    const of = `${object.metadata.uid} ${object.metadata.generation}`;
    const known = this.#read.get(key);
    if (known?.of === of) return known.pool;
    const reading = readPool(object, this.#ntpNames.known);
    if (!reading.ok) return describeProblems(reading.problems);
    for (const warning of reading.warnings)
      this.#ports.observer.observe({ kind: 'pool-field-ignored', pool: key, problem: describeProblems([warning]) });
    this.#read.set(key, { of, pool: reading.pool });
    return reading.pool;
  }

  #wantNtpNames(): void {
    const names = [...this.#caches].flatMap(([key, cache]) =>
      readList(cache.get(key)?.spec, 'ipv4Config', 'ntp').filter((name) => typeof name === 'string' && !/^[\d.]+$/.test(name)),
    );
    this.#ntpNames.want(new Set(names as string[]));
  }
}
