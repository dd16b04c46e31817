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

/** The types of conditions of an IPPool. */
export const IPPoolConditionType = {
  registered: 'Registered',
  cacheReady: 'CacheReady',
  agentReady: 'AgentReady',
  stopped: 'Stopped',
  rogueServer: 'RogueServer',
  routerReady: 'RouterReady',
} as const;

/** The types of conditions of a VirtualMachineNetworkConfig. */
export const VirtualMachineNetworkConfigConditionType = {
  allocated: 'Allocated',
  disabled: 'Disabled',
  inSynced: 'InSynced',
} as const;

/** The types of conditions of a WolConfig. */
export const WolConfigConditionType = {
  ready: 'Ready',
  mappingsResolved: 'MappingsResolved',
} as const;

interface ConditionMeaning {
  readonly True: string;
  readonly False: string;
}

/** The meaning of each condition, by kind and type. `docs/reference/conditions.md` is generated from it. */
export const CONDITIONS = {
  IPPool: {
    Registered: {
      True: 'The agents of the pool are configured with it.',
      False: 'They are not; the reason has the cause.',
    },
    CacheReady: {
      True: 'The pool is used: its addresses are assigned to virtual machines.',
      False: 'The pool is not used; the reason has the cause.',
    },
    AgentReady: {
      True: 'An agent serves the pool: clients get replies.',
      False: 'No agent serves the pool; the reason has the cause.',
    },
    Stopped: {
      True: '`spec.paused` is true.',
      False: 'The pool is not paused.',
    },
    RogueServer: {
      True: 'Another DHCP server answers on the network of the pool; the message has its address.',
      False: 'The leader of the agents has looked for another DHCP server, and found none.',
    },
    RouterReady: {
      True: 'The IPv6 routers of the network are as they should be: at least one offers a default route, and each that does tells hosts to ask by DHCPv6; with `routerAdvertisements: DefaultRoute`, at least one of `routers` answers; or `spec.ipv6Config.routers` is empty and there is none.',
      False:
        'They are not; the reason has the cause. Addresses are assigned nevertheless. The condition is Unknown while the routers are not known, and absent or Unknown where the pool has no `spec.ipv6Config`.',
    },
  },
  VirtualMachineNetworkConfig: {
    Allocated: {
      True: 'Each interface has its address.',
      False: 'An interface has no address, or not the one that it should have; the reason has the cause.',
    },
    Disabled: {
      True: '`spec.paused` is true.',
      False: 'The VirtualMachineNetworkConfig is not paused.',
    },
    InSynced: {
      True: 'The pools record no address that the specification does not want.',
      False: 'Addresses that are no longer wanted are being freed.',
    },
  },
  WolConfig: {
    Ready: {
      True: 'Agents listen for magic packets, and the virtual machines that may be woken are known.',
      False: 'Magic packets may not be received; the reason has the cause.',
    },
    MappingsResolved: {
      True: 'Each MAC address leads to one virtual machine, and each mapping to one that exists.',
      False: 'Some virtual machines are not woken; the message names them. The others are.',
    },
  },
} as const satisfies {
  readonly IPPool: Readonly<Record<(typeof IPPoolConditionType)[keyof typeof IPPoolConditionType], ConditionMeaning>>;
  readonly VirtualMachineNetworkConfig: Readonly<
    Record<
      (typeof VirtualMachineNetworkConfigConditionType)[keyof typeof VirtualMachineNetworkConfigConditionType],
      ConditionMeaning
    >
  >;
  readonly WolConfig: Readonly<Record<(typeof WolConfigConditionType)[keyof typeof WolConfigConditionType], ConditionMeaning>>;
};
