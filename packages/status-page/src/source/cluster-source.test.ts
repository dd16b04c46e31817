import { AGENT_LABEL, AGENT_LABEL_VALUE, AGENT_REPORT_ANNOTATION, formatAgentReport, type PoolReport } from '@vmdhcp/ippool-api';
import { type KubernetesObject, keyOf, type MergePatch, SharedCaches } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { findLeases } from '../lists/find-leases.js';
import type { EventSelection } from '../lists/recent-events.js';
import { SECTIONS, type Section } from '../model/page-data.js';
import { ipPool } from '../pool/pool-object-fixtures.js';
import { type ClusterSource, createClusterSource } from './cluster-source.js';
import type { SourceChange } from './page-source.js';

const MAC = '02:00:00:00:00:01';
const NOW = Date.parse('2026-01-01T00:10:00Z');
const pause = async () => undefined;
const ALL = { limit: 10, offset: 0, sections: new Set(SECTIONS), pause };
const ALL_HOSTS = { limit: Number.POSITIVE_INFINITY, sections: new Set(SECTIONS) };
const ALL_EVENTS = { pool: '', sections: new Set(SECTIONS) };
const started: ClusterSource[] = [];

afterEach(() => {
  for (const source of started.splice(0)) source.stop();
});

async function setUp(
  objects: Readonly<Record<string, readonly KubernetesObject[]>>,
  hostStatuses?: readonly KubernetesObject[],
  events: () => readonly KubernetesObject[] = () => [],
) {
  const clock = new FakeClock();
  const resources = new Map<string, MemoryResource<KubernetesObject>>();
  const resourceOf = (plural: string) => {
    const known = resources.get(plural) ?? new MemoryResource<KubernetesObject>(clock);
    resources.set(plural, known);
    return known;
  };
  const all = Object.entries(objects).flatMap(([plural, list]) => list.map((object) => [resourceOf(plural), object] as const));
  // Requests to the in-memory API take time, too.
  for (const [resource, object] of all) void resource.create(object);
  await clock.advance(100);
  for (const [resource, object] of all)
    void resource.patchStatus({ key: keyOf(object) }, { status: (object.status ?? {}) as MergePatch });
  await clock.advance(100);
  const caches = new SharedCaches({
    open: ({ plural }) => resourceOf(plural),
    clock,
    backOff: { firstMs: 1, mostMs: 10_000, random: () => 0 },
  });
  const wall = { nowMs: NOW };
  const listed: EventSelection[] = [];
  const source = createClusterSource({
    caches,
    instance: 'one',
    onlyNamespace: undefined,
    agentsNamespace: 'agents',
    hasWakeOnLan: true,
    events: async (selection) => {
      listed.push(selection);
      return events();
    },
    hostStatuses: hostStatuses && (async () => hostStatuses),
    isLeading: () => false,
    wallTimeMs: () => wall.nowMs,
    onError: (kind, error) => {
      if (kind !== 'events') throw new Error(kind, { cause: error });
    },
  });
  started.push(source);
  source.start();
  await clock.advance(100);
  return { source, clock, resourceOf, wall, listed };
}

function machine(name: string, networkName = 'default/net-1'): KubernetesObject {
  const template = {
    spec: {
      domain: { devices: { interfaces: [{ name: 'nic', macAddress: MAC }] } },
      networks: [{ name: 'nic', multus: { networkName } }],
    },
  };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace: 'default', name, uid: name },
    spec: { template },
  };
}

function config(name: string, state: 'Allocated' | 'Pending', conditions: readonly object[] = []): KubernetesObject {
  const entry = { networkName: 'default/net-1', macAddress: MAC };
  const address = state === 'Allocated' ? { allocatedIPAddress: '10.0.0.4' } : {};
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'VirtualMachineNetworkConfig',
    metadata: { namespace: 'default', name },
    spec: { vmName: name, networkConfigs: [entry] },
    status: { networkConfigs: [{ ...entry, ...address, state }], conditions },
  };
}

const NETWORK = {
  apiVersion: 'k8s.cni.cncf.io/v1',
  kind: 'NetworkAttachmentDefinition',
  metadata: { namespace: 'default', name: 'net-1' },
  spec: {},
};

