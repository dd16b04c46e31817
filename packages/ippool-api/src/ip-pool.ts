import { z } from 'zod';
import { bootFields } from './boot-fields.js';
import { condition } from './condition.js';
import { creationRules } from './creation-rules.js';
import { type CustomResource, conditionColumn } from './custom-resource.js';
import { LEFT_OUT } from './custom-resource-definition.js';
import {
  immutable,
  ipv4Address,
  ipv4AddressOrCidr,
  ipv4AddressOrRange,
  ipv4Cidr,
  ipv6Address,
  ipv6Cidr,
  macAddress,
  nodeLabels,
} from './formats.js';
import { API_VERSION } from './labels.js';
import { objectMeta } from './object-meta.js';
import { areThere, staysInsideCidr } from './range-rules.js';

const hostName = () => z.string().max(253);

const reservation = z
  .object({
    macAddress: macAddress(),
    ipAddress: ipv4Address(),
    hostname: z.string().max(63).optional(),
  })
  .describe('An address that belongs to one client, whether it is there or not; it may lie outside start to end.');

const ipv4Config = z
  .object({
    cidr: ipv4Cidr().meta(immutable('CIDR')).describe('The subnet, as in 192.168.48.0/24.'),
    serverIP: ipv4Address().meta(immutable('ServerIP')).describe('The address of the DHCP server in the subnet.'),
    pool: z
      .object({
        start: ipv4Address().describe('The first address that may be allocated.'),
        end: ipv4Address().describe('The last address that may be allocated.'),
        ranges: z
          .array(ipv4AddressOrRange())
          .max(64)
          .optional()
          .describe(
            'Addresses, or ranges like 192.168.48.10-192.168.48.19, that may be allocated. If set, start and end have no effect: the webhook sets them to the first and the last of these addresses.',
          ),
        exclude: z
          .array(ipv4AddressOrRange())
          .max(1024)
          .optional()
          .describe('Addresses, or ranges like 192.168.48.10-192.168.48.19, that are not allocated.'),
      })
      .meta({ [LEFT_OUT]: ['start', 'end'] })
      .describe(
        'Which addresses may be allocated. If it shrinks, machines keep their addresses, and no other machine gets those.',
      ),
    router: ipv4Address().optional().meta(immutable('Router')).describe('The default gateway (option 3).'),
    dns: z.array(ipv4Address()).max(3).optional().describe('Name servers (option 6).'),
    domainName: hostName().nullish().describe('The domain of the clients (option 15).'),
    domainSearch: z.array(hostName()).max(64).optional().describe('Domains that names are looked up in (option 119).'),
    ntp: z
      .array(hostName())
      .max(4)
      .optional()
      .describe('Time servers: addresses, or names that are resolved to addresses (option 42).'),
    leaseTime: z
      .int()
      .nullish()
      .describe('Seconds a lease lasts; if not set or not above 0, one year, or seven days where `dynamic` is set.'),
    mtu: z.int().min(68).max(65_535).optional().describe("The MTU of the clients' interfaces (option 26)."),
    staticRoutes: z
      .array(z.object({ destination: ipv4Cidr(), gateway: ipv4Address() }))
      .max(30)
      .optional()
      .describe('Routes besides the default one (option 121).'),
    ...bootFields,
    options: z
      .array(
        z.object({
          code: z.int().min(1).max(254),
          value: z
            .string()
            .max(512)
            .describe(
              'In the form of the option, as in 192.168.48.5, 192.168.48.6 for addresses; or octets, as in 0x0104c0a83001.',
            ),
        }),
      )
      .max(32)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['code'] })
      .describe('Options that no other field sets, by their code, for clients that request them.'),
    reservations: z
      .array(reservation)
      .max(4096)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['macAddress'] }),
    dynamic: z
      .array(ipv4AddressOrRange())
      .max(64)
      .optional()
      .meta({
        'x-kubernetes-validations': [
          {
            rule: 'size(self) == 0',
            message:
              'Addresses for unknown clients are served by vmdhcp-agent serve --pools only: remove dynamic, or serve the pool on a bare host',
          },
        ],
      })
      .describe(
        'Addresses, or ranges like 192.168.48.100-192.168.48.199, that unknown clients may lease. Only on a bare host: in a cluster the field must be empty.',
      ),
    relays: z
      .array(ipv4AddressOrCidr())
      .max(32)
      .optional()
      .describe(
        'DHCP relays outside the subnet that are answered: addresses or subnets. Relays in the subnet are answered anyway.',
      ),
    authoritative: z
      .boolean()
      .optional()
      .describe('True: no other DHCP server is on this network, so unknown clients that claim an address are refused (NAK).'),
  })
  .meta({
    [LEFT_OUT]: ['serverIP', 'pool'],
    'x-kubernetes-validations': [
      { rule: '!has(oldSelf.router) || has(self.router)', message: 'Router is required once set' },
      ...areThere(),
      ...staysInsideCidr(),
    ],
  });

