import { z } from 'zod';

/** The part of Kubernetes' ObjectMeta that is read here; the rest is left as it is. */
export const objectMeta = z.looseObject({
  name: z.string().min(1),
  namespace: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  uid: z.string().optional(),
  resourceVersion: z.string().optional(),
  generation: z.number().optional(),
  deletionTimestamp: z.string().optional(),
  finalizers: z.array(z.string()).optional(),
});
/** The metadata of an object, as far as this project reads it. */
export type ObjectMeta = z.infer<typeof objectMeta>;
