/**
 * Who may be woken by magic packets, and where agents listen for them. This is the kind of the predecessor kubevirt-wol, with its group and version:
 * everything that its definition accepted is accepted here, and a condition reports what cannot be used. Additional bounds are rules of creation,
 * which apply until there is a status.
 */
import { z } from 'zod';
import { condition } from './condition.js';
import { type CustomResource, conditionColumn } from './custom-resource.js';
import { INT_OR_STRING } from './custom-resource-definition.js';
import { macAddress } from './formats.js';
import { WOL_API_VERSION, WOL_GROUP, WOL_VERSION } from './labels.js';
import { objectMeta } from './object-meta.js';

const intOrString = () => z.union([z.int(), z.string()]).meta({ [INT_OR_STRING]: true });

const vmSelector = z
  .object({
    matchLabels: z.record(z.string(), z.string()).optional(),
    matchExpressions: z
      .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() }))
      .optional(),
  })
  .meta({ 'x-kubernetes-map-type': 'atomic' });

const toleration = z.object({
  key: z.string().optional(),
  operator: z.string().optional(),
  value: z.string().optional(),
  effect: z.string().optional(),
  tolerationSeconds: z.int().optional(),
});

const agent = z.object({
  nodeSelector: z.record(z.string(), z.string()).optional().describe('Agents run on nodes with these labels; default: on all.'),
  tolerations: z
    .array(toleration)
    .optional()
    .describe('Taints of nodes on which agents run all the same; default: every taint NoSchedule and NoExecute.'),
  resources: z
    .object({
      requests: z.record(z.string(), intOrString()).optional(),
      limits: z.record(z.string(), intOrString()).optional(),
    })
    .optional()
    .describe('Of each agent; default: requests 50m and 96Mi, a limit of 192Mi and none of processor time.'),
  image: z.string().optional().describe('The image of the agents; default: that of the controller (`--image`).'),
  imagePullPolicy: z.string().default('IfNotPresent').describe('Always, IfNotPresent or Never.'),
  updateStrategy: z
    .object({
      type: z.string().optional(),
      rollingUpdate: z.object({ maxUnavailable: intOrString().optional(), maxSurge: intOrString().optional() }).optional(),
    })
    .optional()
    .describe('Of the DaemonSet; default: RollingUpdate with maxUnavailable 1.'),
  priorityClassName: z.string().optional(),
  interfaces: z
    .array(z.string().regex(/^!?[^\s/!]{1,15}$/, 'is not a name or pattern of interfaces; write a name, mgmt-* or !*.100'))
    .max(32)
    .optional()
    .describe(
      'On which interfaces of a node agents listen: names, patterns with * and ?, and patterns after ! that are left out. Default: every interface with a network outside of the node.',
    ),
  promiscuous: z.boolean().optional().describe('True: agents receive frames for other hosts too; default: false.'),
  frames: z
    .boolean()
    .optional()
    .describe('False: agents listen on UDP ports only. Default: also for frames with EtherType 0x0842.'),
});

const wolSpec = z.object({
  discoveryMode: z
    .enum(['All', 'LabelSelector', 'Explicit'])
    .default('All')
    .describe('Which virtual machines may be woken: all, those that vmSelector selects, or those of explicitMappings.'),
  namespaceSelectors: z
    .array(z.string())
    .optional()
    .describe('Names of namespaces: virtual machines of others are not woken. Empty: of all namespaces.'),
  vmSelector: vmSelector.optional().describe('Labels of the virtual machines that may be woken, for mode LabelSelector.'),
  explicitMappings: z
    .array(
      z.object({
        macAddress: macAddress().describe('The address that packets ask for; it need not be one of the virtual machine.'),
        vmName: z.string(),
        namespace: z.string(),
      }),
    )
    .optional()
    .describe('The virtual machines that may be woken, for mode Explicit.'),
  wolPorts: z
    .array(z.int())
    .min(1)
    .max(10)
    .default([9])
    .describe('UDP ports on which agents listen, 1 to 65535 each; all of them are opened.'),
  cacheTTL: z
    .int()
    .min(0)
    .default(300)
    .describe(
      'Without effect: changes of virtual machines are followed as they happen. The predecessor read them again after so many seconds.',
    ),
  unpause: z.boolean().optional().describe('True: a magic packet continues a paused virtual machine; default: false.'),
  passwordSecret: z
    .object({ name: z.string().min(1).max(253), key: z.string().min(1).max(253) })
    .optional()
    .describe(
      'A Secret in the namespace of the agents with a SecureOn password, as in 00:11:22:33:44:55: packets without it are ignored.',
    ),
  agent: agent.optional().describe('The agents that listen: a DaemonSet on the network of the nodes.'),
});

