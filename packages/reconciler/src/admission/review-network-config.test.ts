import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { network, virtualMachine } from '../fixtures/object-fixtures.js';
import { A, B, C, change, creation, deletion, type EntryText, ipPool, networkConfig, shown } from './admission-fixtures.js';
import { factsOfObjects } from './facts-of-objects.js';
import { reviewNetworkConfig } from './review-network-config.js';

interface Reviewed {
  readonly problems: string[];
  readonly warnings: string[];
}

function created(entries: readonly EntryText[], others: readonly KubernetesObject[] = SERVED): Reviewed {
  const { allowed, problems, warnings } = reviewNetworkConfig(creation(networkConfig(entries)), factsOfObjects(others));
  expect(allowed).toBe(problems.length === 0);
  return { problems: problems.map(shown), warnings: warnings.map(shown) };
}

function changed(
  before: readonly EntryText[],
  after: readonly EntryText[],
  others: readonly KubernetesObject[] = SERVED,
): Reviewed {
  const [old, object] = [networkConfig(before), networkConfig(after)];
  const { problems, warnings } = reviewNetworkConfig(change(old, object), factsOfObjects([old, ...others]));
  return { problems: problems.map(shown), warnings: warnings.map(shown) };
}

const NETWORK = network('net-1');
const exclude = ['192.168.0.50'];
const POOL = ipPool(
  {
    router: '192.168.0.1',
    pool: { start: '192.168.0.10', end: '192.168.0.99', exclude },
    reservations: [{ macAddress: B, ipAddress: '192.168.0.60' }],
  },
  {
    name: 'another-name',
    allocated: { '192.168.0.20': A, '192.168.0.21': B, '192.168.0.22': '02:00:00:00:00:ff' },
    quarantined: { '192.168.0.70': { until: '2030-01-01T00:00:00Z' } },
  },
);
const OTHER = networkConfig([{ mac: B }], 'vm-b');
const SERVED = [NETWORK, POOL, OTHER];
const NOTHING = { problems: [], warnings: [] };
const at = (index: number, field: string, text: string) => `spec.networkConfigs[${index}].${field} ${text}`;
const CANNOT = (address: string, mac: string = A) => `pool default/another-name cannot assign ${address} to ${mac}:`;

describe('the network of an entry', () => {
  it.each<[what: string, others: KubernetesObject[]]>([
    ['a pool of another name serves it', SERVED],
    ['a pool of the same name serves it', [NETWORK, ipPool()]],
    [
      'its labels are not written yet: the pool names the network',
      [{ ...NETWORK, metadata: { ...NETWORK.metadata, labels: {} } }, POOL],
    ],
    [
      'another DHCP server serves it on purpose',
      [{ ...NETWORK, metadata: { ...NETWORK.metadata, annotations: { 'network.harvesterhci.io/external-dhcp': 'true' } } }],
    ],
  ])('%s: accepted', (_what, others) => {
    expect(created([{}], others)).toEqual(NOTHING);
  });

  const NO_POOL =
    'no-pool: no IPPool serves default/net-1; create one in the namespace of the network whose spec.networkName is the network, or annotate the NetworkAttachmentDefinition network.harvesterhci.io/external-dhcp: "true" if another DHCP server serves it';
  const labelled = (labels: Readonly<Record<string, string>>) => ({ ...NETWORK, metadata: { ...NETWORK.metadata, labels } });

  it.each<[what: string, others: KubernetesObject[], problem: string]>([
    [
      'does not exist',
      [POOL],
      'network-missing: there is no NetworkAttachmentDefinition default/net-1; create it, or correct networkName',
    ],
    ['has no pool', [NETWORK], NO_POOL],
    [
      'has labels of a pool that does not exist',
      [labelled({ 'network.harvesterhci.io/ippool-namespace': 'default', 'network.harvesterhci.io/ippool-name': 'gone' })],
      NO_POOL,
    ],
    ['has one label only', [labelled({ 'network.harvesterhci.io/ippool-name': 'gone' })], NO_POOL],
  ])('%s: refused', (_what, others, problem) => {
    expect(created([{}], others).problems).toEqual([at(0, 'networkName', problem)]);
  });

  it('has an invalid pool: a warning', () => {
    expect(created([{}], [NETWORK, ipPool({ router: '192.168.7.1' })])).toEqual({
      problems: [],
      warnings: [
        at(
          0,
          'networkName',
          'pool-invalid: IPPool default/net-1 is invalid, so nothing new is allocated; its condition CacheReady names the problems',
        ),
      ],
    });
  });
});