const EXHAUSTED = {
  type: 'Allocated',
  status: 'False',
  reason: 'PoolExhausted',
  message: `interface ${MAC}: every address of default/net is in use`,
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

it('a kind that cannot be watched any more is named: what is shown of it is getting old', async () => {
  const { source, clock, resourceOf } = await setUp({ ippools: [ipPool()] });
  expect(source.unready()).toEqual([]);
  resourceOf('ippools').failNext = Number.POSITIVE_INFINITY;
  resourceOf('ippools').closeWatches('failed');
  await clock.advance(310_000);
  expect(source.unready()).toEqual([expect.stringMatching(/^pools: cannot be watched: /)]);
  expect(source.pools()).toHaveLength(1);
});

describe('virtual machines without an address', () => {
  it('have the same reason as in kubectl vmdhcp why, with its remedy; machines with an address are not listed', async () => {
    const { source } = await setUp({
      virtualmachines: [machine('lost'), machine('fine')],
      virtualmachinenetworkconfigs: [config('lost', 'Pending', [EXHAUSTED]), config('fine', 'Allocated')],
      'network-attachment-definitions': [NETWORK],
      ippools: [ipPool({ conditions: [{ type: 'CacheReady', status: 'True' }] })],
    });
    const { rows, total } = await source.machines(ALL);
    expect(total).toBe(1);
    expect(rows).toMatchObject([
      {
        name: 'lost',
        network: 'default/net-1',
        mac: MAC,
        state: 'broken',
        sinceMs: Date.parse('2026-01-01T00:00:00Z'),
        reasons: expect.arrayContaining([
          expect.objectContaining({ reason: 'PoolExhausted', remedy: expect.stringContaining('Raise') }),
        ]),
      },
    ]);
  });

  it('are explained only by kinds that the user may list: other users see nothing of IPPools and Leases', async () => {
    const notServed = {
      type: 'AgentReady',
      status: 'False',
      reason: 'NotScheduled',
      message: 'no node is in zone-7',
    };
    const pool = ipPool({ conditions: [{ type: 'CacheReady', status: 'True' }, notServed] });
    const agentDeploymentRef = { namespace: 'agents', name: 'group-1' };
    const { source } = await setUp({
      virtualmachines: [machine('lost')],
      virtualmachinenetworkconfigs: [config('lost', 'Pending', [EXHAUSTED])],
      'network-attachment-definitions': [NETWORK],
      ippools: [{ ...pool, status: { ...(pool.status as object), agentDeploymentRef } }],
      leases: [lease('pod-a')],
    });
    const textFor = async (...sections: readonly Section[]) =>
      JSON.stringify(await source.machines({ ...ALL, sections: new Set(sections) }));
    const alone = await textFor('machines');
    expect(alone).toContain('PoolExhausted');
    for (const secret of ['NotScheduled', 'zone-7', 'InterfaceMissing', 'no net1']) expect(alone).not.toContain(secret);
    const withPools = await textFor('machines', 'pools');
    expect(withPools).toContain('zone-7');
    expect(withPools).not.toContain('no net1');
    expect(await textFor('machines', 'pools', 'agents')).toContain('no net1');
  });

  it('a network without a pool, and a missing network, are reasons; a machine on other networks is ignored', async () => {
    const { source } = await setUp({
      virtualmachines: [
        machine('no-pool'),
        machine('no-network', 'default/gone'),
        { ...machine('pod-network'), spec: { template: { spec: { domain: { devices: { interfaces: [] } }, networks: [] } } } },
      ],
      virtualmachinenetworkconfigs: [config('no-pool', 'Pending')],
      'network-attachment-definitions': [NETWORK],
    });
    const { rows } = await source.machines(ALL);
    expect(rows.map(({ name, reasons }) => [name, reasons[0]?.reason])).toEqual([
      ['no-network', 'NetworkUnknown'],
      ['no-pool', 'NoPool'],
    ]);
  });

  it('machines that need action come first, and are counted, however many others wait', async () => {
    const withoutMac = (name: string): KubernetesObject => {
      const one = machine(name);
      const interfaces = [{ name: 'nic' }];
      const networks = [{ name: 'nic', multus: { networkName: 'default/net-1' } }];
      return { ...one, spec: { template: { spec: { domain: { devices: { interfaces } }, networks } } } };
    };
    const { source } = await setUp({
      virtualmachines: [...['a', 'b', 'c', 'd', 'e', 'f'].map(withoutMac), machine('z-broken')],
      virtualmachinenetworkconfigs: [config('z-broken', 'Pending', [EXHAUSTED])],
      'network-attachment-definitions': [NETWORK],
      ippools: [ipPool({ conditions: [{ type: 'CacheReady', status: 'True' }] })],
    });
    const { rows, total, broken } = await source.machines({ ...ALL, limit: 5 });
    expect(rows.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'z-broken broken',
      ...['a', 'b', 'c', 'd'].map((name) => `${name} waiting`),
    ]);
    expect([total, broken]).toEqual([7, 1]);
  });

  it('a machine that waits for its MAC address shows that first, even if its agents are down too', async () => {
    const awaiting = machine('awaiting');
    const interfaces = [{ name: 'nic' }];
    const networks = [{ name: 'nic', multus: { networkName: 'default/net-1' } }];
    const pool = ipPool({ conditions: [{ type: 'CacheReady', status: 'True' }] });
    const agentDeploymentRef = { namespace: 'agents', name: 'group-1' };
    const { source } = await setUp({
      virtualmachines: [{ ...awaiting, spec: { template: { spec: { domain: { devices: { interfaces } }, networks } } } }],
      'network-attachment-definitions': [NETWORK],
      ippools: [{ ...pool, status: { ...(pool.status as object), agentDeploymentRef } }],
    });
    const { rows, broken } = await source.machines(ALL);
    expect(rows.map(({ state, reasons }) => [state, ...reasons.map(({ reason }) => reason)])).toEqual([
      ['waiting', 'AwaitingMacAddress', 'NotLeading'],
    ]);
    expect(broken).toBe(0);
  });

  it('come in parts, sorted', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const { source } = await setUp({
      virtualmachines: names.toReversed().map((name) => machine(name)),
      'network-attachment-definitions': [NETWORK],
    });
    const first = await source.machines({ ...ALL, limit: 2, offset: 0 });
    expect([first.rows.map(({ name }) => name), first.total, first.continue]).toEqual([['a', 'b'], 5, '2']);
    const last = await source.machines({ ...ALL, limit: 2, offset: 4 });
    expect([last.rows.map(({ name }) => name), last.continue]).toEqual([['e'], null]);
  });
});

