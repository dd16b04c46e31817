import type { ActivePool, AgentsObservation } from './agents-observation.js';
import type { AgentsSettings } from './agents-plan.js';
import type { PoolHandover } from './pool-handover.js';
import type { AgentGroup } from './topology.js';

/** The context that the plans of all groups share. */
export interface GroupContext {
  readonly observed: AgentsObservation;
  readonly settings: AgentsSettings;
  /** By key. */
  readonly pools: ReadonlyMap<string, ActivePool>;
  /** The desired groups, by name. */
  readonly groups: ReadonlyMap<string, AgentGroup>;
  /** Each pool's group, by pool. */
  readonly groupOf: ReadonlyMap<string, string>;
  readonly handover: PoolHandover;
  /** The shortest allowed renew period for all Leases together, in milliseconds. */
  readonly neededRenewPeriodMs: number;
}
