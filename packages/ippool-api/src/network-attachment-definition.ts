import { z } from 'zod';
import { objectMeta } from './object-meta.js';

/** What is read of a NetworkAttachmentDefinition: its labels. Source: k8s.cni.cncf.io/v1. */
export const networkAttachmentDefinition = z.object({
  apiVersion: z.literal('k8s.cni.cncf.io/v1'),
  kind: z.literal('NetworkAttachmentDefinition'),
  metadata: objectMeta,
  spec: z.looseObject({ config: z.string().optional() }).optional(),
});
export type NetworkAttachmentDefinition = z.infer<typeof networkAttachmentDefinition>;