describe('names of virtual machines in leases', () => {
  it('follow their VirtualMachineNetworkConfigs', async () => {
    const { source, resourceOf, clock } = await setUp({
      virtualmachinenetworkconfigs: [config('web', 'Allocated')],
      ippools: [ipPool({ allocated: { '10.0.0.4': MAC } })],
    });
    const machineNow = async () => {
      const query = { search: '', limit: 1, after: undefined };
      return (await findLeases(source.pools(), query, { names: source.machineOf, pause })).rows[0]?.machine;
    };
    expect(await machineNow()).toBe('default/web');
    const configs = resourceOf('virtualmachinenetworkconfigs');
    void configs.patch({ key: 'default/web' }, { spec: { networkConfigs: [] } });
    await clock.advance(100);
    expect(await machineNow()).toBe('');
  });
});

function lease(holder: string, more: { readonly acquireTime?: string; readonly renewTime?: string } = {}): KubernetesObject {
  const report = formatAgentReport(
    new Map([
      [
        'default/net',
        {
          serving: false,
          reason: 'InterfaceMissing' as const,
          message: 'no net1',
          rogueServers: [{ address: '10.0.0.9', macAddress: MAC }],
          observedUses: [{ address: '10.0.0.7', usedBy: MAC }],
        },
      ],
    ]),
  );
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      namespace: 'agents',
      name: 'group-1',
      labels: { [AGENT_LABEL]: AGENT_LABEL_VALUE },
      annotations: { [AGENT_REPORT_ANNOTATION]: report },
    },
    spec: {
      holderIdentity: `${holder}_1`,
      leaseDurationSeconds: 15,
      leaseTransitions: 3,
      renewTime: '2026-01-01T00:10:00Z',
      ...more,
    },
  };
}

