/**
 * A read-only page of the service: its data, and HTTP.
 *
 * @packageDocumentation
 */

export { applyMapChanges, diffRuns, RunBuilder } from './model/address-map.js';
export type * from './model/page-data.js';
export { ADDRESS_STATES, SECTIONS } from './model/page-data.js';
