/** The source of the page's data: a cluster's caches, or the agent of a bare host. */
import type { MachineQuery } from '../lists/machines-without-address.js';
import type { EventQuery } from '../lists/recent-events.js';
import type { AgentsPage, HostsPage, MachinePage, RecentEventsPage, Section, WakeOnLanPage } from '../model/page-data.js';
import type { VersionedPool } from '../pool/diff-pools.js';
import type { LeaseNames } from '../pool/pool-leases.js';
import type { PoolSnapshot } from '../pool/pool-snapshot.js';

/** What changed in the data of the page. */
export interface SourceChange {
  readonly section: Section;
  /** For the section `pools`: the pool. */
  readonly pool?: string;
}

export interface HostQuery {
  /** The maximum number of hosts; Infinity for all. */
  readonly limit: number;
  /** The user's rights, because Events explain why a host is not healthy. */
  readonly sections: ReadonlySet<Section>;
}

export interface PageSource {
  readonly kind: 'cluster' | 'bare-host';
  /** The existing sections. */
  readonly sections: ReadonlySet<Section>;
  /** What has not been read completely yet, for people. */
  readonly unready: () => readonly string[];
  readonly isLeader: () => boolean | null;
  /** Sorted by key. */
  readonly pools: () => readonly PoolSnapshot[];
  readonly pool: (key: string) => VersionedPool | undefined;
  /** The virtual machine that has an address. */
  readonly machineOf: LeaseNames;
  readonly machines: (query: MachineQuery) => Promise<MachinePage>;
  readonly agents: () => AgentsPage;
  readonly wakeOnLan: () => WakeOnLanPage;
  /** @throws Error if they cannot be read now. */
  readonly hosts: (query: HostQuery) => Promise<HostsPage>;
  /** @throws Error if they cannot be read now. */
  readonly recentEvents: (query: EventQuery) => Promise<RecentEventsPage>;
  /** Calls the listener after each change, until the returned function is called. */
  readonly onChange: (listener: (change: SourceChange) => void) => () => void;
}

/** Only pools, for a source without a cluster. */
export const POOLS_ALONE: Pick<
  PageSource,
  'sections' | 'isLeader' | 'machineOf' | 'machines' | 'agents' | 'wakeOnLan' | 'hosts' | 'recentEvents'
> = {
  sections: new Set(['pools']),
  isLeader: () => null,
  machineOf: () => '',
  machines: async () => ({ rows: [], total: 0, broken: 0, continue: null }),
  agents: () => ({ groups: [], followedSinceMs: 0 }),
  wakeOnLan: () => ({ configs: [] }),
  hosts: async () => ({ clusterAgents: [], hosts: [], counts: { ok: 0, broken: 0, unknown: 0 } }),
  recentEvents: async () => ({ rows: [] }),
};
