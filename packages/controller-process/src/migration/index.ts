/**
 * The way from Harvester’s vm-dhcp-controller and back, carried out step by step.
 *
 * @packageDocumentation
 */
export { Migration, type MigrationOutlook } from './migration.js';
export { describeLeftovers, findLeftovers, removeLeftovers } from './migration-leftovers.js';
