/**
 * Stores leases: addresses of declared clients in a state file, leases of unknown clients in a log on a disk.
 *
 * @packageDocumentation
 */

export { hasBindingFile, openFileRecords } from './bindings/file-records.js';
export type { LogFile, LogFiles } from './bindings/log-files.js';
export { createBindings, readBindings } from './bindings/moved-bindings.js';
export { peekBindings } from './bindings/peek-bindings.js';
export { viewsOf } from './bindings/views-of.js';
export { formatLeaseTable } from './lease/lease-table.js';
export { type LeaseView, type QuarantineView, toLeaseView } from './lease/lease-view.js';
export { OpenLeases, type OpenLeasesSettings } from './open/open-leases.js';
export { peekState, StateDirectory } from './state/state-directory.js';
export { EMPTY_STATE, type ExpiryOf, type Owners, type StateToSave, type StoredState } from './state/state-format.js';
