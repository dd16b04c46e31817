/**
 * Carries out a migration from Harvester’s vm-dhcp-controller or back, step by step.
 *
 * @packageDocumentation
 */
export { Migration, type MigrationOutlook } from './migration.js';
export { describeLeftovers, findLeftovers, removeLeftovers } from './migration-leftovers.js';