describe('what an entry wants', () => {
  it.each<[what: string, ip: string | null | undefined]>([
    ['any address', undefined],
    ['null means any address', null],
    ['0.0.0.0 means any address', '0.0.0.0'],
    ['a free address of the range', '192.168.0.30'],
    ['the address that it has', '192.168.0.20'],
    ['an address that is being freed: no virtual machine claims it any more', '192.168.0.22'],
  ])('%s: accepted', (_what, ip) => {
    expect(created([ip === undefined ? {} : { ip }])).toEqual(NOTHING);
  });

  it('an address outside the range that is reserved for it: accepted', () => {
    const pool = ipPool({ reservations: [{ macAddress: A, ipAddress: '192.168.0.200' }] });
    expect(created([{ ip: '192.168.0.200' }], [NETWORK, pool])).toEqual(NOTHING);
  });

  it.each<[what: string, ip: string, problem: string]>([
    [
      'no address',
      '192.168.0.1000',
      `address-unreadable: ipAddress "192.168.0.1000" of ${A} is not an IPv4 address; correct or remove it`,
    ],
    [
      'no IPv4 address',
      'fd00::1',
      `address-unreadable: ipAddress "fd00::1" of ${A} is not an IPv4 address; correct or remove it`,
    ],
    [
      'an address outside the CIDR',
      '192.168.1.30',
      `address-outside-pool: ${CANNOT('192.168.1.30')} it lies outside 192.168.0.0/24; choose another`,
    ],
    [
      'an address outside the range',
      '192.168.0.200',
      `address-outside-pool: ${CANNOT('192.168.0.200')} it lies outside the range of the pool; choose another, or add it with this MAC address to spec.ipv4Config.reservations of the IPPool`,
    ],
    [
      'the network address',
      '192.168.0.0',
      `address-outside-pool: ${CANNOT('192.168.0.0')} it lies outside the range of the pool; choose another, or add it with this MAC address to spec.ipv4Config.reservations of the IPPool`,
    ],
    [
      'the broadcast address',
      '192.168.0.255',
      `address-outside-pool: ${CANNOT('192.168.0.255')} it lies outside the range of the pool; choose another, or add it with this MAC address to spec.ipv4Config.reservations of the IPPool`,
    ],
    [
      'an excluded address',
      '192.168.0.50',
      `address-unavailable: ${CANNOT('192.168.0.50')} it is excluded, or the address of the server or the router; choose another`,
    ],
    [
      'a reserved address',
      '192.168.0.60',
      `address-reserved: ${CANNOT('192.168.0.60')} it is reserved for ${B}; choose another, or change the reservation`,
    ],
    [
      'the address of another client',
      '192.168.0.21',
      `address-taken: ${CANNOT('192.168.0.21')} ${B} has it; choose another, or delete the virtual machine with that MAC address first`,
    ],
  ])('%s: refused', (_what, ip, problem) => {
    expect(created([{ ip }]).problems).toEqual([at(0, 'ipAddress', problem)]);
  });

  it('an address that another one waits for, and no pool records yet: refused', () => {
    const waiting = networkConfig([{ mac: C, ip: '192.168.0.40' }], 'vm-c');
    expect(created([{ ip: '192.168.0.40' }], [...SERVED, waiting]).problems).toEqual([
      at(0, 'ipAddress', `address-taken: 192.168.0.40 is wanted by default/vm-c (${C}) too; give one of them another address`),
    ]);
  });

  it('an address in quarantine: a warning, as it ends by itself', () => {
    expect(created([{ ip: '192.168.0.70' }])).toEqual({
      problems: [],
      warnings: [
        at(
          0,
          'ipAddress',
          `address-quarantined: ${CANNOT('192.168.0.70')} another host on the network uses it; choose another, or remove that host and wait until the quarantine in status.ipv4.quarantined of the IPPool ends`,
        ),
      ],
    });
  });

  it('a MAC address that another virtual machine has: a warning', () => {
    expect(created([{ mac: B }])).toEqual({
      problems: [],
      warnings: [
        at(
          0,
          'macAddress',
          `mac-address-claimed-twice: ${B} is claimed by default/vm-b too; give one of the interfaces another MAC address`,
        ),
      ],
    });
  });
});