const wolStatus = z.object({
  managedVMs: z.int().optional().describe('Virtual machines that this WolConfig allows to be woken.'),
  lastSync: z.string().optional().meta({ format: 'date-time' }).describe('When the status changed.'),
  conditions: z.array(condition).optional(),
  agentStatus: z
    .object({
      daemonSetName: z.string().optional(),
      desiredNumberScheduled: z.int().optional(),
      numberReady: z.int().optional(),
      numberAvailable: z.int().optional(),
    })
    .nullish()
    .describe('The agents that listen for this WolConfig, which may be those of another one.'),
});

export const wolConfig = z.object({
  apiVersion: z.literal(WOL_API_VERSION),
  kind: z.literal('WolConfig'),
  metadata: objectMeta,
  spec: wolSpec.optional(),
  status: wolStatus.optional(),
});

export type WolConfig = z.infer<typeof wolConfig>;
/** Which virtual machines may be woken, and how. */
export type WolConfigSpec = z.infer<typeof wolSpec>;
/** What the controller knows of a WolConfig. */
export type WolConfigStatus = z.infer<typeof wolStatus>;
/** What a WolConfig specifies about the pods of its agents. */
export type WolConfigAgent = z.infer<typeof agent>;

const EXEMPT = 'has(self.status) || !has(self.spec)';
const MODE = '!has(self.spec.discoveryMode) || self.spec.discoveryMode';

/** The kind WolConfig: its names, its columns and its schema, for its definition. */
export const wolConfigResource: CustomResource = {
  group: WOL_GROUP,
  version: WOL_VERSION,
  scope: 'Cluster',
  kind: 'WolConfig',
  plural: 'wolconfigs',
  singular: 'wolconfig',
  shortNames: ['wolcfg'],
  isSpecOptional: true,
  schema: z.object({ spec: wolSpec.optional(), status: wolStatus.optional() }).meta({
    'x-kubernetes-validations': [
      {
        rule: `${EXEMPT} || ${MODE} != 'Explicit' || (has(self.spec.explicitMappings) && size(self.spec.explicitMappings) > 0)`,
        message: 'DiscoveryMode Explicit needs explicitMappings: list the virtual machines, or choose another mode',
        fieldPath: '.spec.explicitMappings',
      },
      {
        rule: `${EXEMPT} || ${MODE} != 'LabelSelector' || has(self.spec.vmSelector)`,
        message: 'DiscoveryMode LabelSelector needs vmSelector: write the labels, or choose another mode',
        fieldPath: '.spec.vmSelector',
      },
      {
        rule: `${EXEMPT} || !has(self.spec.wolPorts) || self.spec.wolPorts.all(port, port >= 1 && port <= 65535)`,
        message: 'WolPorts are UDP ports: write numbers from 1 to 65535',
        fieldPath: '.spec.wolPorts',
      },
    ],
  }),
  columns: [
    { name: 'Discovery Mode', type: 'string', jsonPath: '.spec.discoveryMode' },
    { name: 'WOL Ports', type: 'string', jsonPath: '.spec.wolPorts' },
    { name: 'Managed VMs', type: 'integer', jsonPath: '.status.managedVMs' },
    conditionColumn('Ready', 'Ready'),
    { name: 'Reason', type: 'string', jsonPath: `.status.conditions[?(@.type=='Ready')].reason` },
    { name: 'Agents', type: 'string', jsonPath: '.status.agentStatus.daemonSetName', priority: 1 },
    { name: 'Nodes Ready', type: 'integer', jsonPath: '.status.agentStatus.numberReady', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
