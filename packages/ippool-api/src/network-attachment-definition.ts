import { z } from 'zod';
import { objectMeta } from './object-meta.js';

/** The part of a NetworkAttachmentDefinition that is read: its labels. Source: k8s.cni.cncf.io/v1. */
export const networkAttachmentDefinition = z.object({
  apiVersion: z.literal('k8s.cni.cncf.io/v1'),
  kind: z.literal('NetworkAttachmentDefinition'),
  metadata: objectMeta,
  spec: z.looseObject({ config: z.string().optional() }).optional(),
});
/** A network that Multus attaches, as far as DHCP needs it. */
export type NetworkAttachmentDefinition = z.infer<typeof networkAttachmentDefinition>;