describe('agents', () => {
  it('have a leader, its report with reasons, and the terms of leaders since the start', async () => {
    const { source, resourceOf, clock, wall } = await setUp({
      leases: [lease('pod-a', { acquireTime: '2026-01-01T00:05:00Z' })],
    });
    expect(source.agents()).toMatchObject({
      followedSinceMs: NOW,
      groups: [
        {
          name: 'group-1',
          leader: 'pod-a',
          transitions: 3,
          terms: [{ leader: 'pod-a', fromMs: Date.parse('2026-01-01T00:05:00Z'), untilMs: null }],
          pools: [
            {
              pool: 'default/net',
              isServed: false,
              reason: { reason: 'InterfaceMissing', message: 'no net1' },
              findings: [
                `Rogue DHCP server 10.0.0.9, MAC address ${MAC}`,
                `10.0.0.7 is used by ${MAC}, to which it is not assigned`,
              ],
            },
          ],
        },
      ],
    });
    const leases = resourceOf('leases');
    wall.nowMs = NOW + 5_000;
    void leases.patch(
      { key: 'agents/group-1' },
      { spec: { ...(lease('pod-b').spec as object), acquireTime: '2026-01-01T00:10:04Z' } },
    );
    await clock.advance(100);
    expect(source.agents().groups[0]?.terms).toEqual([
      { leader: 'pod-b', fromMs: NOW + 4_000, untilMs: null },
      { leader: 'pod-a', fromMs: Date.parse('2026-01-01T00:05:00Z'), untilMs: NOW + 4_000 },
    ]);
  });

  it('a leader that does not renew its Lease is no longer leader', async () => {
    const { source, wall } = await setUp({ leases: [lease('pod-a')] });
    wall.nowMs = NOW + 120_000;
    expect(source.agents().groups[0]).toMatchObject({
      state: 'broken',
      leader: '',
      pools: [],
      terms: [{ leader: 'pod-a', untilMs: NOW }],
    });
  });
});

describe('the state of a group of agents', () => {
  const SERVED: PoolReport = { serving: true };
  it.each<[string, PoolReport, string]>([
    ['serves its pools', SERVED, 'ok'],
    ['hears an address of another', { ...SERVED, observedUses: [{ address: '10.0.0.7', usedBy: MAC }] }, 'note'],
    ['sees another DHCP server', { ...SERVED, rogueServers: [{ address: '10.0.0.9', macAddress: MAC }] }, 'note'],
    ['found addresses in conflict', { ...SERVED, conflicts: [{ address: '10.0.0.4', macAddress: MAC }] }, 'note'],
    ['lacks an interface', { serving: false, reason: 'InterfaceMissing', message: '' }, 'broken'],
  ])('whose leader %s', async (_, report, state) => {
    const one = lease('pod-a');
    const annotations = { [AGENT_REPORT_ANNOTATION]: formatAgentReport(new Map([['default/net', report]])) };
    const { source } = await setUp({ leases: [{ ...one, metadata: { ...one.metadata, annotations } }] });
    expect(source.agents().groups[0]).toMatchObject({ state, pools: [{ state }] });
  });
});

