import type { MacAddress, Pool } from '@vmdhcp/dhcp-allocator';
import type { Quarantine } from '../pool/quarantines.js';
import type { RecordedAddresses } from '../pool/recorded-addresses.js';
import type { LastOwners } from './assignment-plan.js';

/** A pool that addresses are assigned from. */
export interface PoolToPlan {
  /** `namespace/name`. */
  readonly key: string;
  /** `namespace/name` of the network it serves. */
  readonly network: string;
  readonly pool: Pool;
  readonly recorded: RecordedAddresses;
  readonly quarantines: readonly Quarantine[];
  /** @see PoolState.mostClients */
  readonly mostClients?: number;
  /** Now, on the clock that quarantines end by. */
  readonly nowMs: number;
  /** Nothing new is assigned; an address that is not claimed any more is freed. */
  readonly paused: boolean;
  /** Clients whose address is recorded and stays so, though the virtual machine that has it does not claim it at the moment. */
  readonly reserved: ReadonlyMap<MacAddress, MachineWithoutConfig>;
  /** @see KnownState.lastOwners */
  readonly lastOwners: LastOwners;
}

/** A virtual machine whose config is on its way. */
export interface MachineWithoutConfig {
  /** `namespace/name`, as its config will have it. */
  readonly owner: string;
  readonly createdAt: string;
}
