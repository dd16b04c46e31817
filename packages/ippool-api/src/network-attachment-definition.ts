import { z } from 'zod';
import { DEFAULT_NAMESPACE, objectMeta } from './object-meta.js';

/** What is read of a NetworkAttachmentDefinition: its labels. Source: k8s.cni.cncf.io/v1. */
export const networkAttachmentDefinition = z.object({
  apiVersion: z.literal('k8s.cni.cncf.io/v1'),
  kind: z.literal('NetworkAttachmentDefinition'),
  metadata: objectMeta,
  spec: z.looseObject({ config: z.string().optional() }).optional(),
});
export type NetworkAttachmentDefinition = z.infer<typeof networkAttachmentDefinition>;

/** `namespace/name` of the network that a `networkName` means, where a bare name means one in `namespace`. */
export function networkKey(networkName: string, namespace: string = DEFAULT_NAMESPACE): string {
  return networkName.includes('/') ? networkName : `${namespace}/${networkName}`;
}
