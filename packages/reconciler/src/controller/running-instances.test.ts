import { type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';

import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const M1 = '02:00:00:00:01:01';
const M2 = '02:00:00:00:01:02';
const M3 = '02:00:00:00:01:03';

/** Like plain KubeVirt: no MAC address anywhere. */
const plain = (name: string, nics: Readonly<Record<string, string>> = { nic: 'net-1' }) =>
  virtualMachine(name, {
    interfaces: Object.fromEntries(Object.entries(nics).map(([nic, net]) => [nic, [undefined, net] as const])),
  });

const entries = (running: Running, name: string): string[] =>
  readList(running.networkConfig(name)?.spec, 'networkConfigs').map(
    (entry) => `${readText(entry, 'networkName')} ${readText(entry, 'macAddress')}`,
  );
const shown = (running: Running, name: string): string[] =>
  readList(running.networkConfig(name)?.status, 'networkConfigs').map(
    (entry) => `${readText(entry, 'macAddress')} ${readText(entry, 'allocatedIPAddress') ?? '-'} ${readText(entry, 'state')}`,
  );
const messages = (running: Running, reason: string): string[] =>
  [...running.cluster.events.objects.values()].filter((event) => event.reason === reason).map(({ message }) => message);

/** All states of a pool's record from now on. */
function recordsOf(running: Running): Record<string, string>[] {
  const seen: Record<string, string>[] = [];
  running.cluster.ipPools.onWritten = () => seen.push(running.allocated());
  return seen;
}

function setTemplate(running: Running, name: string, text: Parameters<typeof virtualMachine>[1]): void {
  running.change('VirtualMachine', name, (vm) => ({ ...vm, spec: virtualMachine(name, text).spec }));
}

function refuse(running: Running, status: number): () => void {
  const { virtualMachineInstances } = running.cluster;
  const { list, watch } = virtualMachineInstances;
  const error = Object.assign(new Error(`HTTP ${status}`), { status });
  Object.assign(virtualMachineInstances, {
    list: async () => {
      await new Promise<void>((resolve) => running.clock.after(1, resolve));
      throw error;
    },
    watch: (_: string, { onEnd }: Parameters<typeof watch>[1]) => running.clock.after(1, () => onEnd({ kind: 'failed', error })),
  });
  return () => Object.assign(virtualMachineInstances, { list, watch });
}

/** Delays the events of VirtualMachineInstances. */
function delayInstances(running: Running, ms: number): () => void {
  const { virtualMachineInstances } = running.cluster;
  const { watch } = virtualMachineInstances;
  const late: typeof watch = (version, handlers) =>
    watch(version, { ...handlers, onEvent: (event) => running.clock.after(ms, () => handlers.onEvent(event)) });
  Object.assign(virtualMachineInstances, { watch: late });
  return () => Object.assign(virtualMachineInstances, { watch });
}

describe('a virtual machine without a MAC address, as plain KubeVirt creates it', () => {
  it('vm-a has an Event that says what it waits for, starts and gets an address, and keeps it while it is stopped', async () => {
    const running = await Running.withPool();
    await running.add(plain('vm-a'));
    await running.settle();
    expect(running.networkConfig('vm-a')).toBeUndefined();
    expect(running.events()).toEqual(['AwaitingMacAddress on VirtualMachine vm-a']);
    expect(messages(running, 'AwaitingMacAddress')).toEqual([
      'no IP address yet for nic, as the MAC address is not known: start the virtual machine, then KubeVirt writes it to status.interfaces of VirtualMachineInstance default/vm-a; or set macAddress in spec.template.spec.domain.devices.interfaces',
    ]);

    running.startInstance('vm-a');
    await running.settle();
    expect(running.networkConfig('vm-a')).toBeUndefined();
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, M1] } });
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': M1 });
    expect(shown(running, 'vm-a')).toEqual([`${M1} 10.0.0.10 Allocated`]);

    running.stopInstance('vm-a');
    await running.add(virtualMachine('vm-b'));
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': M1, '10.0.0.11': '02:00:00:00:00:0b' });
    await running.restart();
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': M1, '10.0.0.11': '02:00:00:00:00:0b' });
  });

  it('vm-a starts again with another MAC address: its address is never free, although vm-b and vm-c want it', async () => {
    const running = await Running.withPool({ end: '10.0.0.11' });
    await running.add(plain('vm-a'));
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, M1] } });
    await running.settle();
    await running.add(virtualMachine('vm-b'), virtualMachine('vm-c'));
    await running.settle();
    const annotations = { 'static-ip.harvesterhci.io/nic': '10.0.0.10' };
    running.change('VirtualMachine', 'vm-b', (vm) => ({ ...vm, metadata: { ...vm.metadata, annotations } }));
    await running.settle();
    const ofB = { '10.0.0.11': '02:00:00:00:00:0b' };
    expect(running.allocated()).toEqual({ '10.0.0.10': M1, ...ofB });
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-b')).toContain('Allocated=False AddressTaken');

    running.stopInstance('vm-a');
    await running.settle();
    const seen = recordsOf(running);
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, M2] } });
    await running.settle(60_000);
    expect(seen).toContainEqual({ '10.0.0.10': M2, ...ofB });
    for (const record of seen) {
      expect([
        { '10.0.0.10': M1, ...ofB },
        { '10.0.0.10': M2, ...ofB },
      ]).toContainEqual(record);
    }
    expect(shown(running, 'vm-a')).toEqual([`${M2} 10.0.0.10 Allocated`]);
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-a')).toEqual([
      'Disabled=False',
      'Allocated=True',
      'InSynced=True',
    ]);
  });

  it('vm-b is a copy with the MAC address of vm-a, and vm-a starts again with another one: vm-a keeps its address', async () => {
    const running = await Running.withPool({ end: '10.0.0.10' });
    await running.add(plain('vm-a'));
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, M1] } });
    await running.settle();
    await running.add(virtualMachine('vm-b', { interfaces: { nic: [M1, 'net-1'] } }));
    await running.settle();
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-b')).toContain('Allocated=False MacAddressClaimedTwice');
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, M2] } });
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': M2 });
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-b')).toContain('Allocated=False PoolExhausted');
  });

  it('vm-a starts three times before its pool can be written: it gets the address of the first instance', async () => {
    const running = await Running.withPool({ end: '10.0.0.10' });
    await running.add(plain('vm-a'));
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, M1] } });
    await running.settle();
    await running.add(virtualMachine('vm-c'));
    await running.settle();
    running.cluster.ipPools.writeFault = () => 'lost-request';
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, M2] } });
    await running.settle();
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, M3] } });
    await running.settle();
    await running.restart();
    running.cluster.ipPools.writeFault = () => 'none';
    const seen = recordsOf(running);
    await running.settle(60_000);
    expect(seen.filter((record) => ![M1, M2, M3].includes(record['10.0.0.10'] ?? ''))).toEqual([]);
    expect(running.allocated()).toEqual({ '10.0.0.10': M3 });
  });

  it('vm-a has two interfaces on one network: each keeps its own address', async () => {
    const running = await Running.withPool();
    await running.add(plain('vm-a', { one: 'net-1', two: 'net-1' }));
    running.startInstance('vm-a', { interfaces: { one: ['net-1', undefined, M1], two: ['net-1', undefined, M2] } });
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': M1, '10.0.0.11': M2 });
    running.startInstance('vm-a', {
      interfaces: { one: ['net-1', undefined, '02:00:00:00:01:f1'], two: ['net-1', undefined, '02:00:00:00:01:02'] },
    });
    await running.settle();
    running.startInstance('vm-a', {
      interfaces: { one: ['net-1', undefined, '02:00:00:00:01:f1'], two: ['net-1', undefined, '02:00:00:00:01:00'] },
    });
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:01:f1', '10.0.0.11': '02:00:00:00:01:00' });
  });

  it('a pinned address and one that a person wrote stay with the interface', async () => {
    const running = await Running.withPool();
    await running.add(plain('vm-a'), plain('vm-b'));
    running.change('VirtualMachine', 'vm-a', (vm) => ({
      ...vm,
      metadata: { ...vm.metadata, annotations: { 'static-ip.harvesterhci.io/nic': '10.0.0.15' } },
    }));
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, M1] } });
    running.startInstance('vm-b', { interfaces: { nic: ['net-1', undefined, M2] } });
    await running.settle();
    running.change('VirtualMachineNetworkConfig', 'vm-b', (config) => ({
      ...config,
      spec: {
        vmName: 'vm-b',
        networkConfigs: [{ networkName: 'default/net-1', macAddress: M2, ipAddress: '10.0.0.17' }],
      },
    }));
    await running.settle();
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, '02:00:00:00:01:f1'] } });
    running.startInstance('vm-b', { interfaces: { nic: ['net-1', undefined, '02:00:00:00:01:f2'] } });
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.0.15': '02:00:00:00:01:f1', '10.0.0.17': '02:00:00:00:01:f2' });
    expect(running.networkConfig('vm-b')?.spec).toMatchObject({ networkConfigs: [{ ipAddress: '10.0.0.17' }] });
  });

  it('vm-a waits for a pinned address and starts again with another MAC address: it keeps the address that it has', async () => {
    const running = await Running.withPool({ end: '10.0.0.10' });
    await running.add(plain('vm-a'));
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, M1] } });
    await running.settle();
    await running.add(virtualMachine('vm-b'));
    running.change('VirtualMachine', 'vm-a', (vm) => ({
      ...vm,
      metadata: { ...vm.metadata, annotations: { 'static-ip.harvesterhci.io/nic': '10.0.0.99' } },
    }));
    await running.settle();
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('Allocated=False AddressOutsidePool');
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, M2] } });
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': M2 });
  });

  it('the VirtualMachineNetworkConfig of vm-a is deleted by hand while vm-a is stopped: it is created again, with its address', async () => {
    const running = await Running.withPool({ end: '10.0.0.10' });
    await running.add(plain('vm-a'));
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, M1] } });
    await running.settle();
    await running.add(virtualMachine('vm-b'));
    running.stopInstance('vm-a');
    await running.settle();
    const uid = running.networkConfig('vm-a')?.metadata.uid ?? '';
    const deleted = running.cluster.networkConfigs.delete('default/vm-a', uid);
    await running.settle(60_000);
    await deleted;
    expect(running.allocated()).toEqual({ '10.0.0.10': M1 });
    expect(shown(running, 'vm-a')).toEqual([`${M1} 10.0.0.10 Allocated`]);
  });

  it('reports of a guest agent are not trusted: a virtual machine cannot choose the MAC address in its record', async () => {
    const running = await Running.withPool();
    await running.add(plain('vm-a'));
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, M1] } });
    running.change('VirtualMachineInstance', 'vm-a', (one) => ({
      ...one,
      status: {
        phase: 'Running',
        interfaces: [
          { name: 'nic', mac: M1, infoSource: 'domain, guest-agent' },
          { name: 'nic', mac: M2, infoSource: 'guest-agent' },
          { interfaceName: 'eth7', mac: M3, infoSource: 'guest-agent' },
        ],
      },
    }));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': M1 });
  });
});

