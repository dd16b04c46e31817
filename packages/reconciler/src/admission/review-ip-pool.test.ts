import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { network } from '../fixtures/object-fixtures.js';
import type { ClusterNetworks } from './admission-facts.js';
import {
  A,
  B,
  bridged,
  change,
  clusterNetworks,
  creation,
  deletion,
  ipPool,
  networkConfig,
  type PoolText,
  shown,
} from './admission-fixtures.js';
import { factsOfObjects } from './facts-of-objects.js';
import { reviewIpPool } from './review-ip-pool.js';

type Config = Readonly<Record<string, unknown>>;

interface Reviewed {
  readonly problems: string[];
  readonly warnings: string[];
}

const NETWORK = network('net-1');
const YOUNGER: PoolText = { name: 'younger', createdAt: '2026-01-02T00:00:00Z' };

function created(object: KubernetesObject, others: readonly KubernetesObject[] = [NETWORK], cluster?: ClusterNetworks): Reviewed {
  const review = reviewIpPool(creation(object), factsOfObjects(others, cluster));
  expect(review.allowed).toBe(review.problems.length === 0);
  return { problems: review.problems.map(shown), warnings: review.warnings.map(shown) };
}

function changed(old: KubernetesObject, object: KubernetesObject, others: readonly KubernetesObject[] = [NETWORK]): Reviewed {
  const review = reviewIpPool(change(old, object), factsOfObjects([old, ...others]));
  expect(review.allowed).toBe(review.problems.length === 0);
  return { problems: review.problems.map(shown), warnings: review.warnings.map(shown) };
}

const ADDRESS = 'write four numbers of 0 to 255, as in 192.168.48.10';
const INSIDE = 'choose an address inside the subnet or correct the cidr';
const SERVICES = clusterNetworks({ services: ['10.53.0.0/16'] });
const OVERLAP = 'choose another cidr: virtual machines could not reach the cluster, and nodes not the virtual machines';

/** `spec.ipv4Config.FIELD`, as the tables have it. */
const at = (field: string, text: string) => `spec.ipv4Config.${field} ${text}`;

