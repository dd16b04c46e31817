import { z } from 'zod';
import type { CustomResource } from '../custom-resource.js';
import { objectMeta } from '../object-meta.js';
import { BARE_METAL_API_VERSION, BARE_METAL_GROUP, BARE_METAL_VERSION } from './keys.js';

const spec = z.object({
  leader: z
    .object({
      identity: z.string().max(400).describe('One run of one agent.'),
      term: z.int().min(1).describe('One more with each agent that takes over.'),
      write: z.int().min(0).optional().describe('Only of the slice that names the others: one more with each change.'),
    })
    .describe('Which agent has written it.'),
  records: z
    .string()
    .max(1_000_000)
    .describe('Leases of unknown clients, one a line, each with a checksum; a later line supersedes an earlier one.'),
  slices: z
    .array(z.string().max(253))
    .max(20_000)
    .optional()
    .describe('Only of the slice that names the others: those whose records come before its own, in order.'),
});

/** The schema of a LeaseSlice: its type, its validation and its definition come from it. */
export const leaseSlice = z.object({
  apiVersion: z.literal(BARE_METAL_API_VERSION),
  kind: z.literal('LeaseSlice'),
  metadata: objectMeta,
  spec,
});
/** A part of the leases of a ClusterAgent, as the API server stores it. */
export type LeaseSlice = z.infer<typeof leaseSlice>;

/** The kind LeaseSlice: its names, its columns and its schema, for its definition. */
export const leaseSliceResource: CustomResource = {
  group: BARE_METAL_GROUP,
  version: BARE_METAL_VERSION,
  kind: 'LeaseSlice',
  plural: 'leaseslices',
  singular: 'leaseslice',
  shortNames: [],
  schema: z.object({ spec }),
  isStatusAbsent: true,
  columns: [
    { name: 'LEADER', type: 'string', jsonPath: '.spec.leader.identity' },
    { name: 'TERM', type: 'integer', jsonPath: '.spec.leader.term' },
    { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