describe('a virtual machine runs', () => {
  const MAC = '02:00:00:00:00:0a';
  const running = async () => {
    const started = await Running.withPool();
    await started.add(network('net-2'), pool('pool-2', { network: 'default/net-2', start: '10.0.0.50', end: '10.0.0.59' }));
    await started.add(virtualMachine('vm-a'));
    started.startInstance('vm-a', { interfaces: { nic: ['net-1', MAC, MAC] } });
    await started.settle();
    expect(started.allocated()).toEqual({ '10.0.0.10': MAC });
    return started;
  };

  it.each<[string, Parameters<typeof virtualMachine>[1], Record<string, string>]>([
    ['another MAC address', { interfaces: { nic: [M2, 'net-1'] } }, { '10.0.0.10': M2 }],
    ['another network', { interfaces: { nic: [MAC, 'net-2'] } }, {}],
    ['no such interface', { interfaces: {} }, {}],
    ['one interface more', { interfaces: { nic: [MAC, 'net-1'], two: [M2, 'net-1'] } }, { '10.0.0.10': MAC, '10.0.0.11': M2 }],
  ])('the template has %s: the virtual machine keeps its addresses until its instance has ended', async (_, text, afterwards) => {
    const started = await running();
    setTemplate(started, 'vm-a', text);
    await started.settle(60_000);
    expect(started.allocated()).toEqual({ '10.0.0.10': MAC });
    expect(entries(started, 'vm-a')).toEqual([`default/net-1 ${MAC}`]);

    started.change('VirtualMachineInstance', 'vm-a', (one) => ({
      ...one,
      metadata: { ...one.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    }));
    await started.settle(60_000);
    expect(started.allocated(), 'it shuts down, and uses its address until the end').toEqual({ '10.0.0.10': MAC });

    started.change('VirtualMachineInstance', 'vm-a', (one) => ({
      ...one,
      status: { ...(one.status as object), phase: 'Succeeded' },
    }));
    await started.settle(60_000);
    expect(started.allocated()).toEqual(afterwards);
  });

  it('annotations of the virtual machine take effect at once', async () => {
    const started = await running();
    const annotate = (annotations: Record<string, string>) =>
      started.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, metadata: { ...vm.metadata, annotations } }));
    annotate({ 'static-ip.harvesterhci.io/nic': '10.0.0.15' });
    await started.settle();
    expect(started.allocated()).toEqual({ '10.0.0.15': MAC });
    annotate({ 'network.harvesterhci.io/dhcp-opt-out': 'true' });
    await started.settle();
    expect(started.allocated()).toEqual({});
  });

  it('MAC addresses of the hypervisor are trusted first, then those of the instance, then the annotation', async () => {
    const started = await Running.withPool();
    await started.add(
      virtualMachine('vm-a', {
        annotations: { 'harvesterhci.io/mac-address': `{"one":"${M3}","two":"${M3}","three":"${M3}"}` },
        interfaces: { one: [undefined, 'net-1'], two: [undefined, 'net-1'], three: [undefined, 'net-1'] },
      }),
    );
    started.startInstance('vm-a', { interfaces: { one: ['net-1', M2, M1], two: ['net-1', M2], three: ['net-1'] } });
    await started.settle();
    const remembered = started.networkConfig('vm-a')?.metadata.annotations?.['network.harvesterhci.io/interfaces'] ?? '';
    expect(JSON.parse(remembered)).toMatchObject({
      one: { macAddress: M1 },
      two: { macAddress: M2 },
      three: { macAddress: M3 },
    });
  });

  it('four interfaces have addresses, and a fifth one is added: they keep them, even if their VirtualMachineNetworkConfig is deleted', async () => {
    const four = { b: '02:00:00:00:01:0b', c: '02:00:00:00:01:0c', d: '02:00:00:00:01:0d', e: '02:00:00:00:01:0e' };
    const startWith = (nics: Readonly<Record<string, string>>) => {
      const asked = Object.entries(nics).map(([nic, macAddress]) => [nic, [macAddress, 'net-1']] as const);
      setTemplate(started, 'vm-a', { interfaces: Object.fromEntries(asked) });
      const had = Object.entries(nics).map(([nic, macAddress]) => [nic, ['net-1', macAddress, macAddress]] as const);
      started.startInstance('vm-a', { interfaces: Object.fromEntries(had) });
    };
    const started = await Running.withPool({ end: '10.0.0.13' });
    await started.add(virtualMachine('vm-a'));
    startWith(four);
    await started.settle();
    const had = started.allocated();
    expect(Object.values(had)).toEqual(Object.values(four));
    await started.add(virtualMachine('vm-b'));
    startWith({ a: M1, ...four });
    await started.settle();
    const deleted = started.cluster.networkConfigs.delete('default/vm-a', started.networkConfig('vm-a')?.metadata.uid ?? '');
    await started.settle(60_000);
    await deleted;
    expect(started.allocated()).toEqual(had);
    expect(entries(started, 'vm-a')).toEqual(Object.values(four).map((macAddress) => `default/net-1 ${macAddress}`));
  });

  it('an instance of the former virtual machine of that name does not count', async () => {
    const started = await Running.withPool();
    await started.add(plain('vm-a'));
    started.startInstance('vm-a', { ownerUid: 'former', interfaces: { nic: ['net-1', M1, M1] } });
    await started.settle();
    expect(started.allocated()).toEqual({});
  });

  it('heartbeats do not cause reconciles', async () => {
    const worked: string[] = [];
    const started = new Running({ onReconciled: ({ kind, key }) => worked.push(`${kind} ${key}`) });
    await started.add(network(), pool(), plain('vm-a'));
    started.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, M1] } });
    await started.started();
    await started.settle();
    const before = worked.length;
    for (let beat = 0; beat < 100; beat++) {
      started.change('VirtualMachineInstance', 'vm-a', (one) => ({
        ...one,
        metadata: { ...one.metadata, annotations: { beat: 'x'.repeat(10_000) } },
        status: { ...(one.status as object), beat, nodeName: 'node-1' },
      }));
      await started.settle(10);
    }
    expect(worked.slice(before)).toEqual([]);
  });
});