describe('a pool by itself', () => {
  it.each<[what: string, config: Config]>([
    ['as in the fixture', {}],
    ['with a router', { router: '192.168.0.1' }],
    ['with server and router inside the range', { serverIP: '192.168.0.20', router: '192.168.0.21' }],
    ['with one address', { pool: { start: '192.168.0.10', end: '192.168.0.10' } }],
    ['of the whole subnet', { pool: { start: '192.168.0.1', end: '192.168.0.254' } }],
    [
      'of two ranges',
      {
        pool: { start: '192.168.0.10', end: '192.168.0.99', ranges: ['192.168.0.10-192.168.0.19', '192.168.0.90-192.168.0.99'] },
      },
    ],
    ['of a /31', { cidr: '10.0.0.0/31', serverIP: '10.0.0.0', pool: { start: '10.0.0.1', end: '10.0.0.1' } }],
    ['with a reservation outside the range', { reservations: [{ macAddress: A, ipAddress: '192.168.0.200' }] }],
    [
      'with an exclusion at the end of the range',
      { pool: { start: '192.168.0.10', end: '192.168.0.99', exclude: ['192.168.0.99'] } },
    ],
    ['with time servers by name', { ntp: ['time.example.org', '192.168.0.1'] }],
  ])('%s is accepted without a warning', (_what, config) => {
    expect(created(ipPool(config))).toEqual({ problems: [], warnings: [] });
  });

  it.each<[what: string, config: Config, problems: string[]]>([
    [
      'an invalid CIDR',
      { cidr: '192.168.0.0/33' },
      [at('cidr', 'wrong-format: "192.168.0.0/33" is not an IPv4 subnet; write address/prefix length, as in 192.168.48.0/24')],
    ],
    [
      'an invalid start',
      { pool: { start: '192.168.0.1000', end: '192.168.0.99' } },
      [at('pool.start', `wrong-format: "192.168.0.1000" is not an IPv4 address; ${ADDRESS}`)],
    ],
    [
      'an invalid end',
      { pool: { start: '192.168.0.10', end: '192.168.0' } },
      [at('pool.end', `wrong-format: "192.168.0" is not an IPv4 address; ${ADDRESS}`)],
    ],
    [
      'an invalid server',
      { serverIP: '192.168.0.1000' },
      [at('serverIP', `wrong-format: "192.168.0.1000" is not an IPv4 address; ${ADDRESS}`)],
    ],
    [
      'an invalid router',
      { router: '192.168.1000.1' },
      [at('router', `wrong-format: "192.168.1000.1" is not an IPv4 address; ${ADDRESS}`)],
    ],
    [
      'a start outside the subnet',
      { pool: { start: '192.168.1.10', end: '192.168.0.99' } },
      [at('pool.start', `outside-subnet: 192.168.1.10 is outside 192.168.0.0/24; ${INSIDE}`)],
    ],
    [
      'a start that is the network address',
      { pool: { start: '192.168.0.0', end: '192.168.0.99' } },
      [
        at(
          'pool.start',
          'is-network-address: 192.168.0.0 is the network address of 192.168.0.0/24; choose one from 192.168.0.1 on',
        ),
      ],
    ],
    [
      'a start that is the broadcast address',
      { pool: { start: '192.168.0.255', end: '192.168.0.99' } },
      [
        at(
          'pool.start',
          'is-broadcast-address: 192.168.0.255 is the broadcast address of 192.168.0.0/24; choose one up to 192.168.0.254',
        ),
      ],
    ],
    [
      'an end outside the subnet',
      { pool: { start: '192.168.0.10', end: '192.168.1.99' } },
      [at('pool.end', `outside-subnet: 192.168.1.99 is outside 192.168.0.0/24; ${INSIDE}`)],
    ],
    [
      'an end that is the network address',
      { pool: { start: '192.168.0.10', end: '192.168.0.0' } },
      [
        at(
          'pool.end',
          'is-network-address: 192.168.0.0 is the network address of 192.168.0.0/24; choose one from 192.168.0.1 on',
        ),
      ],
    ],
    [
      'an end that is the broadcast address',
      { pool: { start: '192.168.0.10', end: '192.168.0.255' } },
      [
        at(
          'pool.end',
          'is-broadcast-address: 192.168.0.255 is the broadcast address of 192.168.0.0/24; choose one up to 192.168.0.254',
        ),
      ],
    ],
    [
      'a range that is reversed',
      { pool: { start: '192.168.0.99', end: '192.168.0.10' } },
      [at('pool.end', 'range-reversed: the range ends at 192.168.0.10, before its start 192.168.0.99; swap start and end')],
    ],
    [
      'a server outside the subnet',
      { serverIP: '192.168.100.2' },
      [at('serverIP', `outside-subnet: 192.168.100.2 is outside 192.168.0.0/24; ${INSIDE}`)],
    ],
    [
      'a server that is the network address',
      { serverIP: '192.168.0.0' },
      [
        at(
          'serverIP',
          'is-network-address: 192.168.0.0 is the network address of 192.168.0.0/24; choose one from 192.168.0.1 on',
        ),
      ],
    ],
    [
      'a server that is the broadcast address',
      { serverIP: '192.168.0.255' },
      [
        at(
          'serverIP',
          'is-broadcast-address: 192.168.0.255 is the broadcast address of 192.168.0.0/24; choose one up to 192.168.0.254',
        ),
      ],
    ],
    [
      'a server that is the router',
      { router: '192.168.0.2' },
      [at('serverIP', "server-is-router: 192.168.0.2 is the router's address too; give the DHCP server an address of its own")],
    ],
    [
      'a router outside the subnet',
      { router: '192.168.100.1' },
      [at('router', `outside-subnet: 192.168.100.1 is outside 192.168.0.0/24; ${INSIDE}`)],
    ],
    [
      'a router that is the network address',
      { router: '192.168.0.0' },
      [at('router', 'is-network-address: 192.168.0.0 is the network address of 192.168.0.0/24; choose one from 192.168.0.1 on')],
    ],
    [
      'a router that is the broadcast address',
      { router: '192.168.0.255' },
      [
        at(
          'router',
          'is-broadcast-address: 192.168.0.255 is the broadcast address of 192.168.0.0/24; choose one up to 192.168.0.254',
        ),
      ],
    ],
    [
      'an exclusion outside the subnet',
      { pool: { start: '192.168.0.10', end: '192.168.0.99', exclude: ['192.168.0.11', '192.168.7.1'] } },
      [at('pool.exclude[1]', 'outside-subnet: 192.168.7.1 is outside 192.168.0.0/24; remove it or widen the cidr')],
    ],
    [
      'an invalid exclusion',
      { pool: { start: '192.168.0.10', end: '192.168.0.99', exclude: ['all'] } },
      [
        at(
          'pool.exclude[0]',
          'wrong-format: "all" is neither an address nor a range; write 192.168.48.5 or 192.168.48.10-192.168.48.19',
        ),
      ],
    ],
    [
      'an address reserved twice',
      {
        reservations: [
          { macAddress: A, ipAddress: '192.168.0.20' },
          { macAddress: B, ipAddress: '192.168.0.20' },
        ],
      },
      [
        at(
          'reservations[1].ipAddress',
          `address-reserved-twice: 192.168.0.20 is reserved for ${A} already; reserve another address`,
        ),
      ],
    ],
    [
      'a client with two reservations',
      {
        reservations: [
          { macAddress: A, ipAddress: '192.168.0.20' },
          { macAddress: '02-00-00-00-00-0A', ipAddress: '192.168.0.21' },
        ],
      },
      [at('reservations[1].macAddress', `mac-reserved-twice: ${A} has a reservation already; keep one of the two`)],
    ],
    [
      'a reservation that is excluded',
      {
        pool: { start: '192.168.0.10', end: '192.168.0.99', exclude: ['192.168.0.20'] },
        reservations: [{ macAddress: A, ipAddress: '192.168.0.20' }],
      },
      [at('reservations[0].ipAddress', 'reservation-in-use: 192.168.0.20 is excluded; reserve another address')],
    ],
    ['a field that is missing', { cidr: undefined }, [at('cidr', 'field-missing: is missing; write text')]],
    [
      'a field of another type',
      { dns: '1.1.1.1' },
      [at('dns', 'wrong-type: "1.1.1.1" is text, not a list; write a list, each entry on a line that begins with "- "')],
    ],
    [
      'a reservation for a group of hosts',
      { reservations: [{ macAddress: '01:00:5e:00:00:01', ipAddress: '192.168.0.20' }] },
      [
        at(
          'reservations[0].macAddress',
          'not-a-mac-address: "01:00:5e:00:00:01" is a multicast MAC address, which no client has; write six hexadecimal octets, as in 02:00:5e:10:00:01',
        ),
      ],
    ],
    [
      'an invalid domain',
      { domainName: 'not a name' },
      [
        at(
          'domainName',
          'not-a-host-name: "not a name" is not a domain name; write letters, digits, hyphens and dots, as in lab.example.org',
        ),
      ],
    ],
    [
      'an invalid time server',
      { ntp: ['192.168.0'] },
      [
        at(
          'ntp[0]',
          'not-a-time-server: "192.168.0" is neither an IPv4 address nor a host name; write an address, as in 192.168.48.1, or a name, as in time.example.org',
        ),
      ],
    ],
    [
      'a route to a host',
      { staticRoutes: [{ destination: '10.9.0.1/8', gateway: '192.168.0.1' }] },
      [
        at(
          'staticRoutes[0].destination',
          'host-bits-set: "10.9.0.1/8" is a host address with a prefix length, not a subnet; write 10.0.0.0/8, or the address with /32 for one host',
        ),
      ],
    ],
    [
      'a subnet of no hosts',
      { cidr: '224.0.0.0/24', serverIP: '224.0.0.2', pool: { start: '224.0.0.10', end: '224.0.0.99' } },
      [
        at(
          'cidr',
          'not-a-host-address: 224.0.0.0/24 holds no address that a host can have; choose a subnet of unicast addresses',
        ),
      ],
    ],
    [
      'a range of more than a /8',
      { cidr: '96.0.0.0/7', serverIP: '96.0.0.1', pool: { start: '96.0.0.1', end: '97.255.255.254' } },
      [
        at(
          'pool.end',
          'range-too-large: the range holds 33554430 addresses; set start and end, or ranges, so that it holds at most 16777216 from the first to the last',
        ),
      ],
    ],
    [
      'ranges outside the subnet, at its ends, and reversed',
      {
        pool: {
          ...{ start: '192.168.0.10', end: '192.168.0.99' },
          ranges: [
            '192.168.0.10-192.168.1.9',
            '192.168.0.0-192.168.0.9',
            '192.168.0.200-192.168.0.255',
            '192.168.0.9-192.168.0.8',
          ],
        },
      },
      [
        at(
          'pool.ranges[3]',
          'not-a-range: "192.168.0.9-192.168.0.8" is neither an address nor a range; write 192.168.48.5 or 192.168.48.10-192.168.48.19',
        ),
        at('pool.ranges[0]', `outside-subnet: 192.168.1.9 is outside 192.168.0.0/24; ${INSIDE}`),
        at(
          'pool.ranges[1]',
          'is-network-address: 192.168.0.0 is the network address of 192.168.0.0/24; choose one from 192.168.0.1 on',
        ),
        at(
          'pool.ranges[2]',
          'is-broadcast-address: 192.168.0.255 is the broadcast address of 192.168.0.0/24; choose one up to 192.168.0.254',
        ),
      ],
    ],
    [
      'boot settings twice',
      { bootByArchitecture: [{ architecture: 7 }, { architecture: 7 }] },
      [at('bootByArchitecture[1].architecture', 'architecture-twice: 7 has boot settings already; keep one of the two')],
    ],
    [
      'options that are not for the list',
      {
        options: [
          { code: 6, value: '192.168.0.53' },
          { code: 44, value: 'x' },
          { code: 252, value: 'wpad' },
          { code: 252, value: 'other' },
        ],
      },
      [
        at(
          'options[0].code',
          'option-not-allowed: 6 (domainNameServers) is set by the server, by clients or by another field of the pool; remove it here',
        ),
        at(
          'options[1].value',
          'not-an-option-value: "x" is not a value of option 44; write IPv4 addresses, as in 192.168.48.5, 192.168.48.6, or octets in hexadecimal digits, as in 0x0104c0a83001',
        ),
        at('options[3].code', 'option-twice: 252 has a value already; keep one of the two'),
      ],
    ],
    [
      'several at once, all reported',
      { serverIP: 'x', router: '192.168.100.1', mtu: 1 },
      [
        at('serverIP', `wrong-format: "x" is not an IPv4 address; ${ADDRESS}`),
        at('mtu', 'out-of-bounds: 1 is too small; write at least 68'),
        at('router', `outside-subnet: 192.168.100.1 is outside 192.168.0.0/24; ${INSIDE}`),
      ],
    ],
  ])('%s is refused', (_what, config, problems) => {
    expect(created(ipPool(config)).problems).toEqual(problems);
  });

  it('an IPv6 prefix with which a client could get the address of a name server is refused', () => {
    const object = ipPool({ pool: { start: '192.168.0.10', end: '192.168.0.99' } });
    const ipv6Config = { cidr: '2001:db8::/64', dns: ['2001:db8::53'] };
    expect(created({ ...object, spec: { ...(object.spec as object), ipv6Config } }).problems).toEqual([
      expect.stringMatching(/^spec\.ipv6Config\.cidr ipv6-server-is-client: "2001:db8::\/64" makes 2001:db8::53, /),
    ]);
  });

  it.each<[what: string, config: Config, text: PoolText, warnings: string[]]>([
    [
      'a lease time of 0',
      { leaseTime: 0 },
      {},
      [
        at(
          'leaseTime',
          'lease-time-impossible: 0 is not a number of seconds that a lease can last; write 1 to 4294967294, 4294967295 for leases without end, or leave it out for one year (31536000)',
        ),
      ],
    ],
    [
      'host bits in the CIDR',
      { cidr: '192.168.0.5/24' },
      {},
      [
        at(
          'cidr',
          'host-bits-in-cidr: 192.168.0.5/24 is the address of a host with a prefix length, and counts as 192.168.0.0/24; write 192.168.0.0/24',
        ),
      ],
    ],
    [
      'an exclusion between two ranges',
      {
        pool: { start: '192.168.0.10', end: '192.168.0.99', ranges: ['192.168.0.10', '192.168.0.99'], exclude: ['192.168.0.50'] },
      },
      {},
      [
        at(
          'pool.exclude[0]',
          'exclusion-useless: 192.168.0.50 is outside the range of the pool (192.168.0.10, 192.168.0.99), and excludes nothing; remove it, or correct it',
        ),
      ],
    ],
    [
      'an exclusion outside the range',
      { pool: { start: '192.168.0.10', end: '192.168.0.99', exclude: ['192.168.0.5'] } },
      {},
      [
        at(
          'pool.exclude[0]',
          'exclusion-useless: 192.168.0.5 is outside the range of the pool (192.168.0.10-192.168.0.99), and excludes nothing; remove it, or correct it',
        ),
      ],
    ],
    [
      'an exclusion inside another one',
      { pool: { start: '192.168.0.10', end: '192.168.0.99', exclude: ['192.168.0.20', '192.168.0.15-192.168.0.25'] } },
      {},
      [
        at(
          'pool.exclude[0]',
          'exclusion-twice: 192.168.0.20 is excluded by 192.168.0.15-192.168.0.25 already; remove one of the two',
        ),
      ],
    ],
    [
      'nothing to lease',
      { pool: { start: '192.168.0.10', end: '192.168.0.11', exclude: ['192.168.0.10-192.168.0.11'] } },
      {},
      [
        at(
          'pool',
          'no-address-to-lease: no address of 192.168.0.10-192.168.0.11 can be leased: each is excluded, or the address of the server or the router; raise end, lower start, or exclude less',
        ),
      ],
    ],
    [
      'an invalid annotation',
      {},
      { annotations: { 'network.harvesterhci.io/log-level': 'loud' } },
      [
        'metadata.annotations.network.harvesterhci.io/log-level log-annotation-unreadable: annotation network.harvesterhci.io/log-level is "loud"; write one of trace, debug, info, warn, error, silent',
      ],
    ],
    [
      'an unknown field',
      { colour: 'blue' },
      {},
      [at('colour', 'unknown-field: is not a known field; correct its name or remove it')],
    ],
  ])('%s is a warning', (_what, config, text, warnings) => {
    expect(created(ipPool(config, text))).toEqual({ problems: [], warnings });
  });
});

