/**
 * What messages tell an administrator to do, done literally: each story begins with what is wrong, does what the message names, and is over
 * when the virtual machine has its address or the pool its condition. What admission would refuse is written where there is no webhook.
 *
 * @module-tag nightly
 */
import { type Condition, type KubernetesObject, readConditions, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  ipPool,
  TEST_CLUSTER_VARIABLE,
  TestCluster,
  TestServer,
  type TestServerSettings,
  virtualMachineWith,
  waitFor,
} from '../src/index.js';

const OTHER = 'vmdhcp-test-tenant';
const [A, B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];

let cluster: TestCluster;

/** Each test has a namespace of its own, on the server of its part. */
function onServer(settings: TestServerSettings): void {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.open(settings);
  });
  beforeEach(async () => {
    cluster = await TestCluster.open(server);
  });
  afterEach(() => cluster.close());
  afterAll(() => server.close());
}

const keyOf = (name: string) => `${cluster.namespace}/${name}`;

interface PoolText {
  readonly network?: string;
  readonly start?: string;
  readonly end?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

async function addPool(name = 'pool', { network = 'net', start = '10.1.0.10', end = '10.1.0.10', extra, spec }: PoolText = {}) {
  const ipv4Config = { cidr: '10.1.0.0/24', serverIP: '10.1.0.2', router: '10.1.0.1', pool: { start, end }, ...extra };
  const settings = { network: network.includes('/') ? network : keyOf(network), ipv4Config, ...(spec && { spec }) };
  await cluster.access.create(ipPool(keyOf(name), settings));
}

async function addNetwork(name = 'net', config: object = {}, namespace = cluster.namespace): Promise<void> {
  await cluster.access.create({
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace, name },
    spec: { config: JSON.stringify(config) },
  });
}

async function addMachine(name: string, macAddress: string, { network = 'net', pin = '' } = {}): Promise<void> {
  const annotations = pin === '' ? {} : { 'static-ip.harvesterhci.io/default': pin };
  const to = network.includes('/') ? network : keyOf(network);
  await cluster.access.create(virtualMachineWith(keyOf(name), [{ name: 'default', macAddress, network: to }], annotations));
}

const remove = (kind: string, name: string) => cluster.access.delete(kind, keyOf(name));
const change = (kind: string, name: string, patch: Readonly<Record<string, unknown>>) =>
  cluster.access.patch(kind, keyOf(name), patch);
const configure = (ipv4Config: object | null) => change('IPPool', 'pool', { spec: { ipv4Config } });

/** The message for the reason, on the object of this name. */
async function messageFor(reason: string, name: string): Promise<string> {
  const event = await waitFor(`${reason} on ${name}`, async () =>
    (await cluster.access.list('Event')).find(
      (one) => readText(one, 'reason') === reason && readText(one, 'involvedObject', 'name') === name,
    ),
  );
  return readText(event, 'message') ?? '';
}

/** Waits until the virtual machine has this address. */
async function has(name: string, address: string): Promise<void> {
  await cluster.access.waitForObject('VirtualMachineNetworkConfig', keyOf(name), ({ status }) => {
    const isAllocated = readConditions(status).some((one) => one.type === 'Allocated' && one.status === 'True');
    return isAllocated && readText(readList(status, 'networkConfigs')[0], 'allocatedIPAddress') === address;
  });
}

async function condition(type: string, wanted: string, name = 'pool'): Promise<string> {
  const isWanted = (one: Condition) => one.type === type && `${one.status} ${one.reason ?? ''}`.trim() === wanted;
  const { status } = await cluster.access.waitForObject('IPPool', keyOf(name), (object) =>
    readConditions(object.status).some(isWanted),
  );
  return readConditions(status).find(isWanted)?.message ?? '';
}

/** The words of a message that the remedy is made of. */
function wordsOf(message: string, pattern: RegExp): string[] {
  const [found, ...words] = pattern.exec(message) ?? [];
  expect(found, message).toBeDefined();
  return words;
}

