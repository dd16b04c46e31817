import { readField, readList, readText } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const statusEntries = (running: Running, name: string): string[] =>
  readList(running.networkConfig(name)?.status, 'networkConfigs').map(
    (entry) => `${readText(entry, 'macAddress')} ${readText(entry, 'allocatedIPAddress') ?? '-'} ${readText(entry, 'state')}`,
  );

describe('the story of a pool', () => {
  it('a virtual machine gets an address, keeps it through changes, and frees it when it is deleted', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a', '10.0.0.11': '02:00:00:00:00:0b' });
    expect(statusEntries(running, 'vm-a')).toEqual(['02:00:00:00:00:0a 10.0.0.10 Allocated']);
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-a')).toEqual([
      'Disabled=False',
      'Allocated=True',
      'InSynced=True',
    ]);
    expect(running.conditions('IPPool', 'pool-1')).toEqual([
      'Stopped=False',
      'CacheReady=True',
      'Registered=True',
      'AgentReady=True',
    ]);

    await running.restart();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a', '10.0.0.11': '02:00:00:00:00:0b' });

    await running.remove('VirtualMachine', 'vm-a');
    await running.settle();
    expect(running.networkConfig('vm-a')).toBeUndefined();
    expect(running.allocated()).toEqual({ '10.0.0.11': '02:00:00:00:00:0b' });

    await running.add(virtualMachine('vm-c'));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0c', '10.0.0.11': '02:00:00:00:00:0b' });
    expect(running.events()).toEqual([]);
  });

  it('counts used and free addresses, and marks unavailable ones', async () => {
    const running = await Running.withPool({
      ipv4Config: {
        serverIP: '10.0.0.12',
        pool: { start: '10.0.0.10', end: '10.0.0.19', exclude: ['10.0.0.10', '10.0.0.18-10.0.0.19'] },
      },
    });
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    const status = running.cluster.ipPools.objects.get('default/pool-1')?.status;
    expect(readField(status, 'ipv4')).toEqual({
      used: 1,
      available: 5,
      allocated: {
        '10.0.0.10': 'EXCLUDED',
        '10.0.0.11': '02:00:00:00:00:0a',
        '10.0.0.12': 'RESERVED',
        '10.0.0.18': 'EXCLUDED',
        '10.0.0.19': 'EXCLUDED',
      },
    });
  });

  it('many machines at once need few patches, and two writes each', async () => {
    const running = await Running.withPool({ start: '10.0.0.10', end: '10.0.0.250' });
    const writes: string[] = [];
    for (const resource of running.cluster.resources) resource.onWritten = (what, key) => writes.push(`${what} ${key}`);
    const machines = Array.from({ length: 100 }, (_, index) =>
      virtualMachine(`vm-${index}`, { interfaces: { nic: [`02:00:00:00:01:${index.toString(16).padStart(2, '0')}`, 'net-1'] } }),
    );
    for (const machine of machines)
      running.cluster.virtualMachines.put({ ...machine, metadata: { ...machine.metadata, uid: machine.metadata.name } });
    await running.settle();
    expect(Object.keys(running.allocated())).toHaveLength(100);
    expect(writes.filter((write) => write.includes('vm-'))).toHaveLength(200);
    expect(writes.filter((write) => write.includes('pool-1')).length).toBeLessThan(20);
  });
});