it.each<[what: string, spec: Config, problem: string]>([
  [
    'no settings',
    { networkName: 'default/net-1' },
    'spec.ipv4Config ipv4-config-missing: the pool has no IPv4 settings; set spec.ipv4Config',
  ],
  [
    'a word that is not in its list',
    { ...(ipPool().spec as object), onRogueServer: 'stop' },
    'spec.onRogueServer value-not-allowed: "stop" is not allowed here; write Warn or Stop',
  ],
])('%s: refused', (_what, spec, problem) => {
  expect(created({ ...ipPool(), spec }).problems).toEqual([problem]);
});

describe('a pool beside the network that it names', () => {
  const ALLOW = 'network.harvesterhci.io/allowed-pool-namespaces';

  it.each<[what: string, text: PoolText, others: KubernetesObject[]]>([
    ["a name without a namespace refers to the pool's own namespace", { network: 'net-1' }, [NETWORK]],
    [
      'a network of another namespace that allows it',
      { namespace: 'blue' },
      [{ ...NETWORK, metadata: { ...NETWORK.metadata, annotations: { [ALLOW]: 'red, blue' } } }],
    ],
    [
      'an other pool is for another network',
      {},
      [bridged('net-1'), bridged('net-2', 'default', { vlan: 49 }), ipPool({}, { name: 'other', network: 'default/net-2' })],
    ],
  ])('%s: accepted', (_what, text, others) => {
    expect(created(ipPool({}, text), others)).toEqual({ problems: [], warnings: [] });
  });

  it.each<[what: string, text: PoolText, others: KubernetesObject[], problems: string[]]>([
    [
      'none',
      {},
      [],
      [
        'spec.networkName network-missing: there is no NetworkAttachmentDefinition default/net-1; create it, or delete the IPPool and create it again with another spec.networkName',
      ],
    ],
    [
      'an empty name',
      { network: '' },
      [NETWORK],
      [
        'spec.networkName network-name-missing: spec.networkName is empty and cannot be changed; delete the IPPool, and create it again with the name of a NetworkAttachmentDefinition',
      ],
    ],
    [
      'one of another namespace',
      { namespace: 'blue' },
      [NETWORK],
      [
        'spec.networkName network-not-allowed: network default/net-1 belongs to namespace default, which does not allow IPPools of namespace blue; add "blue" to the annotation network.harvesterhci.io/allowed-pool-namespaces of NetworkAttachmentDefinition default/net-1 (names with commas, or *), or create the IPPool in namespace default',
      ],
    ],
    [
      'one that another pool serves',
      {},
      [NETWORK, ipPool({}, { name: 'older', createdAt: '2025-01-01T00:00:00Z' })],
      [
        'spec.networkName network-taken: network default/net-1 is served by the older IPPool default/older already; delete one of the two',
      ],
    ],
  ])('%s: refused', (_what, text, others, problems) => {
    expect(created(ipPool({}, text), others).problems).toEqual(problems);
  });

  it('problems because of other objects are marked, so that the review can wait for a lagging cache', () => {
    const { problems } = reviewIpPool(creation(ipPool({ router: '192.168.0.2' })), factsOfObjects([]));
    expect(problems.map(({ reason, dependsOnOthers }) => [reason, dependsOnOthers])).toEqual([
      ['server-is-router', undefined],
      ['network-missing', true],
    ]);
  });
});