describe('Wake-on-LAN and bare-metal hosts', () => {
  it('WolConfigs have their agents and problems', async () => {
    const status = {
      managedVMs: 2,
      agentStatus: { daemonSetName: 'wol-agent-office', desiredNumberScheduled: 3, numberReady: 1 },
      conditions: [{ type: 'Ready', status: 'False', reason: 'AgentsNotReady', message: 'two pods' }],
    };
    const office = {
      apiVersion: 'wol.pillon.org/v1beta1',
      kind: 'WolConfig',
      metadata: { name: 'office' },
      spec: { wolPorts: [9] },
      status,
    };
    const { source } = await setUp({ wolconfigs: [office] });
    expect(source.wakeOnLan().configs).toMatchObject([
      {
        name: 'office',
        mode: 'All',
        ports: [9],
        managedMachines: 2,
        agents: { wanted: 3, ready: 1 },
        state: 'broken',
        reasons: [{ reason: 'AgentsNotReady' }],
      },
    ]);
  });

  it.each([
    ['True', 'MappingUpdated', 'ok', []],
    ['Unknown', 'Configured', 'waiting', ['Configured']],
    ['False', 'PortConflict', 'broken', ['PortConflict']],
  ])('a WolConfig with Ready=%s and reason %s is %s', async (status, reason, state, reasons) => {
    const office = {
      apiVersion: 'wol.pillon.org/v1beta1',
      kind: 'WolConfig',
      metadata: { name: 'office' },
      status: { conditions: [{ type: 'Ready', status, reason }] },
    };
    const { source } = await setUp({ wolconfigs: [office] });
    const [found] = source.wakeOnLan().configs;
    expect([found?.state, found?.reasons.map((one) => one.reason)]).toEqual([state, reasons]);
  });

  it('hosts have their health and log; any field may be missing', async () => {
    const host = (name: string, status: unknown): KubernetesObject => ({
      apiVersion: 'bmc.spidernet.io/v1beta1',
      kind: 'HostStatus',
      metadata: { name },
      status,
    });
    const full = {
      healthy: true,
      clusterAgent: 'rack-1',
      lastUpdateTime: '2026-01-01T00:00:00Z',
      basic: { type: 'dhcp', ipAddr: '192.0.2.7', mac: MAC, activeDhcpClient: true },
      log: { totalLogAccount: 5, warningLogAccount: 1, lastestWarningLog: { message: 'fan' } },
    };
    const { source } = await setUp({}, [host('b', undefined), host('a', full)]);
    expect((await source.hosts(ALL_HOSTS)).hosts.toReversed()).toMatchObject([
      {
        name: 'a',
        clusterAgent: 'rack-1',
        address: '192.0.2.7',
        isHealthy: true,
        hasLease: true,
        logEntries: 5,
        warnings: 1,
        latestWarning: 'fan',
      },
      { name: 'b', clusterAgent: '', isHealthy: null, hasLease: false, updatedAtMs: null },
    ]);
  });
});

describe('hosts that need action', () => {
  const NAMES = ['host-1', 'host-2', 'host-3', 'host-4'];
  const statuses = NAMES.map((name, index) => ({
    apiVersion: 'bmc.spidernet.io/v1beta1',
    kind: 'HostStatus',
    metadata: { name },
    status: index === 1 ? {} : { healthy: index !== 2 },
  }));
  const unhealthy = (message: string, lastTimestamp: string) =>
    ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'default', name: message },
      involvedObject: { kind: 'HostStatus', name: 'host-3' },
      ...{ reason: 'HostUnhealthy', message, lastTimestamp },
    }) as KubernetesObject;

  it('come first, even in a part of the list, and all are counted', async () => {
    const { source } = await setUp({}, statuses);
    const { hosts, counts } = await source.hosts({ ...ALL_HOSTS, limit: 3 });
    expect(hosts.map(({ name, isHealthy }) => [name, isHealthy])).toEqual([
      ['host-3', false],
      ['host-2', null],
      ['host-1', true],
    ]);
    expect(counts).toEqual({ ok: 2, broken: 1, unknown: 1 });
  });

  it('have a cause from the newest Event, for users who may list Events, and a remedy for all users', async () => {
    const events = [unhealthy('no route', '2026-01-01T00:09:00Z'), unhealthy('refused', '2026-01-01T00:01:00Z')];
    const { source } = await setUp({}, statuses, () => events);
    const reasonsFor = async (...sections: readonly Section[]) =>
      (await source.hosts({ ...ALL_HOSTS, sections: new Set(sections) })).hosts[0]?.reasons;
    const reason = { reason: 'HostUnhealthy', remedy: expect.stringContaining('Secret') };
    expect(await reasonsFor('hosts', 'events')).toMatchObject([{ ...reason, message: 'no route' }]);
    expect(await reasonsFor('hosts')).toMatchObject([{ ...reason, message: '' }]);
  });

  it('are shown without a cause if Events cannot be listed', async () => {
    const { source } = await setUp({}, statuses, () => {
      throw new Error('events is forbidden');
    });
    expect((await source.hosts(ALL_HOSTS)).hosts[0]?.reasons).toMatchObject([{ reason: 'HostUnhealthy', message: '' }]);
  });
});

