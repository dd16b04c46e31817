import type { Ipv4Address, MacAddress, Pool } from '@vmdhcp/dhcp-allocator';
import type { Quarantine } from '../pool/quarantines.js';
import type { RecordedAddresses } from '../pool/recorded-addresses.js';
import type { LastOwners } from './assignment-plan.js';

/** A pool to plan. */
export interface PoolToPlan {
  /** `namespace/name`. */
  readonly key: string;
  /** `namespace/name` of the network it serves. */
  readonly network: string;
  readonly pool: Pool;
  readonly recorded: RecordedAddresses;
  readonly quarantines: readonly Quarantine[];
  /** Recorded addresses that another machine uses: they are in `quarantines`. Absent if there are none. */
  readonly conflicts?: ReadonlySet<Ipv4Address>;
  /** @see PoolState.mostClients */
  readonly mostClients?: number;
  /** Now, on the clock of quarantines. */
  readonly nowMs: number;
  /** True if nothing new is assigned; addresses without a claim are freed. */
  readonly paused: boolean;
  /** Clients whose recorded address stays, although their virtual machine does not claim it at the moment. */
  readonly reserved: ReadonlyMap<MacAddress, MachineWithoutClaim>;
  /** @see KnownState.lastOwners */
  readonly lastOwners: LastOwners;
}

/** A virtual machine whose config is missing, or does not claim the address yet. */
export interface MachineWithoutClaim {
  /** `namespace/name` of its config, which may not exist yet. */
  readonly owner: string;
  readonly createdAt: string;
}
