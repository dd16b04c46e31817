import { z } from 'zod';
import type { CustomResource } from '../custom-resource.js';
import { objectMeta } from '../object-meta.js';
import { secretFields } from './endpoint-fields.js';
import { BARE_METAL_API_VERSION, BARE_METAL_GROUP, BARE_METAL_VERSION } from './keys.js';

// No field is required: if an agent ends while it writes, the incomplete object must stay writable, so that it can be repaired.

const basic = z.object({
  // The predecessor stored an empty text in an incomplete object.
  type: z.enum(['dhcp', 'hostEndpoint', '']).optional().describe('How the host is known: by its lease, or by a HostEndpoint.'),
  ipAddr: z.string().optional().describe('The address of the management controller.'),
  ...secretFields,
  https: z.boolean().optional(),
  // 0: the same.
  port: z.int().min(0).max(65_535).meta({ format: 'int32' }).optional(),
  mac: z.string().optional().describe('The MAC address of the client; empty where it is not known.'),
  macSince: z
    .string()
    .optional()
    .describe(
      'When this MAC address replaced another one. By the clock of the agent. HostOperations that are not newer by more than a minute fail: they may be for another machine.',
    ),
  activeDhcpClient: z.boolean().optional().describe('Whether a client has a lease of the address.'),
});

const latest = z.object({ time: z.string().optional(), message: z.string().optional() });

const log = z.object({
  totalLogAccount: z.int().min(0).meta({ format: 'int32' }).optional().describe('Entries in the log of the host.'),
  warningLogAccount: z.int().min(0).meta({ format: 'int32' }).optional().describe('Those whose severity is not OK.'),
  lastestLog: latest.optional(),
  lastestWarningLog: latest.optional(),
  reportedEntries: z
    .string()
    .max(8192)
    .optional()
    .describe('Which entries have an Event: 8 characters for each. An agent writes no second Event for them.'),
});

const status = z.object({
  healthy: z.boolean().optional().describe('Whether the management controller answers.'),
  healthReady: z.boolean().optional().describe('The name of `healthy` in the design of this API: always the same value.'),
  clusterAgent: z.string().optional(),
  lastUpdateTime: z.string().optional(),
  basic: basic.optional(),
  info: z
    .record(z.string(), z.string())
    .optional()
    .describe('What the management controller reports; empty while it does not answer.'),
  log: log.optional(),
});

/** The schema of a HostStatus: its type, its validation and its definition come from it. */
export const hostStatus = z.object({
  apiVersion: z.literal(BARE_METAL_API_VERSION),
  kind: z.literal('HostStatus'),
  metadata: objectMeta,
  status: status.optional(),
});
/** One host, and what is known of it, as the API server stores it. */
export type HostStatus = z.infer<typeof hostStatus>;
/** What the agents know of a host: its address, its health, its log. */
export type HostStatusFields = z.infer<typeof status>;

/** The kind HostStatus: its names, its columns and its schema, for its definition. */
export const hostStatusResource: CustomResource = {
  group: BARE_METAL_GROUP,
  version: BARE_METAL_VERSION,
  scope: 'Cluster',
  kind: 'HostStatus',
  plural: 'hoststatuses',
  singular: 'hoststatus',
  shortNames: [],
  schema: z.object({ status: status.optional() }),
  isSpecOptional: true,
  columns: [
    { name: 'CLUSTERAGENT', type: 'string', jsonPath: '.status.clusterAgent' },
    { name: 'HEALTHY', type: 'boolean', jsonPath: '.status.healthy' },
    { name: 'IPADDR', type: 'string', jsonPath: '.status.basic.ipAddr' },
    { name: 'TYPE', type: 'string', jsonPath: '.status.basic.type' },
    { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