describe('a pool beside what the cluster needs itself', () => {
  it('an IPv6 prefix that overlaps a network of a dual-stack cluster: refused', () => {
    const object = ipPool({});
    const dual = (cidr: string) => ({ ...object, spec: { ...(object.spec as object), ipv6Config: { cidr } } });
    const cluster = clusterNetworks({ services: ['10.53.0.0/16', 'fd00:53::/112'], pods: ['10.52.0.0/16', 'fd00:52::/56'] });
    const problems = (cidr: string) => created(dual(cidr), [NETWORK], cluster).problems;
    expect(problems('fd00:54::/64')).toEqual([]);
    expect(problems('fd00:53::/64')).toEqual([
      `spec.ipv6Config.cidr overlaps-service-cidr: fd00:53::/64 overlaps fd00:53::/112, the network of the Services of the cluster; ${OVERLAP}`,
    ]);
    expect(problems('fd00:52:0:7::/64')).toEqual([
      `spec.ipv6Config.cidr overlaps-pod-cidr: fd00:52:0:7::/64 overlaps fd00:52::/56, the network of the pods of the cluster; ${OVERLAP}`,
    ]);
  });

  const pods = clusterNetworks({ pods: ['10.52.0.0/16'] });
  const api = clusterNetworks({ apiServers: ['192.168.0.30'] });
  const inService = { cidr: '10.53.0.0/24', serverIP: '10.53.0.2', pool: { start: '10.53.0.10', end: '10.53.0.20' } };
  const around = { cidr: '10.0.0.0/8', serverIP: '10.0.0.2', pool: { start: '10.0.0.10', end: '10.0.0.20' } };

  it.each<[what: string, config: Config, cluster: ClusterNetworks, problems: string[]]>([
    ['another network', {}, SERVICES, []],
    [
      'inside the network of Services',
      inService,
      SERVICES,
      [
        at(
          'cidr',
          `overlaps-service-cidr: 10.53.0.0/24 overlaps 10.53.0.0/16, the network of the Services of the cluster; ${OVERLAP}`,
        ),
      ],
    ],
    [
      'around the network of Services',
      around,
      SERVICES,
      [
        at(
          'cidr',
          `overlaps-service-cidr: 10.0.0.0/8 overlaps 10.53.0.0/16, the network of the Services of the cluster; ${OVERLAP}`,
        ),
      ],
    ],
    [
      'around the network of pods',
      around,
      pods,
      [at('cidr', `overlaps-pod-cidr: 10.0.0.0/8 overlaps 10.52.0.0/16, the network of the pods of the cluster; ${OVERLAP}`)],
    ],
    [
      'the API server is in the range',
      {},
      api,
      [
        at(
          'pool',
          'is-api-server: a client could get 192.168.0.30, the address of the API server; add it to exclude, or choose another start or end',
        ),
      ],
    ],
    ['the API server is excluded', { pool: { start: '192.168.0.10', end: '192.168.0.99', exclude: ['192.168.0.30'] } }, api, []],
    ['the API server is in the subnet, and outside the range', { pool: { start: '192.168.0.40', end: '192.168.0.99' } }, api, []],
    ['the API server is the router', { router: '192.168.0.30' }, api, []],
    [
      'the server has the address of the API server',
      { serverIP: '192.168.0.30' },
      api,
      [
        at(
          'serverIP',
          'is-api-server: 192.168.0.30 is the address of the API server; give the DHCP server an address of its own',
        ),
      ],
    ],
    [
      'the address of the API server is reserved',
      { pool: { start: '192.168.0.40', end: '192.168.0.99' }, reservations: [{ macAddress: A, ipAddress: '192.168.0.30' }] },
      api,
      [
        at(
          'reservations',
          'is-api-server: a client could get 192.168.0.30, the address of the API server; remove the reservation of that address',
        ),
      ],
    ],
  ])('%s', (_what, config, cluster, problems) => {
    expect(created(ipPool(config), [NETWORK], cluster).problems).toEqual(problems);
  });
});

