/**
 * Carries out a migration from Harvester’s vm-dhcp-controller or back, step by step.
 *
 * @packageDocumentation
 */

export {
  type MigrationDirection,
  type MigrationObservation,
  NOTHING_OBSERVED,
  type WorkloadRole,
} from '../migration-plan/migration-observation.js';
export type { MigrationProblem } from '../migration-plan/migration-problems.js';
export { describeRight, type NeededRight, neededRights } from '../migration-plan/migration-rights.js';
export { Migration, type MigrationOutlook } from './migration.js';
export { describeLeftovers, findLeftovers, removeLeftovers } from './migration-leftovers.js';
export { readPatiently } from './passing-trouble.js';
