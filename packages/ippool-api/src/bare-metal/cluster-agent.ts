import { z } from 'zod';
import { bootFields } from '../boot-fields.js';
import { condition } from '../condition.js';
import type { CustomResource } from '../custom-resource.js';
import { ipv4Address } from '../formats.js';
import { objectMeta } from '../object-meta.js';
import { clusterAgentRules } from './cluster-agent-rules.js';
import { port, secretFields } from './endpoint-fields.js';
import { BARE_METAL_API_VERSION, BARE_METAL_GROUP, BARE_METAL_VERSION } from './keys.js';
import { nodeAffinity } from './node-affinity.js';

// These patterns come from the predecessor, and accept octets above 255: a stored object must stay writable. Rules refuse such texts when a person
// writes them (cluster-agent-rules.ts).
const ANY_IPV4 = '([0-9]{1,3}\\.){3}[0-9]{1,3}';
const ANY_LENGTH = '([0-9]|[1-2][0-9]|3[0-2])';
const text = (pattern: string, most: number, problem: string) =>
  z
    .string()
    .max(most)
    .regex(new RegExp(`^${pattern}$`), problem);

const dhcpServerConfig = z.object({
  enableDhcpDiscovery: z.boolean().default(true).describe('True: each client of the DHCP server gets a HostStatus.'),
  enableBindDhcpIP: z
    .boolean()
    .default(true)
    .describe('True: a client keeps its address for good, and its HostStatus when its lease ends.'),
  enableBindStaticIP: z.boolean().default(true).describe('True: no client gets the address of a HostEndpoint.'),
  dhcpServerInterface: z.string().min(1).max(253).describe('The network interface of the DHCP server.'),
  subnet: text(
    `${ANY_IPV4}/${ANY_LENGTH}`,
    18,
    'is not an IPv4 subnet; write address/prefix length, as in 192.168.0.0/24',
  ).describe('The subnet, as in 192.168.0.0/24.'),
  ipRange: text(`${ANY_IPV4}-${ANY_IPV4}`, 31, 'is not a range; write two addresses, as in 192.168.0.10-192.168.0.100').describe(
    'The addresses for clients: first and last, as in 192.168.0.10-192.168.0.100.',
  ),
  gateway: text(ANY_IPV4, 15, 'is not an IPv4 address; write four numbers of 0 to 255, as in 192.168.0.1').describe(
    'The router of the clients.',
  ),
  selfIp: text(`${ANY_IPV4}(/${ANY_LENGTH})?`, 18, 'is not an address with a prefix length; write it as in 192.168.0.2/24')
    .optional()
    .describe('The address of the DHCP server, with the prefix length of the subnet. Without it, the interface must have one.'),
  dns: z.array(ipv4Address()).max(3).optional().describe('Name servers (option 6).'),
  domainName: z.string().max(253).optional().describe('The domain of the clients (option 15).'),
  ntp: z.array(ipv4Address()).max(4).optional().describe('Time servers (option 42).'),
  leaseTime: z
    .int()
    .min(1)
    .max(4_294_967_295)
    .meta({ format: 'int64' })
    .optional()
    .describe(
      'Seconds a lease lasts; default: seven days. The first lease of a client lasts 300 at most, until the client renews it.',
    ),
  ...bootFields,
});

const spec = z.object({
  agentYaml: z.object({
    underlayInterface: z
      .string()
      .max(253)
      .optional()
      .describe('The NetworkAttachmentDefinition of the management network: name, or namespace/name.'),
    image: z.string().max(1024).optional().describe('The image of the agent; default: that of the controller.'),
    replicas: z.int().min(0).meta({ format: 'int32' }).default(1).describe('Agents; one of them serves, the others stand by.'),
    nodeAffinity: nodeAffinity.optional(),
    nodeName: z.string().max(253).optional(),
    hostNetwork: z.boolean().optional(),
  }),
  endpoint: z
    .object({
      port: port().default(443),
      ...secretFields,
      https: z.boolean().default(true),
      networks: z
        .array(text('[0-9A-Fa-f:.]+/[0-9]{1,3}', 43, 'is not a network; write address/prefix length, as in 10.1.0.0/16'))
        .max(64)
        .optional()
        .describe('Networks of HostEndpoints besides `subnet`, as in 10.1.0.0/16: no other address is asked.'),
    })
    .optional()
    .describe('How learned hosts are reached, and HostEndpoints without a Secret of their own.'),
  feature: z
    .object({
      enableDhcpServer: z.boolean().default(true),
      dhcpServerConfig: dhcpServerConfig.optional(),
    })
    .optional(),
});

const addresses = z
  .object({ total: z.int().min(0), used: z.int().min(0), available: z.int().min(0) })
  .describe('Addresses of `ipRange`, and how many of them clients have.');

const status = z.object({
  ready: z.boolean().default(false).describe('Whether as many agents run as there should be.'),
  addresses: addresses.optional(),
  conditions: z.array(condition).optional(),
});

/** The schema of a ClusterAgent: its type, its validation and its definition come from it. */
export const clusterAgent = z.object({
  apiVersion: z.literal(BARE_METAL_API_VERSION),
  kind: z.literal('ClusterAgent'),
  metadata: objectMeta,
  spec,
  status: status.optional(),
});
/** One management network and its agents, as the API server stores it. */
export type ClusterAgent = z.infer<typeof clusterAgent>;
/** The addresses that the agents of a ClusterAgent lease. */
export type DhcpServerConfig = z.infer<typeof dhcpServerConfig>;

/** The kind ClusterAgent: its names, its columns and its schema, for its definition. */
export const clusterAgentResource: CustomResource = {
  group: BARE_METAL_GROUP,
  version: BARE_METAL_VERSION,
  scope: 'Cluster',
  kind: 'ClusterAgent',
  plural: 'clusteragents',
  singular: 'clusteragent',
  shortNames: [],
  schema: z.object({ spec, status: status.optional() }).meta(clusterAgentRules()),
  columns: [{ name: 'READY', type: 'boolean', jsonPath: '.status.ready' }],
};