describe('a machine has an address, and ipv6Config.dns or ntp is to name the IPv6 address beside it', () => {
  const withIpv6 = (object: KubernetesObject, config: object = {}): KubernetesObject => ({
    ...object,
    spec: { ...(object.spec as object), ipv6Config: { cidr: '2001:db8::/64', ...config } },
  });
  const allocated = { allocated: { '192.168.0.17': A } };
  const before = ipPool({}, allocated);
  const excluding = ipPool({ pool: { start: '192.168.0.10', end: '192.168.0.99', exclude: ['192.168.0.17'] } }, allocated);
  const reserving = ipPool({ reservations: [{ macAddress: A, ipAddress: '192.168.0.17' }] }, allocated);
  const problem =
    'spec.ipv6Config ipv6-server-is-client: dns or ntp names 2001:db8::11, which is the address of a client: 192.168.0.17 (02:00:00:00:00:0a); name the server by another address, or pin another address for the virtual machine first';
  const [named, ntp] = [{ dns: ['2001:db8::11'] }, { dns: ['2001:db8::53:1'], ntp: ['2001:db8::11'] }];

  it.each<[what: string, from: KubernetesObject, to: KubernetesObject, problems: readonly string[]]>([
    [
      'is refused although the address is excluded: the machine keeps it',
      withIpv6(before),
      withIpv6(excluding, named),
      [problem],
    ],
    ['so is one of ntp', withIpv6(before), withIpv6(excluding, ntp), [problem]],
    ['so is IPv6 that is new', before, withIpv6(excluding, named), [problem]],
    ['is accepted if the address is reserved for it: it is the server', withIpv6(before), withIpv6(reserving, named), []],
    ['is accepted if another address is named', withIpv6(before), withIpv6(excluding, { dns: ['2001:db8::53:1'] }), []],
    ['does not stop another change if it has been so before', withIpv6(excluding, named), withIpv6(excluding, ntp), []],
  ])('%s', (_what, from, to, problems) => {
    expect(changed(from, to, [NETWORK]).problems).toEqual(problems);
  });
});

describe('a pool on a segment that another one is on', () => {
  const others = (config: Config, namespace = 'default') => [
    bridged('net-1'),
    bridged('net-2', namespace),
    ipPool(config, { name: 'other', namespace, network: `${namespace}/net-2` }),
  ];
  const REMEDY = 'delete all but one of these IPPools, or make them again with CIDRs that do not overlap';
  const SAME = `network default/net-1 is the same segment (bridge mgmt-br, VLAN 48) as the network of IPPool default/other, and the CIDRs overlap, so two virtual machines could get one address; ${REMEDY}`;

  const refused = (addresses: string) =>
    at(
      'cidr',
      `segment-range-shared: ${SAME.slice(0, SAME.indexOf(';'))}: ${addresses}; choose ranges, reservations and servers that are apart, or wait until the machines of the other IPPool have left these addresses`,
    );

  it('with addresses that both could lease: refused, and they are named', () => {
    expect(created(ipPool(), others({}))).toEqual({
      problems: [refused('192.168.0.2, 192.168.0.10-192.168.0.99')],
      warnings: [],
    });
  });

  it.each([
    ['with ranges apart', {}],
    [
      'with ranges between those of the other',
      { pool: { start: '192.168.0.1', end: '192.168.0.220', ranges: ['192.168.0.99', '192.168.0.210'] } },
    ],
  ])('%s: a warning', (_what, config) => {
    const ranges = ['192.168.0.100-192.168.0.200', '192.168.0.4-192.168.0.9', '192.168.0.220'];
    const apart = { serverIP: '192.168.0.3', pool: { start: '192.168.0.1', end: '192.168.0.220', ranges } };
    expect(created(ipPool(config), others(apart))).toEqual({ problems: [], warnings: [at('cidr', `segment-shared: ${SAME}`)] });
  });

  const APART = { serverIP: '192.168.0.3', pool: { start: '192.168.0.100', end: '192.168.0.200' } };
  const second = (config: Config, text: PoolText = {}) =>
    ipPool({ ...APART, ...config }, { name: 'other', network: 'default/net-2', ...text });
  const RESERVED = { reservations: [{ macAddress: A, ipAddress: '192.168.0.20' }] };
  const ALLOCATED = { allocated: { '192.168.0.20': A } };

  it.each<[what: string, own: Config, other: KubernetesObject, addresses: string]>([
    ['a client of the other one keeps an address that was drained there', {}, second({}, ALLOCATED), '192.168.0.20'],
    ['the other one reserves it', {}, second(RESERVED), '192.168.0.20'],
    [
      'this one reserves an address of the other',
      { reservations: [{ macAddress: A, ipAddress: '192.168.0.120' }] },
      second({}),
      '192.168.0.120',
    ],
    ['its server has an address that the other one could assign', { serverIP: '192.168.0.150' }, second({}), '192.168.0.150'],
    [
      'its server has an address that a client of the other one keeps',
      { serverIP: '192.168.0.5' },
      second({}, { allocated: { '192.168.0.5': A } }),
      '192.168.0.5',
    ],
    ['both have one server address', { serverIP: '192.168.0.3' }, second({}), '192.168.0.3'],
  ])('with ranges apart, but %s: refused', (_what, own, other, addresses) => {
    expect(created(ipPool(own), [bridged('net-1'), bridged('net-2'), other]).problems).toEqual([refused(addresses)]);
  });

  it('that reserves an address which this one excludes: a warning', () => {
    const excluding = ipPool({ pool: { start: '192.168.0.10', end: '192.168.0.99', exclude: ['192.168.0.20'] } });
    expect(created(excluding, [bridged('net-1'), bridged('net-2'), second(RESERVED)]).problems).toEqual([]);
  });

  it.each<[what: string, other: KubernetesObject]>([
    ['reserves an address in this range', second(RESERVED)],
    ['has a client with an address in this range', second({}, ALLOCATED)],
  ])('that %s since before this rule: only what a change adds is refused', (_what, other) => {
    const around = [bridged('net-1'), bridged('net-2'), other];
    expect(changed(ipPool(), ipPool({ leaseTime: 60 }), around).problems).toEqual([]);
    expect(changed(ipPool(), ipPool({ pool: { start: '192.168.0.10', end: '192.168.0.120' } }), around).problems).toEqual([
      refused('192.168.0.100-192.168.0.120'),
    ]);
  });

  it('is not served again while another one has its addresses', () => {
    const around = [bridged('net-1'), bridged('net-2'), second({ pool: { start: '192.168.0.90', end: '192.168.0.200' } })];
    expect(changed(paused(ipPool()), ipPool(), around).problems).toEqual([refused('192.168.0.90-192.168.0.99')]);
  });

  it('with a pool of another namespace: a warning without its name', () => {
    const { problems, warnings } = created(ipPool(), others({}, 'tenant'));
    expect(problems).toEqual([]);
    expect(warnings.join()).toContain('an IPPool of another namespace');
    expect(warnings.join()).not.toContain('tenant');
  });

  describe('with a CIDR apart, and the same IPv6 CIDR', () => {
    const at6 = { cidr: '192.168.7.0/24', serverIP: '192.168.7.2', pool: { start: '192.168.7.10', end: '192.168.7.60' } };
    const withIpv6 = (object: KubernetesObject, cidr = '2001:db8::/64'): KubernetesObject => ({
      ...object,
      spec: { ...(object.spec as object), ipv6Config: { cidr } },
    });
    const around = (other: KubernetesObject) => [bridged('net-1'), bridged('net-2'), withIpv6(other)];
    const refusal = (addresses: string) =>
      `spec.ipv6Config.cidr ${refused(`${addresses}, by the IPv6 addresses beside them`).slice('spec.ipv4Config.cidr '.length)}`;

    it.each<[what: string, config: Config, text: PoolText, addresses: string]>([
      ['ranges that correspond', at6, {}, '192.168.0.10-192.168.0.60'],
      [
        'a client that keeps an address which corresponds',
        { ...at6, pool: { start: '192.168.7.100', end: '192.168.7.200' } },
        { allocated: { '192.168.7.20': A } },
        '192.168.0.20',
      ],
    ])('%s: refused, also when IPv6 is added later', (_what, config, text, addresses) => {
      const other = ipPool(config, { name: 'other', network: 'default/net-2', ...text });
      expect(created(withIpv6(ipPool()), around(other))).toEqual({ problems: [refusal(addresses)], warnings: [] });
      expect(changed(ipPool(), withIpv6(ipPool()), around(other)).problems).toEqual([refusal(addresses)]);
      expect(created(ipPool(), around(other))).toEqual({ problems: [], warnings: [] });
      expect(created(withIpv6(ipPool(), '2001:db8:0:1::/64'), around(other))).toEqual({ problems: [], warnings: [] });
    });

    it('ranges that do not correspond, whatever the servers are: a warning', () => {
      const apart = { ...at6, serverIP: '192.168.7.20', pool: { start: '192.168.7.100', end: '192.168.7.200' } };
      const other = ipPool(apart, { name: 'other', network: 'default/net-2' });
      const { problems, warnings } = created(withIpv6(ipPool({ serverIP: '192.168.0.150' })), around(other));
      expect(problems).toEqual([]);
      expect(warnings).toEqual([`spec.ipv6Config.cidr segment-shared: ${SAME}`]);
    });
  });

  it('with a different CIDR: no warning', () => {
    const apart = { cidr: '192.168.7.0/24', serverIP: '192.168.7.2', pool: { start: '192.168.7.9', end: '192.168.7.10' } };
    expect(created(ipPool(), others(apart))).toEqual({ problems: [], warnings: [] });
  });
});

