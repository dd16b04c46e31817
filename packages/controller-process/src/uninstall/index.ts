/**
 * Removes from a cluster what the controller created.
 *
 * @packageDocumentation
 */
export { Uninstall } from './uninstall.js';
