/**
 * Ports of an agent on a real API server.
 *
 * @packageDocumentation
 */
export { ApiGroupLease, type ApiGroupLeaseSettings } from './api-group-lease.js';
