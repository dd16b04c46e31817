/**
 * The read-only page of a bare host.
 *
 * @packageDocumentation
 */
export { type BareHostPageSettings, startBareHostPage } from './bare-host-page.js';
export { bareHostSource } from './bare-host-source.js';