describe('missing knowledge frees no addresses', () => {
  const MAC = '02:00:00:00:00:0a';

  it('VirtualMachineInstances are listed last: nothing is reconciled before', async () => {
    const running = new Running();
    await running.add(network(), pool(), virtualMachine('vm-a'));
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', MAC, MAC] } });
    await running.started();
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': MAC });
    setTemplate(running, 'vm-a', { interfaces: {} });
    await running.settle();
    const allow = refuse(running, 500);
    await running.restart();
    await running.settle(300_000);
    expect(running.controller.reconciling).toBe(false);
    expect(running.allocated()).toEqual({ '10.0.0.10': MAC });
    allow();
    await running.settle(60_000);
    expect(running.controller.reconciling).toBe(true);
    expect(running.allocated()).toEqual({ '10.0.0.10': MAC });
  });

  it('the virtual machine reports an instance, and the controller has not seen it: the machine keeps its addresses', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    const hear = refuse(running, 500);
    running.cluster.virtualMachineInstances.closeWatches();
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', MAC, MAC] } });
    setTemplate(running, 'vm-a', { interfaces: { other: [M2, 'net-1'] } });
    await running.settle(60_000);
    expect(running.allocated()).toMatchObject({ '10.0.0.10': MAC });
    hear();
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': MAC });
    running.stopInstance('vm-a');
    await running.settle();
    expect(Object.values(running.allocated())).toEqual([M2]);
  });

  it.each([
    ['cannot be listed', (running: Running) => refuse(running, 500)],
    ['are heard of 200 ms late', (running: Running) => delayInstances(running, 200)],
  ])(
    'VirtualMachineInstances %s, and the last one that was seen has ended: the running virtual machine keeps its addresses',
    async (_, fail) => {
      const running = await Running.withPool({ end: '10.0.0.10' });
      await running.add(virtualMachine('vm-a'));
      running.startInstance('vm-a', { interfaces: { nic: ['net-1', MAC, MAC] }, phase: 'Failed' });
      await running.add(virtualMachine('vm-b'));
      const restore = fail(running);
      running.cluster.virtualMachineInstances.closeWatches('expired');
      await running.settle();

      running.stopInstance('vm-a');
      running.startInstance('vm-a', { interfaces: { nic: ['net-1', MAC, MAC] } });
      setTemplate(running, 'vm-a', { interfaces: {} });
      const seen = recordsOf(running);
      await running.settle(60_000);
      restore();
      await running.settle(60_000);
      expect([...seen, running.allocated()].filter((record) => record['10.0.0.10'] !== MAC)).toEqual([]);
      running.stopInstance('vm-a');
      await running.settle();
      expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0b' });
    },
  );

  it('a cluster without VirtualMachineInstances: the template counts, and the kind is looked for again', async () => {
    const states: string[] = [];
    const running = new Running({ onInstances: (state) => states.push(state) });
    await running.add(network(), pool(), virtualMachine('vm-a'), plain('vm-b'));
    const define = refuse(running, 404);
    await running.started();
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': MAC });
    setTemplate(running, 'vm-a', { interfaces: { nic: [M2, 'net-1'] } });
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': M2 });
    expect(states).toEqual(['kind-missing']);

    define();
    running.startInstance('vm-b', { interfaces: { nic: ['net-1', undefined, M1] } });
    await running.settle(60_000);
    expect(states).toEqual(['kind-missing', 'listed']);
    expect(running.allocated()).toEqual({ '10.0.0.10': M2, '10.0.0.11': M1 });
  });

  it('the kind is missing when the controller starts, and the virtual machine reports an instance: it keeps its addresses', async () => {
    const running = await Running.withPool({ end: '10.0.0.10' });
    await running.add(virtualMachine('vm-a'));
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', MAC, MAC] } });
    await running.settle();
    await running.add(virtualMachine('vm-b'));
    setTemplate(running, 'vm-a', { interfaces: {} });
    refuse(running, 404);
    await running.restart();
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': MAC });
  });

  it('the virtual machine reports for more than a minute an instance that does not exist: an Event says what is delayed', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, status: { created: true } }));
    setTemplate(running, 'vm-a', { interfaces: {} });
    await running.settle(55_000);
    expect(running.events()).toEqual([]);
    await running.settle(600_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': MAC });
    expect(running.events()).toEqual(['VirtualMachineInstanceUnseen on VirtualMachine vm-a']);
    expect(messages(running, 'VirtualMachineInstanceUnseen')).toEqual([
      'the interfaces of the virtual machine have changed, and a VirtualMachineInstance may run with the former ones: nothing is freed before the controller sees that instance; status.created of the virtual machine is true, and the controller has seen no VirtualMachineInstance default/vm-a that has not ended; check that virt-controller of KubeVirt runs, and that the API server lists VirtualMachineInstances',
    ]);
    running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, status: { created: false } }));
    await running.settle();
    expect(running.allocated()).toEqual({});
  });

  it.each([
    ['as the controller starts', true],
    ['while it works', false],
  ])(
    'reading VirtualMachineInstances is forbidden %s: running virtual machines keep their addresses, and the remedy is named',
    async (_, atStart) => {
      const states: string[] = [];
      const running = new Running({ onInstances: (state) => states.push(state) });
      await running.add(network(), pool(), virtualMachine('vm-a'));
      running.startInstance('vm-a', { interfaces: { nic: ['net-1', MAC, MAC] } });
      await running.started();
      await running.settle();
      const allow = refuse(running, 403);
      if (atStart) await running.restart();
      else running.cluster.virtualMachineInstances.closeWatches();
      await running.settle(60_000);
      expect(states.at(-1)).toBe('forbidden');

      await running.add(virtualMachine('vm-b'), plain('vm-c'));
      setTemplate(running, 'vm-a', { interfaces: {} });
      await running.settle(60_000);
      expect(running.allocated()).toEqual({ '10.0.0.10': MAC, '10.0.0.11': '02:00:00:00:00:0b' });
      setTemplate(running, 'vm-a', { interfaces: { nic: [M2, 'net-1'] } });
      await running.settle(60_000);
      expect(running.allocated()).toEqual({ '10.0.0.10': MAC, '10.0.0.11': '02:00:00:00:00:0b' });
      expect(messages(running, 'VirtualMachineInstancesUnreadable')).toContainEqual(
        expect.stringContaining('list and watch on virtualmachineinstances of the API group kubevirt.io'),
      );
      expect(messages(running, 'AwaitingMacAddress')).toContainEqual(expect.stringContaining('the controller may not read'));

      allow();
      running.stopInstance('vm-a');
      await running.settle(60_000);
      expect(states.at(-1)).toBe('listed');
      expect(running.allocated()).toEqual({ '10.0.0.10': M2, '10.0.0.11': '02:00:00:00:00:0b' });
    },
  );

  it('an upgrade, and reading is forbidden: four entries stay, and a new interface waits for the place of one of them', async () => {
    const nics = (...macAddresses: readonly string[]) =>
      Object.fromEntries(macAddresses.map((macAddress) => [`nic-${macAddress.at(-1)}`, [macAddress, 'net-1'] as const]));
    const [M4, M5] = ['02:00:00:00:01:04', '02:00:00:00:01:05'];
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a', { interfaces: nics(M1, M2, M3, M4) }));
    await running.settle();
    const had = running.allocated();
    void running.controller.stop();
    // Earlier versions did not write the annotation.
    running.change('VirtualMachineNetworkConfig', 'vm-a', (one) => ({ ...one, metadata: { ...one.metadata, annotations: {} } }));
    setTemplate(running, 'vm-a', { interfaces: nics(M2, M3, M4, M5) });
    const allow = refuse(running, 403);
    await running.restart();
    await running.settle(60_000);
    expect(running.allocated()).toEqual(had);
    expect(running.events()).toEqual(['VirtualMachineInstancesUnreadable on VirtualMachine vm-a']);
    allow();
    await running.settle(60_000);
    expect(Object.values(running.allocated()).toSorted()).toEqual([M2, M3, M4, M5]);
  });

  it('the kind is missing for a moment, as with an API server that is starting: listed objects stay known', async () => {
    const states: string[] = [];
    const running = new Running({ onInstances: (state) => states.push(state) });
    await running.add(network(), pool(), virtualMachine('vm-a'));
    await running.started();
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', MAC, MAC] } });
    await running.settle();
    const define = refuse(running, 404);
    running.cluster.virtualMachineInstances.closeWatches('expired');
    await running.settle(60_000);
    setTemplate(running, 'vm-a', { interfaces: {} });
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': MAC });
    define();
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': MAC });
    expect(states).toEqual(['listed']);
  });

  it('an annotation that cannot be read does not stop the controller', async () => {
    const running = await Running.withPool();
    await running.add(plain('vm-a'));
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, M1] } });
    await running.settle();
    for (const text of ['{', '[]', '{"nic":7}', '{"nic":{"networkName":"default/net-1","macAddress":"banana","replaces":[1]}}']) {
      running.change('VirtualMachineNetworkConfig', 'vm-a', (config: KubernetesObject) => ({
        ...config,
        metadata: {
          ...config.metadata,
          annotations: { ...config.metadata.annotations, 'network.harvesterhci.io/interfaces': text },
        },
      }));
      await running.settle();
      expect(running.allocated()).toEqual({ '10.0.0.10': M1 });
      expect(readField(running.networkConfig('vm-a')?.metadata.annotations, 'network.harvesterhci.io/interfaces')).toBe(
        `{"nic":{"networkName":"default/net-1","macAddress":"${M1}"}}`,
      );
    }
  });
});
