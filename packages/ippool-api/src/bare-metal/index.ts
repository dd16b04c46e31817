/**
 * The kinds of bare-metal hosts, `bmc.spidernet.io/v1beta1`: ClusterAgent, HostEndpoint, HostStatus, HostOperation and LeaseSlice. Types, validation and CRDs
 * come from one schema each. `./bare-metal/keys` has the names without the schemas.
 *
 * @packageDocumentation
 */
import type { CustomResource } from '../custom-resource.js';
import { clusterAgentResource } from './cluster-agent.js';
import { hostEndpointResource } from './host-endpoint.js';
import { hostOperationResource } from './host-operation.js';
import { hostStatusResource } from './host-status.js';
import { leaseSliceResource } from './lease-slice.js';

export { type ClusterAgent, clusterAgent, type DhcpServerConfig } from './cluster-agent.js';
export { type HostEndpoint, hostEndpoint } from './host-endpoint.js';
export { type HostAction, type HostOperation, type HostOperationFields, hostOperation } from './host-operation.js';
export { type HostStatus, type HostStatusFields, hostStatus } from './host-status.js';
export * from './keys.js';
export { type LeaseSlice, leaseSlice } from './lease-slice.js';
export { type BareMetalObject, parseBareMetalObject } from './parse-bare-metal-object.js';
export { clusterAgentResource, hostEndpointResource, hostOperationResource, hostStatusResource, leaseSliceResource };

/** The kinds of bare-metal hosts, for `toCustomResourceDefinition`. */
export const bareMetalResources: readonly CustomResource[] = [
  clusterAgentResource,
  hostEndpointResource,
  hostStatusResource,
  hostOperationResource,
  leaseSliceResource,
];
