import { z } from 'zod';
import type { CustomResource } from '../custom-resource.js';
import { immutable } from '../formats.js';
import { objectMeta } from '../object-meta.js';
import { IPV4_ADDRESS } from '../text-formats.js';
import { BOTH_OR_NONE, bothOrNone, port, secretFields } from './endpoint-fields.js';
import { BARE_METAL_API_VERSION, BARE_METAL_GROUP, BARE_METAL_VERSION } from './keys.js';

/** IPv4 without octets above 255; an IPv6 address as the predecessor accepted it. */
const ADDRESS = new RegExp(`(${IPV4_ADDRESS.pattern.source})|^[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*$`);

const spec = z
  .object({
    clusterAgent: z
      .string()
      .max(253)
      .optional()
      .describe('The ClusterAgent whose agent follows the host. It may be left out while there is only one.'),
    ipAddr: z
      .string()
      .max(45)
      .regex(ADDRESS, IPV4_ADDRESS.problem)
      .describe('The address of the management controller of the host.'),
    ...secretFields,
    https: z.boolean().default(true).describe('False: HTTP in clear text.'),
    port: port().default(443).describe('The TCP port of the management controller.'),
  })
  .meta({
    'x-kubernetes-validations': [
      ...immutable('Spec', 'HostEndpoint')['x-kubernetes-validations'],
      { rule: bothOrNone('self'), message: BOTH_OR_NONE },
    ],
  });

/** The schema of a HostEndpoint: its type, its validation and its definition come from it. */
export const hostEndpoint = z.object({
  apiVersion: z.literal(BARE_METAL_API_VERSION),
  kind: z.literal('HostEndpoint'),
  metadata: objectMeta,
  spec,
});
/** A host that a person names, with its address, as the API server stores it. */
export type HostEndpoint = z.infer<typeof hostEndpoint>;

/** The kind HostEndpoint: its names, its columns and its schema, for its definition. */
export const hostEndpointResource: CustomResource = {
  group: BARE_METAL_GROUP,
  version: BARE_METAL_VERSION,
  scope: 'Cluster',
  kind: 'HostEndpoint',
  plural: 'hostendpoints',
  singular: 'hostendpoint',
  shortNames: [],
  schema: z.object({ spec }),
  isStatusAbsent: true,
  columns: [
    { name: 'CLUSTERAGENT', type: 'string', jsonPath: '.spec.clusterAgent' },
    { name: 'HOSTIP', type: 'string', jsonPath: '.spec.ipAddr' },
  ],
};
