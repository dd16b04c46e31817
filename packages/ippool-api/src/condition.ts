import { z } from 'zod';

/** One observation about an object. Timestamps are RFC 3339 text, as upstream stores them. */
export const condition = z.object({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().optional(),
  message: z.string().optional(),
  observedGeneration: z
    .int()
    .min(0)
    .optional()
    .describe('The metadata.generation of the object that the condition was found for.'),
  lastUpdateTime: z.string().optional(),
  lastTransitionTime: z.string().optional(),
});
export type Condition = z.infer<typeof condition>;

export const IPPoolConditionType = {
  registered: 'Registered',
  cacheReady: 'CacheReady',
  agentReady: 'AgentReady',
  stopped: 'Stopped',
  /** True: another DHCP server answers on the pool's network. */
  rogueServer: 'RogueServer',
} as const;

export const VirtualMachineNetworkConfigConditionType = {
  allocated: 'Allocated',
  disabled: 'Disabled',
  inSynced: 'InSynced',
} as const;