describe('a pool on another network than one of the same addresses', () => {
  const other = (config: Config = {}, text: PoolText = {}) =>
    ipPool(config, { name: 'other', network: 'default/net-2', ...text });
  const REMEDY =
    'if frames of one network reach the other, choose start and end that do not overlap; if they do not reach it, nothing has to be done';
  const warningOf = (addresses: string) =>
    `spec.ipv4Config.pool range-overlaps: IPPool default/other could lease ${addresses} too, on network default/net-2, which may be the same segment as default/net-1: then two virtual machines could get one address; ${REMEDY}`;

  it.each<[what: string, one: KubernetesObject, another: KubernetesObject]>([
    ['networks that name no segment', NETWORK, network('net-2')],
    ['a network that names no segment', bridged('net-1'), network('net-2')],
    ['two bridges', bridged('net-1'), bridged('net-2', 'default', { bridge: 'other-br' })],
    ['two bridges and two VLANs', bridged('net-1'), bridged('net-2', 'default', { bridge: 'other-br', vlan: 49 })],
  ])('on %s: a warning that names the addresses', (_what, one, another) => {
    const reserved = other({ pool: { start: '192.168.0.90', end: '192.168.0.200' } });
    expect(created(ipPool(), [one, another, reserved])).toEqual({
      problems: [],
      warnings: [warningOf('192.168.0.90-192.168.0.99')],
    });
  });

  it('warns once, of the oldest of several', () => {
    const younger = other({}, { name: 'younger', network: 'default/net-3', createdAt: '2026-01-02T00:00:00Z' });
    const { warnings } = created(ipPool(), [NETWORK, network('net-2'), network('net-3'), younger, other()]);
    expect(warnings).toEqual([warningOf('192.168.0.10-192.168.0.99')]);
  });

  it('finds a range that begins in another block of addresses', () => {
    const wide = { cidr: '192.0.0.0/8', serverIP: '192.0.0.2', pool: { start: '192.0.0.10', end: '192.255.0.9' } };
    const { warnings } = created(ipPool(), [NETWORK, network('net-2'), other(wide)]);
    expect(warnings).toEqual([warningOf('192.168.0.10-192.168.0.99')]);
  });

  it.each<[what: string, others: readonly KubernetesObject[]]>([
    ['another VLAN of the same bridge', [bridged('net-1'), bridged('net-2', 'default', { vlan: 49 }), other()]],
    [
      'another range',
      [NETWORK, network('net-2'), other({ serverIP: '192.168.0.3', pool: { start: '192.168.0.100', end: '192.168.0.200' } })],
    ],
    [
      'ranges on both sides',
      [
        ...[NETWORK, network('net-2')],
        other({
          serverIP: '192.168.0.3',
          pool: { start: '192.168.0.1', end: '192.168.0.200', ranges: ['192.168.0.9', '192.168.0.100'] },
        }),
      ],
    ],
    ['another namespace', [NETWORK, network('net-2'), other({}, { namespace: 'tenant', network: 'tenant/net-2' })]],
    ['a pool that is paused', [NETWORK, network('net-2'), paused(other())]],
    [
      'a pool that serves nothing, as an older one does',
      [NETWORK, network('net-2'), other({ pool: { start: '192.168.0.100', end: '192.168.0.200' } }), other({}, YOUNGER)],
    ],
  ])('%s: no word', (_what, others) => {
    expect(created(ipPool(), others)).toEqual({ problems: [], warnings: [] });
  });

  it('an unrelated change: no warning', () => {
    expect(changed(ipPool(), ipPool({ leaseTime: 60 }), [NETWORK, network('net-2'), other()])).toEqual({
      problems: [],
      warnings: [],
    });
  });
});

function paused(object: KubernetesObject): KubernetesObject {
  return { ...object, spec: { ...(object.spec as object), paused: true } };
}