describe('an object by itself', () => {
  it.each<[what: string, entries: EntryText[], problems: string[]]>([
    [
      'an invalid MAC address',
      [{ mac: 'x' }],
      [
        at(
          0,
          'macAddress',
          'mac-address-unreadable: "x" is not a MAC address; write six hexadecimal octets, as in 02:00:5e:10:00:01',
        ),
      ],
    ],
    [
      'an entry without a network',
      [{ network: '' }],
      [at(0, 'networkName', 'network-name-missing: an interface names no network; set networkName')],
    ],
    [
      'one address for two interfaces',
      [{ ip: '192.168.0.30' }, { mac: C, ip: '192.168.0.30' }],
      [
        at(
          1,
          'ipAddress',
          `address-wanted-twice: 192.168.0.30 is wanted by ${A} on network default/net-1 already; give one of them another address`,
        ),
      ],
    ],
    [
      'one MAC address for two interfaces',
      [{}, { mac: '02-00-00-00-00-0A' }],
      [at(1, 'macAddress', `mac-address-twice: ${A} is on network default/net-1 already; remove one of the two entries`)],
    ],
    [
      'every problem at once',
      [{ mac: 'x' }, { ip: '192.168.0.50' }],
      [
        at(
          0,
          'macAddress',
          'mac-address-unreadable: "x" is not a MAC address; write six hexadecimal octets, as in 02:00:5e:10:00:01',
        ),
        at(
          1,
          'ipAddress',
          `address-unavailable: ${CANNOT('192.168.0.50')} it is excluded, or the address of the server or the router; choose another`,
        ),
      ],
    ],
    [
      'five interfaces',
      Array.from({ length: 5 }, (_, index) => ({ mac: `02:00:00:00:05:0${index}` })),
      ['spec.networkConfigs out-of-bounds: the list of 5 entries is too long; list at most 4'],
    ],
  ])('%s: refused', (_what, entries, problems) => {
    expect(created(entries).problems).toEqual(problems);
  });

  it('the same address on two networks is allowed', () => {
    const second = [network('net-2'), ipPool({}, { name: 'net-2', network: 'default/net-2' })];
    const entries = [{ ip: '192.168.0.30' }, { network: 'net-2', ip: '192.168.0.30' }];
    expect(created(entries, [...SERVED, ...second])).toEqual(NOTHING);
  });
});

describe('a change', () => {
  const GONE: KubernetesObject[] = [];

  it.each<[what: string, before: EntryText[], after: EntryText[], others: KubernetesObject[]]>([
    ['a free address', [{}], [{ ip: '192.168.0.30' }], SERVED],
    ['nothing, though the network is gone', [{ ip: '192.168.0.30' }], [{ ip: '192.168.0.30' }], GONE],
    ['an interface less, though the network is gone', [{}, { mac: C }], [{}], GONE],
    ['no address any more, though the network is gone', [{ ip: '192.168.0.30' }], [{}], GONE],
    ['one more interface, for any address, on a network that does not exist', [{}], [{}, { mac: C, network: 'new' }], SERVED],
  ])('%s: accepted', (_what, before, after, others) => {
    expect(changed(before, after, others)).toEqual(NOTHING);
  });

  it.each<[what: string, before: EntryText[], after: EntryText[], others: KubernetesObject[], problem: string]>([
    [
      'an address outside the range',
      [{}],
      [{ ip: '192.168.0.200' }],
      SERVED,
      `ipAddress address-outside-pool: ${CANNOT('192.168.0.200')}`,
    ],
    [
      'an address on a network that is gone',
      [{}],
      [{ ip: '192.168.0.30' }],
      GONE,
      'networkName network-missing: there is no NetworkAttachmentDefinition default/net-1',
    ],
    [
      'the address of an entry that stays',
      [{ ip: '192.168.0.30' }],
      [{ ip: '192.168.0.30' }, { mac: C, ip: '192.168.0.30' }],
      SERVED,
      'ipAddress address-wanted-twice: 192.168.0.30 is wanted by',
    ],
  ])('%s: refused', (_what, before, after, others, problem) => {
    expect(changed(before, after, others).problems.join()).toContain(problem);
  });

  it('two entries that were equal before may stay so', () => {
    const twice = [{ ip: '192.168.0.30' }, { mac: C, ip: '192.168.0.30' }];
    expect(changed(twice, [...twice, { mac: '02:00:00:00:00:0d' }]).problems).toEqual([]);
  });

  it('reports one problem for each of the most entries that fit into a request', () => {
    const entries = Array.from({ length: 20_000 }, () => ({ ip: '192.168.0.30' }));
    expect(changed([], entries).problems).toHaveLength(entries.length - 1);
  });

  it('changes of an object that is being deleted, and deletions, are accepted', () => {
    const object = networkConfig([{ mac: 'x' }]);
    const leaving = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    const facts = factsOfObjects([]);
    expect(reviewNetworkConfig(change(object, leaving), facts).allowed).toBe(true);
    expect(reviewNetworkConfig(deletion(object), facts).allowed).toBe(true);
  });
});

it('a virtual machine without a config counts too: its address is not free', () => {
  const machine = virtualMachine('vm-f', { interfaces: { nic: ['02:00:00:00:00:ff', 'net-1'] } });
  expect(created([{ ip: '192.168.0.22' }], [...SERVED, machine]).problems.join()).toContain('address-taken');
});