const ipv6Config = z
  .object({
    cidr: ipv6Cidr().describe(
      'The prefix of the network, as in 2001:db8:48::/64. The IPv6 address of a client is as far from its start as the IPv4 address of the client is from the start of ipv4Config.cidr: 192.168.48.17 and 2001:db8:48::11. A change takes effect when clients renew.',
    ),
    dns: z.array(ipv6Address()).max(3).optional().describe('Name servers (option 23).'),
    domainSearch: z.array(hostName()).max(64).optional().describe('Domains that names are looked up in (option 24).'),
    ntp: z.array(ipv6Address()).max(4).optional().describe('Time servers (option 56).'),
    leaseTime: z
      .int()
      .min(10)
      .max(4_294_967_294)
      .optional()
      .describe(
        'Seconds an address is valid unless it is renewed; a client renews after three eighths of that. Default: one day.',
      ),
    routerAdvertisements: z
      .enum(['Assist', 'DefaultRoute', 'Disabled'])
      .optional()
      .describe(
        'Assist (default): Router Advertisements of the agents tell hosts to ask by DHCPv6, and that the prefix is on the link; they make no default route. DefaultRoute: they also make a default route to each of routers, for routers that send no Router Advertisements. Disabled: a router of the network does that (M=1).',
      ),
    nat64Prefix: ipv6Cidr()
      .optional()
      .describe(
        'The prefix of the NAT64 of the network, as in 64:ff9b::/96: Router Advertisements of the agents name it (PREF64), so that hosts without IPv4 reach IPv4 addresses.',
      ),
    ipv6OnlyWait: z
      .int()
      .min(300)
      .max(86_400)
      .optional()
      .describe(
        'Seconds for which clients that can do without IPv4, and say so, switch it off (option 108); other clients keep IPv4. Only for a network with a NAT64; begin with 300. Default: all clients keep IPv4.',
      ),
    routers: z
      .array(ipv6Address())
      .max(8)
      .optional()
      .describe(
        'The link-local addresses of the IPv6 routers of the network; none if it has none. Another host that advertises itself is reported. Default: each host but the machines of the pool may be a router.',
      ),
  })
  .describe('Gives each client of the pool an IPv6 address beside its IPv4 address, by DHCPv6.');

const spec = z
  .object({
    networkName: z
      .string()
      .max(64)
      .meta(immutable('NetworkName'))
      .describe('The network it serves: namespace/name of a NetworkAttachmentDefinition.'),
    ipv4Config: ipv4Config.optional(),
    ipv6Config: ipv6Config.optional(),
    paused: z.boolean().nullish().describe('True: nothing is allocated and served.'),
    conflictProbe: z
      .enum(['Disabled', 'First'])
      .optional()
      .describe(
        'First (default): before a new client gets an address, the agent probes by ARP whether another machine uses it, and on a quiet network it asks machines whether they are there. Disabled: no ARP requests, and a silent network is not noticed.',
      ),
    onRogueServer: z
      .enum(['Warn', 'Stop'])
      .optional()
      .describe('What to do while another DHCP server answers on the network; default: Warn.'),
    rapidCommit: z
      .boolean()
      .optional()
      .describe(
        'Whether a client that asks for it gets its address by two messages instead of four. Default: true for IPv6; false for IPv4, where another DHCP server on the network would keep an address for the client, too.',
      ),
    agentNodeSelector: nodeLabels()
      .optional()
      .meta({ maxProperties: 8 })
      .describe(
        'Agents of the pool run only on nodes with these labels. For networks that are not on every node and have neither a cluster network nor a resource (k8s.v1.cni.cncf.io/resourceName).',
      ),
  })
  .meta({
    // Otherwise two updates could change every field of it: remove it, then add it again.
    'x-kubernetes-validations': [
      { rule: '!has(oldSelf.ipv4Config) || has(self.ipv4Config)', message: 'IPv4Config is required once set' },
    ],
  });