describe('a change of a pool', () => {
  const used = ipPool({}, { allocated: { '192.168.0.2': 'RESERVED', '192.168.0.20': A, '192.168.0.77': 'EXCLUDED' } });
  const withUser = [NETWORK, networkConfig([{ mac: A }])];
  const edited = (config: Config, text: PoolText = {}) => ipPool(config, { ...text, allocated: { '192.168.0.20': A } });

  it.each<[what: string, config: Config]>([
    ['name servers, domain and lease time', { dns: ['1.1.1.1'], domainName: 'lab.example', leaseTime: 60 }],
    ['a range that grows', { pool: { start: '192.168.0.5', end: '192.168.0.200' } }],
    ['another server, which only the CRD refuses', { serverIP: '192.168.0.254' }],
    ['a router', { router: '192.168.0.1' }],
    ['the server, with its own mark RESERVED', { serverIP: '192.168.0.2', dns: ['1.1.1.1'] }],
    [
      'a smaller range without an address that is reserved for its client',
      { pool: { start: '192.168.0.30', end: '192.168.0.99' }, reservations: [{ macAddress: A, ipAddress: '192.168.0.20' }] },
    ],
    [
      'two ranges in place of one',
      { pool: { start: '192.168.0.10', end: '192.168.0.99', ranges: ['192.168.0.20', '192.168.0.30'] } },
    ],
    ['a reservation for the client that has the address', { reservations: [{ macAddress: A, ipAddress: '192.168.0.20' }] }],
  ])('%s is accepted', (_what, config) => {
    expect(changed(used, edited(config), withUser)).toEqual({ problems: [], warnings: [] });
  });

  const excluding = { pool: { start: '192.168.0.10', end: '192.168.0.99', exclude: ['192.168.0.77'] } };
  const CUT =
    'addresses-cut-off: addresses in use would be cut off: 192.168.0.20 (default/vm-a); keep them in the subnet, or delete these virtual machines first';

  it.each<[what: string, old: Config, config: Config, problems: string[]]>([
    [
      'a server that is the address of a client',
      {},
      { serverIP: '192.168.0.20' },
      [
        at(
          'serverIP',
          'server-address-in-use: the address is in use: 192.168.0.20 (default/vm-a); choose another address for the server',
        ),
      ],
    ],
    [
      'a server that is excluded',
      excluding,
      { ...excluding, serverIP: '192.168.0.77' },
      [
        at(
          'serverIP',
          'server-address-excluded: 192.168.0.77 is excluded, so another host may have it; choose an address that is not excluded',
        ),
      ],
    ],
    [
      'a range that is reversed',
      {},
      { pool: { start: '192.168.0.99', end: '192.168.0.10' } },
      [at('pool.end', 'range-reversed: the range ends at 192.168.0.10, before its start 192.168.0.99; swap start and end')],
    ],
    [
      'a CIDR without an address in use',
      {},
      { cidr: '192.168.9.0/24', serverIP: '192.168.9.2', pool: { start: '192.168.9.10', end: '192.168.9.20' } },
      [at('cidr', CUT)],
    ],
    [
      'a server outside',
      {},
      { serverIP: '192.168.9.2' },
      [at('serverIP', `outside-subnet: 192.168.9.2 is outside 192.168.0.0/24; ${INSIDE}`)],
    ],
    [
      'a router that is the server',
      {},
      { router: '192.168.0.2' },
      [at('serverIP', "server-is-router: 192.168.0.2 is the router's address too; give the DHCP server an address of its own")],
    ],
  ])('%s is refused', (_what, old, config, problems) => {
    const allocated = { '192.168.0.20': A };
    expect(changed(ipPool(old, { allocated }), edited(config), withUser).problems).toEqual(problems);
  });

  it('another network cuts off all clients', () => {
    const moved = edited({}, { network: 'default/net-2' });
    expect(changed(used, moved, [...withUser, network('net-2')]).problems).toEqual([`spec.networkName ${CUT}`]);
  });

  it('names five virtual machines and how many more there are', () => {
    const machines = Array.from({ length: 8 }, (_, index) => `02:00:00:00:01:0${index}`);
    const allocated = Object.fromEntries(machines.map((mac, index) => [`192.168.0.${50 + index}`, mac]));
    const { warnings } = changed(
      ipPool({}, { allocated }),
      ipPool({ pool: { start: '192.168.0.10', end: '192.168.0.49' } }, { allocated }),
    );
    expect(warnings.join()).toContain('192.168.0.50 (02:00:00:00:01:00), ');
    expect(warnings.join()).toContain('192.168.0.54 (02:00:00:00:01:04) and 3 more; to free them');
  });

  const DRAINED = at(
    'pool',
    'address-outside-range-in-use: outside the range, and kept as long as their virtual machines claim them: 192.168.0.20 (default/vm-a); to free them, pin other addresses and restart the virtual machines that run, or delete them',
  );

  it.each<[what: string, config: Config, warnings: string[]]>([
    ['a start above an address in use', { pool: { start: '192.168.0.21', end: '192.168.0.99' } }, [DRAINED]],
    ['an end below an address in use', { pool: { start: '192.168.0.10', end: '192.168.0.19' } }, [DRAINED]],
    [
      'an address in use between two ranges',
      {
        pool: { start: '192.168.0.10', end: '192.168.0.99', ranges: ['192.168.0.10-192.168.0.19', '192.168.0.21-192.168.0.99'] },
      },
      [DRAINED],
    ],
    [
      'an exclusion of an address in use',
      { pool: { start: '192.168.0.10', end: '192.168.0.99', exclude: ['192.168.0.20'] } },
      [
        at(
          'pool.exclude',
          'excluded-address-in-use: excluded, or the address of the router, and kept as long as their virtual machines claim them: 192.168.0.20 (default/vm-a); to free them, pin other addresses and restart the virtual machines that run, or delete them',
        ),
      ],
    ],
    [
      'a router that a virtual machine is',
      { router: '192.168.0.20' },
      [
        at(
          'pool.exclude',
          'excluded-address-in-use: excluded, or the address of the router, and kept as long as their virtual machines claim them: 192.168.0.20 (default/vm-a); to free them, pin other addresses and restart the virtual machines that run, or delete them',
        ),
      ],
    ],
    [
      'a reservation of an address that another client has',
      { reservations: [{ macAddress: B, ipAddress: '192.168.0.20' }] },
      [
        at(
          'reservations',
          'reserved-address-in-use: reserved, and kept by other clients as long as their virtual machines claim them: 192.168.0.20 (default/vm-a); to free them, pin other addresses and restart the virtual machines that run, or delete them',
        ),
      ],
    ],
  ])('%s is a warning', (_what, config, warnings) => {
    expect(changed(used, edited(config), withUser)).toEqual({ problems: [], warnings });
  });

  it('an old problem becomes a warning, so that a pool can be corrected step by step', () => {
    const wrong = { router: '192.168.7.1', mtu: 1400 };
    expect(changed(ipPool(wrong), ipPool({ ...wrong, mtu: 1500 })).problems).toEqual([]);
    expect(changed(ipPool(wrong), ipPool({ ...wrong, mtu: 1500 })).warnings).toEqual([
      at('router', `outside-subnet: 192.168.7.1 is outside 192.168.0.0/24; ${INSIDE}`),
    ]);
    expect(changed(ipPool(wrong), ipPool({ ...wrong, serverIP: '192.168.8.1' })).problems).toEqual([
      at('serverIP', `outside-subnet: 192.168.8.1 is outside 192.168.0.0/24; ${INSIDE}`),
    ]);
  });

  it.each<[what: string, wrong: Config, corrected: Config]>([
    [
      'exclusion',
      { pool: { start: '192.168.0.10', end: '192.168.0.99', exclude: ['192.168.0.12', '192.168.7.1'] } },
      { pool: { start: '192.168.0.10', end: '192.168.0.99', exclude: ['192.168.7.1'] } },
    ],
    ['DNS server', { dns: ['192.168.0.3', 'x'] }, { dns: ['x'] }],
    [
      'reservation',
      {
        reservations: [
          { macAddress: A, ipAddress: '192.168.0.20' },
          { macAddress: B, ipAddress: '192.168.7.1' },
        ],
      },
      { reservations: [{ macAddress: B, ipAddress: '192.168.7.1' }] },
    ],
  ])('the %s before a wrong one can be removed', (_what, wrong, corrected) => {
    expect(changed(ipPool(wrong), ipPool(corrected)).problems).toEqual([]);
    expect(changed(ipPool(corrected), ipPool(wrong)).problems).toEqual([]);
  });

  it('a new entry with the same problem as an old one is refused', () => {
    const excluding = (...exclude: string[]) => ipPool({ pool: { start: '192.168.0.10', end: '192.168.0.99', exclude } });
    expect(changed(excluding('x'), excluding('x', 'x')).problems).toHaveLength(1);
    expect(changed(excluding('x'), excluding('y')).problems).toHaveLength(1);
  });

  it('changes of labels and finalizers are not reviewed, even without the network', () => {
    const old = ipPool({ router: 'x' });
    const object = { ...old, metadata: { ...old.metadata, labels: { a: 'b' }, finalizers: [] } };
    expect(changed(old, object, [])).toEqual({ problems: [], warnings: [] });
  });

  it('a pool that is being deleted may be changed in any way', () => {
    const object = ipPool({ router: 'x' });
    const leaving = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(changed(ipPool(), leaving)).toEqual({ problems: [], warnings: [] });
  });
});

