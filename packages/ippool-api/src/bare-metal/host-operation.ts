import { z } from 'zod';
import type { CustomResource } from '../custom-resource.js';
import { immutable } from '../formats.js';
import { objectMeta } from '../object-meta.js';
import { BARE_METAL_API_VERSION, BARE_METAL_GROUP, BARE_METAL_VERSION } from './keys.js';

const action = z.enum(['ForceOn', 'On', 'ForceOff', 'GracefulShutdown', 'ForceRestart', 'GracefulRestart', 'PxeReboot']);

const spec = z
  .object({
    action: action.describe('PxeReboot: the host boots from the network once, by ForceRestart. The others: as Redfish has them.'),
    hostStatusName: z.string().min(1).max(253).describe('The HostStatus of the host.'),
  })
  .meta(immutable('Spec', 'HostOperation'));

const status = z.object({
  status: z.enum(['pending', 'success', 'failure']).optional(),
  message: z.string().optional(),
  lastUpdateTime: z.string().optional(),
  clusterAgent: z.string().optional(),
  ipAddr: z.string().optional(),
  startedBy: z
    .string()
    .max(253)
    .optional()
    .describe('Which run of which agent recorded `pending`; only that run may carry out the action.'),
});

/** The schema of a HostOperation: its type, its validation and its definition come from it. */
export const hostOperation = z.object({
  apiVersion: z.literal(BARE_METAL_API_VERSION),
  kind: z.literal('HostOperation'),
  metadata: objectMeta,
  spec,
  status: status.optional(),
});
/** One action on a host, carried out once, as the API server stores it. */
export type HostOperation = z.infer<typeof hostOperation>;
/** What a HostOperation does to its host. */
export type HostAction = z.infer<typeof action>;
/** How far an operation is, and how it ended. */
export type HostOperationFields = z.infer<typeof status>;

/** The kind HostOperation: its names, its columns and its schema, for its definition. */
export const hostOperationResource: CustomResource = {
  group: BARE_METAL_GROUP,
  version: BARE_METAL_VERSION,
  scope: 'Cluster',
  kind: 'HostOperation',
  plural: 'hostoperations',
  singular: 'hostoperation',
  shortNames: [],
  schema: z.object({ spec, status: status.optional() }),
  columns: [
    { name: 'ACTION', type: 'string', jsonPath: '.spec.action' },
    { name: 'STATUS', type: 'string', jsonPath: '.status.status' },
    { name: 'CLUSTERAGENT', type: 'string', jsonPath: '.status.clusterAgent' },
    { name: 'HOSTIP', type: 'string', jsonPath: '.status.ipAddr' },
  ],
};