const reference = z.object({
  namespace: z.string().optional(),
  name: z.string().optional(),
  image: z.string().optional(),
  uid: z.string().optional(),
});

const quarantined = z.object({
  until: z.string().meta({ format: 'date-time' }),
  usedBy: z.string().optional().describe('The MAC address of who uses it, where that is known.'),
});

const status = z.object({
  lastUpdate: z.string().nullish().meta({ format: 'date-time' }),
  ipv4: z
    .object({
      allocated: z
        .record(z.string(), z.string())
        .nullish()
        .meta({ 'x-kubernetes-map-type': 'atomic' })
        .describe('Address to MAC address, or to EXCLUDED or RESERVED.'),
      used: z.int(),
      available: z.int(),
      quarantined: z
        .record(z.string(), quarantined)
        .nullish()
        .describe('Addresses that an unknown machine uses: no client gets them before their time is over.'),
    })
    .nullish(),
  agentDeploymentRef: reference.nullish().describe('The Deployment whose agents serve the pool.'),
  agentPodRef: reference.nullish().describe('The pod by which an earlier version served the pool.'),
  servedBy: z.string().nullish().describe('The pod that answers the clients.'),
  conditions: z.array(condition).optional(),
});

/** The schema of an IPPool: its type, its validation and its definition come from it. */
export const ipPool = z.object({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('IPPool'),
  metadata: objectMeta,
  spec,
  status: status.optional(),
});

/** A pool of addresses of one network, as the API server stores it. */
export type IPPool = z.infer<typeof ipPool>;
/** What a person wants of a pool. */
export type IPPoolSpec = z.infer<typeof spec>;
/** What controllers know of a pool; `ipv4.allocated` is the truth about its addresses. */
export type IPPoolStatus = z.infer<typeof status>;
/** The addresses of a pool, and what its clients are told. */
export type IPv4Config = z.infer<typeof ipv4Config>;
/** The IPv6 prefix of a pool, and what its clients are told by DHCPv6. */
export type IPv6Config = z.infer<typeof ipv6Config>;

/** The kind IPPool: its names, its columns and its schema, for its definition. */
export const ipPoolResource: CustomResource = {
  kind: 'IPPool',
  plural: 'ippools',
  singular: 'ippool',
  shortNames: ['ippl', 'ippls'],
  schema: z.object({ spec, status: status.optional() }).meta(creationRules()),
  columns: [
    { name: 'NETWORK', type: 'string', jsonPath: '.spec.networkName' },
    { name: 'AVAILABLE', type: 'integer', jsonPath: '.status.ipv4.available' },
    { name: 'USED', type: 'integer', jsonPath: '.status.ipv4.used' },
    conditionColumn('REGISTERED', 'Registered'),
    conditionColumn('CACHEREADY', 'CacheReady'),
    conditionColumn('AGENTREADY', 'AgentReady'),
    { name: 'REASON', type: 'string', jsonPath: `.status.conditions[?(@.type=='AgentReady')].reason` },
    { name: 'AGENT', type: 'string', jsonPath: '.status.agentDeploymentRef.name', priority: 1 },
    { name: 'SERVEDBY', type: 'string', jsonPath: '.status.servedBy', priority: 1 },
    { ...conditionColumn('ROGUESERVER', 'RogueServer'), priority: 1 },
    { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