describe('on a virtual machine', () => {
  onServer({ admission: 'on' });

  beforeEach(async () => {
    await cluster.startController('--no-agent');
    await addNetwork();
  });

  it('PoolExhausted: raise end, then lower start, as far as the message allows', async () => {
    await addPool();
    await addMachine('a', A);
    await has('a', '10.1.0.10');
    await addMachine('b', B);
    const [, end = ''] = wordsOf(
      await messageFor('PoolExhausted', 'b'),
      /raise (spec\.ipv4Config\.pool\.end) of the IPPool \(up to ([\d.]+)\)/,
    );
    expect(end).toBe('10.1.0.254');
    expect(await messageFor('PoolExhausted', 'pool')).toContain('(up to 10.1.0.254)');
    await configure({ pool: { end } });
    await has('b', '10.1.0.11');
    await has('a', '10.1.0.10');
    await configure({ pool: { start: '10.1.0.1' } });
    await addMachine('c', '02:00:00:00:00:0c');
    await has('c', '10.1.0.3');
  });

  it('a range stays inside its subnet, and the subnet as it is', async () => {
    await addPool('pool', { extra: { pool: { start: '10.1.0.10', end: '10.1.0.20', exclude: ['10.1.0.15'] } } });
    const refused: [what: string, patch: object | null, words: string][] = [
      ['an end before the start', { pool: { end: '10.1.0.9' } }, 'The range ends before its start'],
      [
        'an end that is the broadcast address',
        { pool: { end: '10.1.0.255' } },
        'must stay inside the CIDR, without its first and last',
      ],
      ['an end in another subnet', { pool: { end: '10.1.1.5' } }, 'Start and End must stay inside the CIDR'],
      ['a start that is the network address', { pool: { start: '10.1.0.0' } }, 'Start and End must stay inside the CIDR'],
      ['a start in another subnet', { pool: { start: '10.0.9.9' } }, 'Start and End must stay inside the CIDR'],
      ['another cidr', { cidr: '10.1.0.0/16' }, 'CIDR is immutable'],
      ['another server', { serverIP: '10.1.0.3' }, 'ServerIP is immutable'],
      ['no configuration', null, 'IPv4Config is required once set'],
      ['another router', { router: '10.1.0.4' }, 'Router is immutable'],
    ];
    for (const [what, patch, words] of refused) await expect(configure(patch), what).rejects.toThrow(words);
  });

  it('AddressTaken: delete the virtual machine with that MAC address', async () => {
    await addPool('pool', { end: '10.1.0.12' });
    await addMachine('a', A);
    await has('a', '10.1.0.10');
    await addMachine('b', B, { pin: '10.1.0.10' });
    const [owner] = wordsOf(
      await messageFor('AddressTaken', 'b'),
      /: (\S+) has it; .* delete the virtual machine with that MAC address first$/,
    );
    expect(owner).toBe(A);
    await remove('VirtualMachine', 'a');
    await has('b', '10.1.0.10');
  });

  it('AddressOutsidePool: add it with this MAC address to the reservations', async () => {
    await addPool();
    await addMachine('b', B, { pin: '10.1.0.99' });
    expect(await messageFor('AddressOutsidePool', 'b')).toContain(
      'add it with this MAC address to spec.ipv4Config.reservations of the IPPool',
    );
    await configure({ reservations: [{ macAddress: B, ipAddress: '10.1.0.99' }] });
    await has('b', '10.1.0.99');
  });

  it('AddressOutsidePool, outside the subnet: choose another one', async () => {
    await addPool();
    await addMachine('b', B, { pin: '10.7.0.1' });
    expect(await messageFor('AddressOutsidePool', 'b')).toMatch(/it lies outside 10\.1\.0\.0\/24; choose another$/);
    await change('VirtualMachine', 'b', { metadata: { annotations: { 'static-ip.harvesterhci.io/default': '10.1.0.10' } } });
    await has('b', '10.1.0.10');
  });

  it('AddressReserved: change the reservation', async () => {
    await addPool('pool', { end: '10.1.0.12', extra: { reservations: [{ macAddress: A, ipAddress: '10.1.0.11' }] } });
    await addMachine('b', B, { pin: '10.1.0.11' });
    expect(await messageFor('AddressReserved', 'b')).toContain(
      `it is reserved for ${A}; choose another, or change the reservation`,
    );
    await configure({ reservations: [{ macAddress: B, ipAddress: '10.1.0.11' }] });
    await has('b', '10.1.0.11');
  });

  it('MacAddressClaimedTwice: give one of the interfaces another MAC address', async () => {
    await addPool('pool', { end: '10.1.0.12' });
    await addMachine('a', A);
    await has('a', '10.1.0.10');
    await addMachine('b', A);
    expect(await messageFor('MacAddressClaimedTwice', 'b')).toContain('give one of the interfaces another MAC address');
    const machine = virtualMachineWith(keyOf('b'), [{ name: 'default', macAddress: B, network: keyOf('net') }]);
    await change('VirtualMachine', 'b', { spec: machine.spec });
    await has('b', '10.1.0.11');
  });

  it('NoPool: create one in the namespace of the network', async () => {
    // Our kinds are defined by the controller; a network without a pool is all there is.
    await addMachine('a', A);
    const [network = ''] = wordsOf(
      await messageFor('NoPool', 'a'),
      /no IPPool serves (\S+); create one in the namespace of the network/,
    );
    await addPool('pool', { network });
    await has('a', '10.1.0.10');
  });

  it('PoolPaused: set spec.paused to false', async () => {
    await addPool('pool', { spec: { paused: true } });
    await addMachine('a', A);
    expect(await messageFor('PoolPaused', 'a')).toContain('setting spec.paused to false');
    await change('IPPool', 'pool', { spec: { paused: false } });
    await has('a', '10.1.0.10');
  });
});

