import { z } from 'zod';
import { condition } from './condition.js';
import { type CustomResource, conditionColumn } from './custom-resource.js';
import { immutable, ipv4Address } from './formats.js';
import { API_VERSION } from './labels.js';
import { objectMeta } from './object-meta.js';

const networkConfig = z.object({
  networkName: z.string().max(64).describe('namespace/name of a NetworkAttachmentDefinition.'),
  // Upstream checks only the length. A text that is not a MAC address is reported on the object, and its other interfaces are served.
  macAddress: z.string().max(17),
  ipAddress: ipv4Address().nullish().describe('The address the interface shall have; any if not set.'),
});

const spec = z.object({
  vmName: z.string().max(64).meta(immutable('VMName', 'VirtualMachineNetworkConfig')),
  networkConfigs: z.array(networkConfig).max(4).nullish(),
  paused: z.boolean().nullish(),
});

const status = z.object({
  networkConfigs: z
    .array(
      z.object({
        allocatedIPAddress: z.string().optional(),
        allocatedIPv6Address: z.string().optional().describe('Assigned by DHCPv6, if the pool has ipv6Config.'),
        macAddress: z.string().optional(),
        networkName: z.string().optional(),
        state: z.enum(['Allocated', 'Pending', 'Stale']).optional(),
      }),
    )
    .nullish(),
  conditions: z.array(condition).optional(),
});

/** The schema of a VirtualMachineNetworkConfig: its type, its validation and its definition come from it. */
export const virtualMachineNetworkConfig = z.object({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('VirtualMachineNetworkConfig'),
  metadata: objectMeta,
  spec,
  status: status.optional(),
});

/** What the interfaces of one virtual machine want and have, as the API server stores it. */
export type VirtualMachineNetworkConfig = z.infer<typeof virtualMachineNetworkConfig>;
/** One interface of a VirtualMachineNetworkConfig. */
export type NetworkConfig = z.infer<typeof networkConfig>;

/** The kind VirtualMachineNetworkConfig: its names, its columns and its schema, for its definition. */
export const virtualMachineNetworkConfigResource: CustomResource = {
  kind: 'VirtualMachineNetworkConfig',
  plural: 'virtualmachinenetworkconfigs',
  singular: 'virtualmachinenetworkconfig',
  shortNames: ['vmnetcfg', 'vmnetcfgs'],
  schema: z.object({ spec, status: status.optional() }),
  columns: [
    { name: 'VMNAME', type: 'string', jsonPath: '.spec.vmName' },
    // Both columns show the first interface: a server shows one match, and `[*]` could match the address of one interface and the MAC address of
    // another.
    { name: 'ADDRESS', type: 'string', jsonPath: '.status.networkConfigs[0].allocatedIPAddress' },
    { name: 'MAC', type: 'string', jsonPath: '.status.networkConfigs[0].macAddress' },
    conditionColumn('ALLOCATED', 'Allocated'),
    conditionColumn('DISABLED', 'Disabled'),
    conditionColumn('INSYNCED', 'InSynced'),
    { name: 'REASON', type: 'string', jsonPath: `.status.conditions[?(@.type=='Allocated')].reason` },
    { name: 'IPV6', type: 'string', jsonPath: '.status.networkConfigs[0].allocatedIPv6Address', priority: 1 },
    { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
