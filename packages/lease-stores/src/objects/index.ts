/**
 * Leases of unknown clients in API objects, for agents with replicas: slices, and the head that says which of them count.
 *
 * @packageDocumentation
 */
export { BindingObjects } from './binding-objects.js';
export { createSlices } from './create-slices.js';
export { headName, leaseSlicePorts } from './lease-slices.js';
export { readStoredLeases } from './read-stored-leases.js';