describe('on an IPPool', () => {
  onServer({ admission: 'on' });

  it('EntriesSkipped: the entry is removed', async () => {
    await cluster.startController('--no-agent');
    await addNetwork();
    await addPool();
    await condition('CacheReady', 'True');
    const write = async (entry: string | null) => {
      const patch = { status: { ipv4: { used: 0, available: 0, allocated: { '10.1.0.10': entry } } } };
      const written = await cluster.access.client('IPPool').patchStatus({ key: keyOf('pool') }, patch);
      expect(written.ok).toBe(true);
    };
    await write('nonsense');
    expect(await messageFor('EntriesSkipped', 'pool')).toContain('until the entry is removed');
    await write(null);
    await addMachine('a', A);
    await has('a', '10.1.0.10');
  });

  it('ExcludedAddressInUse: pin another address', async () => {
    await cluster.startController('--no-agent');
    await addNetwork();
    await addPool('pool', { end: '10.1.0.12' });
    await addMachine('a', A);
    await has('a', '10.1.0.10');
    await configure({ pool: { exclude: ['10.1.0.10'] } });
    const message = await condition('CacheReady', 'True ExcludedAddressInUse');
    const [prefix = ''] = wordsOf(message, /pin other addresses \(annotation (\S+)INTERFACE of the virtual machine\)/);
    await change('VirtualMachine', 'a', { metadata: { annotations: { [`${prefix}default`]: '10.1.0.12' } } });
    await has('a', '10.1.0.12');
    await condition('CacheReady', 'True');
    await configure({ pool: { exclude: null } });
    await addMachine('b', B);
    await has('b', '10.1.0.10');
  });

  it('AddressOutsideRange: a range that is taken away is drained; the machine that the condition names is pinned elsewhere', async () => {
    await cluster.startController('--no-agent');
    await addNetwork();
    await addPool('pool', { extra: { pool: { ranges: ['10.1.0.40-10.1.0.49', '10.1.0.10'] } } });
    await addMachine('a', A);
    await has('a', '10.1.0.10');
    await addMachine('b', B);
    await has('b', '10.1.0.40');
    await configure({ pool: { ranges: ['10.1.0.40-10.1.0.49', '10.1.0.60'] } });
    const message = await condition('CacheReady', 'True AddressOutsideRange');
    const [owner, prefix = ''] = wordsOf(
      message,
      /claim them: 10\.1\.0\.10 \(\S+\/(\S+), .*pin other addresses \(annotation (\S+)INTERFACE of the virtual machine\)/,
    );
    expect(owner).toBe('a');
    await change('VirtualMachine', 'a', { metadata: { annotations: { [`${prefix}default`]: '10.1.0.60' } } });
    await has('a', '10.1.0.60');
    await condition('CacheReady', 'True');
    expect((await cluster.access.get('IPPool', keyOf('pool')))?.spec).toMatchObject({
      ipv4Config: { pool: { start: '10.1.0.40', end: '10.1.0.60' } },
    });
  });
});

describe('on what a server without admission has', () => {
  onServer({ admission: 'off' });

  it('PoolInvalid: delete the IPPool, and create it again', async () => {
    await cluster.startController('--no-agent');
    await addNetwork();
    await addPool('pool', { extra: { pool: { start: '10.1.0.10', end: '10.1.0.10', exclude: ['10.1.1.9'] } } });
    await addMachine('a', A);
    const message = await condition('CacheReady', 'False PoolInvalid');
    expect(message).toContain('to correct them, delete the IPPool and create it again');
    await remove('IPPool', 'pool');
    await waitFor('the pool to go', async () => (await cluster.access.get('IPPool', keyOf('pool'))) === undefined);
    await addPool();
    await has('a', '10.1.0.10');
  });

  it('NetworkTaken: delete one of the two', async () => {
    await cluster.startController('--no-agent');
    await addNetwork();
    await addPool('older');
    await condition('CacheReady', 'True', 'older');
    // Ages have whole seconds; of two of the same second the one that the network names serves it.
    await addPool('pool', { end: '10.1.0.12' });
    const message = await condition('CacheReady', 'False NetworkTaken');
    const [older = ''] = wordsOf(message, /served by the older IPPool (\S+) already; delete one of the two/);
    await cluster.access.delete('IPPool', older);
    await condition('CacheReady', 'True');
    await addMachine('a', A);
    await has('a', '10.1.0.10');
  });

  it('SegmentShared: delete all but one', async () => {
    await cluster.startController('--no-agent');
    const bridge = { type: 'bridge', bridge: 'mgmt-br', vlan: 48 };
    await addNetwork('net', bridge);
    await addNetwork('twin', bridge);
    await addPool();
    await addPool('twin', { network: 'twin' });
    const message = await condition('CacheReady', 'True SegmentShared');
    const [twin = ''] = wordsOf(message, /the network of IPPool (\S+), .* delete all but one of these IPPools/);
    await cluster.access.delete('IPPool', twin);
    await condition('CacheReady', 'True');
  });

  it.skipIf(process.env[TEST_CLUSTER_VARIABLE])('NetworkNotAllowed: annotate the network, as its namespace’s owner', async () => {
    await cluster.startControllerOfAll('--no-agent');
    await cluster.access.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: OTHER } });
    await addNetwork('net', {}, OTHER);
    await addPool('pool', { network: `${OTHER}/net` });
    await addMachine('a', A, { network: `${OTHER}/net` });
    await messageFor('NoPool', 'a');
    const [namespace = '', annotation = '', network = ''] = wordsOf(
      await condition('CacheReady', 'False NetworkNotAllowed'),
      /add "(.*?)" to the annotation (\S+) of NetworkAttachmentDefinition (\S+) /,
    );
    await messageFor('NetworkNotAllowed', 'pool');
    await cluster.access.patch('NetworkAttachmentDefinition', network, {
      metadata: { annotations: { [annotation]: namespace } },
    });
    await has('a', '10.1.0.10');
    await cluster.access.delete('NetworkAttachmentDefinition', network);
  });

  it('NetworkMissing: create it; AddressConflict: reserve the address for the MAC address that uses it', async () => {
    await cluster.startController('--agent-replicas', '0', '--image', 'example.com/vmdhcp-agent:v1');
    await addPool('pool', { end: '10.1.0.12' });
    const [network = ''] = wordsOf(
      await condition('Registered', 'False NetworkMissing'),
      /there is no NetworkAttachmentDefinition (\S+); create it/,
    );
    await addNetwork(network.split('/')[1]);
    await condition('Registered', 'True');
    await addMachine('a', A);
    await has('a', '10.1.0.10');

    await report({ [keyOf('pool')]: { serving: true, conflicts: [{ address: '10.1.0.10', macAddress: A, usedBy: B }] } });
    await has('a', '10.1.0.11');
    const [user = ''] = wordsOf(
      await messageFor('AddressConflict', 'pool'),
      /reserve the address for (\S+) in spec\.ipv4Config\.reservations/,
    );
    await configure({ reservations: [{ macAddress: user, ipAddress: '10.1.0.10' }] });
    await cluster.access.waitForObject(
      'IPPool',
      keyOf('pool'),
      ({ status }) =>
        readField(status, 'ipv4', 'allocated', '10.1.0.10') === B && !readField(status, 'ipv4', 'quarantined', '10.1.0.10'),
    );
    await has('a', '10.1.0.11');
    await cluster.access.delete('Lease', keyOf(GROUP));
  });

  it('UnassignedAddressUsed: no client gets the address, until the machine that uses it pins it', async () => {
    await cluster.startController('--agent-replicas', '0', '--image', 'example.com/vmdhcp-agent:v1');
    await addNetwork('net');
    await addPool('pool', { end: '10.1.0.20' });
    await condition('Registered', 'True');
    await addMachine('a', A);
    await has('a', '10.1.0.10');

    const observedUses = [
      { address: '10.1.0.11', usedBy: A },
      { address: '10.1.0.10', usedBy: B, assignedTo: A },
    ];
    await report({ [keyOf('pool')]: { serving: true, observedUses } });
    await cluster.access.waitForObject(
      'IPPool',
      keyOf('pool'),
      ({ status }) => readField(status, 'ipv4', 'quarantined', '10.1.0.11', 'usedBy') === A,
    );
    await addMachine('b', B);
    await has('b', '10.1.0.12');
    await messageFor('UnassignedAddressUsed', 'pool');
    await has('a', '10.1.0.10');
    const messages = async (name: string) =>
      (await cluster.access.list('Event'))
        .filter((one) => readText(one, 'involvedObject', 'name') === name && readText(one, 'reason') === 'UnassignedAddressUsed')
        .map((one) => readText(one, 'message') ?? '');
    await waitFor('what a does, and what is done to it', async () => {
      const [user, owner] = [/uses 10\.1\.0\.11 .* let it use DHCP/, new RegExp(`${B}.* uses its address 10\\.1\\.0\\.10 `)];
      const told = await messages('a');
      return [user, owner].every((pattern) => told.some((message) => pattern.test(message)));
    });
    await waitFor('what b does', async () => (await messages('b')).some((message) => message.includes('uses 10.1.0.10 ')));

    await cluster.access.patch('VirtualMachine', keyOf('a'), {
      metadata: { annotations: { 'static-ip.harvesterhci.io/default': '10.1.0.11' } },
    });
    await has('a', '10.1.0.11');
    await cluster.access.delete('Lease', keyOf(GROUP));
  });
});

const GROUP = 'vm-dhcp-agent-1';

/** The report of the leader of the agents: no pods run here. */
async function report(pools: Readonly<Record<string, unknown>>): Promise<void> {
  const labels = { 'network.harvesterhci.io/vm-dhcp-controller': 'agent', 'network.harvesterhci.io/agent-group': GROUP };
  const annotations = { 'network.harvesterhci.io/agent-report': JSON.stringify(pools) };
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  const lease: KubernetesObject = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: cluster.namespace, name: GROUP, labels, annotations },
    spec: { holderIdentity: 'agent-1_x', leaseDurationSeconds: 30, renewTime },
  };
  const existing = await cluster.access.get('Lease', keyOf(GROUP));
  if (existing === undefined) await cluster.access.create(lease);
  else await cluster.access.patch('Lease', keyOf(GROUP), { metadata: { annotations }, spec: lease.spec });
}