describe('static addresses and changes', () => {
  const pinned = (address: string) => ({ annotations: { 'static-ip.harvesterhci.io/nic': address } });

  it('a pinned address is assigned, changed, and stays when the pin is removed', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a', pinned('10.0.0.15')));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.15': '02:00:00:00:00:0a' });

    running.change('VirtualMachine', 'vm-a', (vm) => ({
      ...vm,
      metadata: { ...vm.metadata, annotations: { 'static-ip.harvesterhci.io/nic': '10.0.0.16' } },
    }));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.16': '02:00:00:00:00:0a' });
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('InSynced=True');

    running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, metadata: { ...vm.metadata, annotations: {} } }));
    await running.settle();
    expect(readField(running.networkConfig('vm-a')?.spec, 'networkConfigs')).toEqual([
      { macAddress: '02:00:00:00:00:0a', networkName: 'default/net-1' },
    ]);
    expect(running.allocated()).toEqual({ '10.0.0.16': '02:00:00:00:00:0a' });
  });

  it('two virtual machines swap their pinned addresses', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a', pinned('10.0.0.11')), virtualMachine('vm-b', pinned('10.0.0.12')));
    await running.settle();
    const repin = (name: string, address: string) =>
      running.change('VirtualMachine', name, (vm) => ({ ...vm, metadata: { ...vm.metadata, ...pinned(address) } }));
    repin('vm-a', '10.0.0.12');
    await running.settle();
    expect(running.allocated(), 'a refused pin does not cost the current address').toEqual({
      '10.0.0.11': '02:00:00:00:00:0a',
      '10.0.0.12': '02:00:00:00:00:0b',
    });
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('Allocated=False AddressTaken');
    repin('vm-b', '10.0.0.11');
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.11': '02:00:00:00:00:0b', '10.0.0.12': '02:00:00:00:00:0a' });
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('Allocated=True');
  });

  it('an address that a user wrote into the spec is not erased', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    running.change('VirtualMachineNetworkConfig', 'vm-a', (config) => ({
      ...config,
      spec: {
        vmName: 'vm-a',
        networkConfigs: [{ networkName: 'default/net-1', macAddress: '02:00:00:00:00:0a', ipAddress: '10.0.0.17' }],
      },
    }));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.17': '02:00:00:00:00:0a' });
  });

  it('interfaces that are removed, opted out or given another MAC address free their addresses', async () => {
    const running = await Running.withPool();
    const both = { one: ['02:00:00:00:00:01', 'net-1'], two: ['02:00:00:00:00:02', 'net-1'] } as const;
    await running.add(virtualMachine('vm-a', { interfaces: both }));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:01', '10.0.0.11': '02:00:00:00:00:02' });
    const respec = (text: Parameters<typeof virtualMachine>[1]) =>
      running.change('VirtualMachine', 'vm-a', (vm) => {
        const { metadata, spec } = virtualMachine('vm-a', text);
        return { ...vm, metadata: { ...vm.metadata, annotations: metadata.annotations ?? {} }, spec };
      });
    respec({ interfaces: { one: ['02:00:00:00:00:03', 'net-1'], two: both.two } });
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:03', '10.0.0.11': '02:00:00:00:00:02' });
    expect(statusEntries(running, 'vm-a')).toEqual([
      '02:00:00:00:00:03 10.0.0.10 Allocated',
      '02:00:00:00:00:02 10.0.0.11 Allocated',
    ]);
    respec({ interfaces: both, annotations: { 'network.harvesterhci.io/dhcp-opt-out': 'one' } });
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.11': '02:00:00:00:00:02' });
    respec({ interfaces: both, annotations: { 'network.harvesterhci.io/dhcp-opt-out': 'true' } });
    await running.settle();
    expect(running.allocated()).toEqual({});
    expect(running.networkConfig('vm-a')).toBeUndefined();
  });

  it('a new virtual machine with the same name takes over the addresses of its predecessor', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'));
    await running.settle();
    await running.remove('VirtualMachine', 'vm-b');
    await running.add(virtualMachine('vm-b'));
    await running.settle(10_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a', '10.0.0.11': '02:00:00:00:00:0b' });
    expect(running.networkConfig('vm-b')?.metadata.ownerReferences?.[0]?.uid).toBe(
      running.cluster.virtualMachines.objects.get('default/vm-b')?.metadata.uid,
    );
  });
});

describe('several interfaces: all of their addresses or none', () => {
  const interfaces = { one: ['02:00:00:00:00:01', 'net-1'], two: ['02:00:00:00:00:02', 'net-2'] } as const;
  const small = { network: 'default/net-2', start: '10.0.0.30', end: '10.0.0.30' };

  it('gets none while one is missing, and all once it is available', async () => {
    const running = new Running();
    await running.add(network('net-1'), network('net-2'), pool('pool-1'), pool('pool-2', small));
    await running.add(virtualMachine('vm-x', { interfaces: { two: ['02:00:00:00:00:09', 'net-2'] } }));
    await running.started();
    await running.add(virtualMachine('vm-a', { interfaces }));
    await running.settle();
    expect(running.allocated('pool-1')).toEqual({});
    expect(statusEntries(running, 'vm-a')).toEqual(['02:00:00:00:00:01 - Pending', '02:00:00:00:00:02 - Pending']);
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('Allocated=False PoolExhausted');
    expect(running.events()).toEqual(
      expect.arrayContaining(['PoolExhausted on VirtualMachine vm-a', 'PoolExhausted on IPPool pool-2']),
    );

    await running.remove('VirtualMachine', 'vm-x');
    await running.settle();
    expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': '02:00:00:00:00:01' });
    expect(running.allocated('pool-2')).toEqual({ '10.0.0.30': '02:00:00:00:00:02' });
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('Allocated=True');
  });

  it('an interface on a network without a pool does not block the others', async () => {
    const running = new Running();
    await running.add(network('net-1'), network('net-2'), pool('pool-1'), virtualMachine('vm-a', { interfaces }));
    await running.started();
    expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': '02:00:00:00:00:01' });
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('Allocated=True');
    await running.add(pool('pool-2', small));
    await running.settle();
    expect(running.allocated('pool-2')).toEqual({ '10.0.0.30': '02:00:00:00:00:02' });
  });
});

