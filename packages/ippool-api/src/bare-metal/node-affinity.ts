import { z } from 'zod';

/** The node affinity of a pod, as Kubernetes has it. Source: Kubernetes API, `NodeAffinity` v1 core. */

const requirement = z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() });

const term = z.object({
  matchExpressions: z.array(requirement).optional(),
  matchFields: z.array(requirement).optional(),
});

export const nodeAffinity = z.object({
  preferredDuringSchedulingIgnoredDuringExecution: z
    .array(z.object({ weight: z.int().meta({ format: 'int32' }), preference: term }))
    .optional(),
  requiredDuringSchedulingIgnoredDuringExecution: z.object({ nodeSelectorTerms: z.array(term) }).optional(),
});