describe('the deletion of a pool', () => {
  const review = (old: KubernetesObject, others: readonly KubernetesObject[]) =>
    reviewIpPool(deletion(old), factsOfObjects([old, ...others])).problems.map(shown);
  const users = (count: number) =>
    Array.from({ length: count }, (_, index) => networkConfig([{ mac: `02:00:00:00:02:0${index}` }], `vm-${index}`));
  const REMEDY =
    'detach them from network default/net-1 first; to take the IPPool away from them, annotate it network.harvesterhci.io/allow-deletion="true": they keep their addresses if an IPPool for the network is created again';

  it('that no virtual machine uses: accepted', () => {
    expect(review(ipPool(), [NETWORK])).toEqual([]);
  });

  it.each([
    [1, '1 virtual machine uses the IPPool: default/vm-0'],
    [2, '2 virtual machines use the IPPool: default/vm-0, default/vm-1'],
    [7, '7 virtual machines use the IPPool: default/vm-0, default/vm-1, default/vm-2, default/vm-3, default/vm-4 and 2 more'],
  ])('that %d use: refused', (count, message) => {
    expect(review(ipPool(), [NETWORK, ...users(count)])).toEqual([`(root) pool-in-use: ${message}; delete them or ${REMEDY}`]);
  });

  it('for a pool with another name than its network: refused too', () => {
    expect(review(ipPool({}, { name: 'other-name' }), [NETWORK, ...users(1)])).toHaveLength(1);
  });

  it.each<[what: string, old: KubernetesObject, others: KubernetesObject[]]>([
    ['with its annotation', ipPool({}, { annotations: { 'network.harvesterhci.io/allow-deletion': 'true' } }), []],
    ['that is invalid, as its condition recommends', ipPool({ router: '192.168.7.1' }), []],
    ['whose network another one serves', ipPool(), [ipPool({}, { name: 'older', createdAt: '2025-01-01T00:00:00Z' })]],
  ])('deleting a pool %s: accepted', (_what, old, others) => {
    expect(review(old, [NETWORK, ...others, ...users(1)])).toEqual([]);
  });
});

describe('another server on the network of a pool is a warning', () => {
  it.each<[string, Config | undefined, readonly string[]]>([
    ['none', { type: 'bridge', bridge: 'br1', ipam: {} }, []],
    [
      'KubeVirt',
      { plugins: [{ type: 'bridge', ipam: { type: 'host-local' } }] },
      [
        'spec.networkName served-twice: network default/net-1 has ipam of type host-local, so KubeVirt answers DHCP requests in the pod of each virtual machine too, and a guest may take that address; remove ipam from spec.config of the NetworkAttachmentDefinition, and restart its virtual machines',
      ],
    ],
    [
      'OVN-Kubernetes',
      { type: 'ovn-k8s-cni-overlay', topology: 'localnet', subnets: '192.168.0.0/24' },
      [
        'spec.networkName network-not-served: network default/net-1 has subnets, so OVN-Kubernetes assigns the addresses and drops packets from any other address; to have an IPPool serve it, use a NetworkAttachmentDefinition without subnets and with role secondary; otherwise delete the IPPool of the network',
      ],
    ],
    [
      'kube-ovn',
      { type: 'kube-ovn' },
      [
        'spec.networkName may-be-served-twice: kube-ovn manages network default/net-1, and if its Subnet has a cidrBlock, KubeVirt or OVN answers DHCP requests too; use a Subnet with vlan and without cidrBlock, which leaves addresses to another DHCP server; if it is such a Subnet, nothing has to be done',
      ],
    ],
  ])('%s', (_, config, warnings) => {
    const definition = { ...NETWORK, spec: { config: JSON.stringify(config) } };
    expect(created(ipPool(), [definition])).toEqual({ problems: [], warnings });
    // It was there before.
    expect(changed(ipPool(), ipPool({ leaseTime: 400 }), [definition])).toEqual({ problems: [], warnings: [] });
  });
});