describe('pools', () => {
  it('labels its network, and takes the labels away with it', async () => {
    const running = await Running.withPool();
    const labels = () => running.cluster.networks.objects.get('default/net-1')?.metadata.labels;
    expect(labels()).toEqual({
      'network.harvesterhci.io/ippool-namespace': 'default',
      'network.harvesterhci.io/ippool-name': 'pool-1',
    });
    await running.remove('IPPool', 'pool-1');
    await running.settle();
    expect(labels()).toEqual({});
  });

  it('the older of two pools on one network serves it', async () => {
    const running = await Running.withPool();
    await running.add(pool('a-pool', { start: '10.0.0.50', end: '10.0.0.59' }), virtualMachine('vm-a'));
    await running.settle();
    expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
    expect(running.conditions('IPPool', 'a-pool')).toContain('CacheReady=False NetworkTaken');
    expect(running.events()).toContain('NetworkTaken on IPPool a-pool');
    await running.remove('IPPool', 'pool-1');
    await running.settle();
    expect(running.conditions('IPPool', 'a-pool')).toContain('CacheReady=True');
    expect(running.allocated('a-pool')).toEqual({ '10.0.0.50': '02:00:00:00:00:0a' });
  });

  it('a paused pool keeps addresses in use, assigns no new ones, and frees unused ones', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'));
    await running.settle();
    running.change('IPPool', 'pool-1', (one) => ({ ...one, spec: { ...(one.spec as object), paused: true } }));
    await running.add(virtualMachine('vm-c'));
    await running.settle();
    expect(running.conditions('IPPool', 'pool-1')).toEqual(expect.arrayContaining(['Stopped=True', 'CacheReady=False Paused']));
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-c')).toContain('Allocated=False PoolPaused');
    await running.remove('VirtualMachine', 'vm-a');
    await running.settle();
    expect(running.networkConfig('vm-a'), 'its finalizer completes').toBeUndefined();
    expect(running.allocated()).toEqual({ '10.0.0.11': '02:00:00:00:00:0b' });
    running.change('IPPool', 'pool-1', (one) => ({ ...one, spec: { ...(one.spec as object), paused: false } }));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0c', '10.0.0.11': '02:00:00:00:00:0b' });
  });

  it.each<[string, (running: Running) => Promise<void>]>([
    ['gone', (running) => running.remove('IPPool', 'pool-1')],
    [
      'invalid by now',
      async (running) =>
        running.change('IPPool', 'pool-1', (one) => ({
          ...one,
          spec: { networkName: 'default/net-1', ipv4Config: { cidr: 'ten' } },
        })),
    ],
  ])('a virtual machine can be deleted when its pool is %s', async (_, spoil) => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    await spoil(running);
    await running.settle();
    await running.remove('VirtualMachine', 'vm-a');
    await running.settle(10_000);
    expect(running.networkConfig('vm-a')).toBeUndefined();
  });

  it('an erased status is rewritten from the addresses of the virtual machines', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'));
    await running.settle();
    await running.remove('VirtualMachine', 'vm-a');
    await running.settle();
    running.change('IPPool', 'pool-1', (one) => ({ ...one, status: {} }));
    await running.add(virtualMachine('vm-0', { interfaces: { nic: ['02:00:00:00:00:00', 'net-1'] } }));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.11': '02:00:00:00:00:0b', '10.0.0.10': '02:00:00:00:00:00' });
  });
});

