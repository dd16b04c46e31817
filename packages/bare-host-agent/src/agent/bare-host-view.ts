import type { LeaseView, QuarantineView } from '@vmdhcp/lease-stores';
import type { PlannedPool } from '../addresses/planned-pool.js';

/** What the agent knows of its pools. */
export interface BareHostView {
  /** By name. */
  readonly planned: () => ReadonlyMap<string, Pick<PlannedPool, 'configured'>>;
  readonly leases: () => Iterable<LeaseView>;
  /** Addresses that no client gets at the moment. */
  readonly quarantines: () => Iterable<QuarantineView>;
  readonly unserved: () => readonly { readonly pool: string; readonly reason: string }[];
  /** The interfaces that each pool is served on. */
  readonly interfacesOf: ReadonlyMap<string, readonly string[]>;
}