describe('many requests that wait for one list', () => {
  it('share the values that are computed from it', async () => {
    const reads = { hosts: 0, events: 0 };
    const counted = (of: keyof typeof reads, object: object) =>
      Object.defineProperty({ ...object }, of === 'hosts' ? 'status' : 'involvedObject', {
        get: () => {
          reads[of]++;
          return { kind: 'HostStatus', name: 'host-1', healthy: false };
        },
      }) as KubernetesObject;
    const metadata = { namespace: 'default', name: 'host-1' };
    const hosts = [counted('hosts', { apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'HostStatus', metadata })];
    const events = [
      counted('events', { apiVersion: 'v1', kind: 'Event', metadata, reason: 'HostUnhealthy', message: 'no route' }),
    ];
    const { source } = await setUp({}, hosts, () => events);
    const ask = async () => {
      const answers = [await source.hosts(ALL_HOSTS), await source.recentEvents({ ...ALL_EVENTS, of: 'hosts' })];
      return JSON.stringify(answers);
    };
    const first = await ask();
    const once = { ...reads };
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([first, first, first]);
    expect(reads).toEqual(once);
  });
});

describe('Events', () => {
  it('about wake-ups and about addresses of a virtual machine belong to two sections', async () => {
    const about = (reason: string) =>
      ({
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { namespace: 'default', name: reason },
        involvedObject: { kind: 'VirtualMachine', namespace: 'default', name: 'web' },
        ...{ reason, source: { component: 'vm-dhcp-controller' } },
      }) as KubernetesObject;
    const { source } = await setUp({}, undefined, () => [about('WakeUpStarted'), about('PoolExhausted')]);
    const reasonsOf = async (of: 'machines' | 'wake-on-lan') =>
      (await source.recentEvents({ ...ALL_EVENTS, of })).rows.map(({ reason }) => reason);
    expect(await reasonsOf('machines')).toEqual(['PoolExhausted']);
    expect(await reasonsOf('wake-on-lan')).toEqual(['WakeUpStarted']);
  });

  it('about wake-ups are shown to users who may list virtual machines; those about WolConfigs to all who may list these', async () => {
    const about = (kind: string, name: string, reason: string) =>
      ({
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { namespace: 'default', name },
        involvedObject: { kind, namespace: 'default', name },
        ...{ reason, source: { component: 'vm-dhcp-controller' } },
      }) as KubernetesObject;
    const events = [about('VirtualMachine', 'secret', 'WakeUpStarted'), about('WolConfig', 'office', 'PortConflict')];
    const { source } = await setUp({}, undefined, () => events);
    const namesFor = async (...sections: readonly Section[]) =>
      (await source.recentEvents({ of: 'wake-on-lan', pool: '', sections: new Set(sections) })).rows.map(({ name }) => name);
    expect(await namesFor('wake-on-lan', 'events')).toEqual(['office']);
    expect(await namesFor('wake-on-lan', 'events', 'machines')).toEqual(['secret', 'office']);
  });

  it('about a pool that does not exist are not requested, so made-up names cause no requests to the API server', async () => {
    const { source, listed } = await setUp({ ippools: [ipPool()] });
    const { namespace, name } = ipPool().metadata;
    for (const pool of ['default/none', `other/${name}`, keyOf(ipPool())])
      await source.recentEvents({ ...ALL_EVENTS, of: 'pools', pool });
    expect(listed).toEqual([{ namespace, kind: 'IPPool', name, component: undefined }]);
    await source.recentEvents({ ...ALL_EVENTS, of: 'machines', pool: 'default/none' });
    expect(listed.map(({ kind }) => kind)).toEqual(['IPPool', 'VirtualMachine', 'VirtualMachineNetworkConfig']);
  });
});

describe('the caches of a cluster', () => {
  it('a change names its section, and the pool; sections that the controller lacks do not exist', async () => {
    const { source, resourceOf, clock } = await setUp({});
    const changes: SourceChange[] = [];
    const stop = source.onChange((change) => changes.push(change));
    void resourceOf('ippools').create(ipPool());
    void resourceOf('virtualmachines').create(machine('web'));
    await clock.advance(100);
    expect(changes).toEqual([{ section: 'pools', pool: keyOf(ipPool()) }, { section: 'machines' }]);
    stop();
    void resourceOf('ippools').create(ipPool({}, 'other'));
    await clock.advance(100);
    expect(changes).toHaveLength(2);
    expect([...source.sections].toSorted()).toEqual(['agents', 'events', 'machines', 'pools', 'wake-on-lan']);
    expect([source.synced, source.unready(), source.isLeader()]).toEqual([true, [], false]);
  });
});