describe('invalid settings that an old CRD accepted', () => {
  it.each<[string, unknown, string]>([
    ['cidr', { cidr: 'ten dot' }, 'CacheReady=False PoolInvalid'],
    ['start above end', { pool: { start: '10.0.0.19', end: '10.0.0.10' } }, 'CacheReady=False PoolInvalid'],
    ['exclude', { pool: { start: '10.0.0.10', end: '10.0.0.19', exclude: ['banana'] } }, 'CacheReady=False PoolInvalid'],
    ['dns that is a name', { dns: ['dns.example.com', '10.0.0.53'] }, 'CacheReady=True EntriesSkipped'],
    ['no settings at all', undefined, 'CacheReady=False PoolInvalid'],
  ])('a pool: %s', async (_, ipv4Config, condition) => {
    const bad = pool('bad', { network: 'default/net-2' });
    const spec = {
      networkName: 'default/net-2',
      ipv4Config: ipv4Config && { ...(readField(bad.spec, 'ipv4Config') as object), ...(ipv4Config as object) },
    };
    const running = await Running.withPool();
    await running.add(network('net-2'), { ...bad, spec });
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    expect(running.conditions('IPPool', 'bad')).toContain(condition);
    if (condition.includes('False')) expect(running.events()).toContain('PoolInvalid on IPPool bad');
    expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
  });

  it('an invalid entry in the status is reported, kept, and its address is not assigned', async () => {
    const running = new Running();
    await running.add(network(), pool());
    running.change('IPPool', 'pool-1', (one) => ({
      ...one,
      status: { ipv4: { allocated: { '10.0.0.10': 'banana', x: '02:00:00:00:00:0f' }, used: 0, available: 0 } },
    }));
    await running.add(virtualMachine('vm-a'));
    await running.started();
    expect(running.allocated()).toEqual({ '10.0.0.11': '02:00:00:00:00:0a', x: '02:00:00:00:00:0f' });
    expect(running.events()).toEqual(['EntriesSkipped on IPPool pool-1', 'EntriesSkipped on IPPool pool-1']);
  });

  it.each<[string, Parameters<typeof virtualMachine>[1], string]>([
    [
      'annotation that is not JSON',
      { annotations: { 'harvesterhci.io/mac-address': '{' }, interfaces: { nic: [undefined, 'net-1'] } },
      'MacAddressAnnotationUnreadable',
    ],
    ['MAC address', { interfaces: { nic: ['02:00:banana', 'net-1'] } }, 'MacAddressUnreadable'],
    ['static address', { annotations: { 'static-ip.harvesterhci.io/nic': '10.0.0.300' } }, 'StaticAddressUnreadable'],
    [
      'static address of no interface',
      { annotations: { 'static-ip.harvesterhci.io/eth0': '10.0.0.11' } },
      'StaticAddressWithoutInterface',
    ],
    ['static address outside', { annotations: { 'static-ip.harvesterhci.io/nic': '10.0.0.99' } }, 'AddressOutsidePool'],
    ['network without a pool', { interfaces: { nic: ['02:00:00:00:00:77', 'net-9'] } }, 'NoPool'],
    ['MAC address of another', { interfaces: { nic: ['02-00-00-00-00-0B', 'net-1'] } }, 'MacAddressClaimedTwice'],
  ])('a virtual machine: %s', async (_, text, reason) => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-b'), virtualMachine('vm-a', text));
    await running.settle();
    expect(running.events()).toEqual([`${reason} on VirtualMachine vm-a`]);
    expect(Object.values(running.allocated())).toContain('02:00:00:00:00:0b');
  });

  it('a virtual machine without a template keeps its addresses', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, spec: { template: null } }));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
    expect(running.events()).toEqual(['TemplateMissing on VirtualMachine vm-a']);
  });

  it('does not reconcile constantly', async () => {
    const worked: string[] = [];
    const running = new Running({ onReconciled: ({ kind, key }) => worked.push(`${kind} ${key}`) });
    await running.add(
      network(),
      pool('pool-1', { ipv4Config: { cidr: 'ten' } }),
      virtualMachine('vm-a'),
      virtualMachine('vm-b', { interfaces: { nic: ['02', 'net-1'] } }),
    );
    await running.started();
    const before = worked.length;
    await running.settle(600_000);
    expect(worked.length - before).toBe(0);
  });
});
