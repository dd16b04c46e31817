import { readList, readText } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const SHARED = '02:00:00:00:00:aa';
const withShared = (name: string) => virtualMachine(name, { interfaces: { nic: [SHARED, 'net-1'] } });
const conditionsOf = (running: Running, name: string) => running.conditions('VirtualMachineNetworkConfig', name);

/** A pool of one address, and deletions of VirtualMachineNetworkConfigs that take their time. */
async function smallPool(): Promise<Running> {
  return Running.withPool({ start: '10.0.0.10', end: '10.0.0.10' });
}

async function deleteConfig(running: Running, name: string): Promise<void> {
  const uid = running.networkConfig(name)?.metadata.uid ?? '';
  const deleted = running.cluster.networkConfigs.delete(`default/${name}`, uid);
  await running.settle(2);
  await deleted;
}

describe('vm-a and vm-b have the same MAC address, like a restored copy', () => {
  it('vm-a is deleted, the VirtualMachineNetworkConfig of vm-b is deleted by hand: vm-c does not get the address of vm-b', async () => {
    const running = await smallPool();
    await running.add(withShared('vm-a'));
    await running.settle();
    await running.add(withShared('vm-b'));
    await running.add(virtualMachine('vm-c'));
    await running.settle();
    expect(conditionsOf(running, 'vm-b')).toContain('Allocated=False MacAddressClaimedTwice');
    expect(conditionsOf(running, 'vm-c')).toContain('Allocated=False PoolExhausted');

    await running.remove('VirtualMachine', 'vm-a');
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': SHARED });
    expect(conditionsOf(running, 'vm-b')).toContain('Allocated=True');

    const seen: string[] = [];
    running.cluster.ipPools.onWritten = () => seen.push(Object.values(running.allocated()).join());
    await deleteConfig(running, 'vm-b');
    await running.settle(60_000);
    expect(seen.filter((owners) => owners !== SHARED)).toEqual([]);
    expect(running.allocated()).toEqual({ '10.0.0.10': SHARED });
    expect(conditionsOf(running, 'vm-b')).toContain('Allocated=True');

    await running.remove('VirtualMachine', 'vm-b');
    await running.settle(60_000);
    expect(running.allocated(), 'nothing is reserved for a VM that is gone').toEqual({ '10.0.0.10': '02:00:00:00:00:0c' });
  });

  it('the configs of both are deleted by hand at once: the address stays for one of them', async () => {
    const running = await smallPool();
    await running.add(withShared('vm-a'));
    await running.settle();
    await running.add(withShared('vm-b'), virtualMachine('vm-c'));
    await running.settle();
    await Promise.all([deleteConfig(running, 'vm-a'), deleteConfig(running, 'vm-b')]);
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': SHARED });
  });

  it('on two networks each has its own address, and keeps it when the other is deleted', async () => {
    const running = new Running();
    await running.add(network('net-1'), network('net-2'));
    await running.add(
      pool('pool-1', { end: '10.0.0.10' }),
      pool('pool-2', { network: 'default/net-2', start: '10.0.0.50', end: '10.0.0.50' }),
    );
    await running.started();
    await running.add(withShared('vm-a'), virtualMachine('vm-b', { interfaces: { nic: [SHARED, 'net-2'] } }));
    await running.add(virtualMachine('vm-c', { interfaces: { nic: ['02:00:00:00:00:0c', 'net-2'] } }));
    await running.settle();
    await running.remove('VirtualMachine', 'vm-a');
    await deleteConfig(running, 'vm-b');
    await running.settle(60_000);
    expect(running.allocated('pool-1')).toEqual({});
    expect(running.allocated('pool-2')).toEqual({ '10.0.0.50': SHARED });
  });

  it('both are created at once: only the status of one of them ever shows the address', async () => {
    const running = await Running.withPool();
    const shown: string[] = [];
    running.cluster.networkConfigs.onWritten = () => {
      const allocated = ['vm-a', 'vm-b'].filter((name) =>
        readList(running.networkConfig(name)?.status, 'networkConfigs').some((entry) => readText(entry, 'state') === 'Allocated'),
      );
      shown.push(allocated.join());
    };
    for (const name of ['vm-a', 'vm-b'])
      running.cluster.virtualMachines.put({ ...withShared(name), metadata: { namespace: 'default', name, uid: name } });
    await running.settle(60_000);
    expect([...new Set(shown)].toSorted()).toEqual(['', 'vm-a']);
    expect(conditionsOf(running, 'vm-b')).toContain('Allocated=False MacAddressClaimedTwice');
  });

  it('vm-a is paused and vm-b has the address meanwhile: vm-a does not take it back', async () => {
    const running = await Running.withPool();
    const pause = (paused: boolean) =>
      running.change('VirtualMachineNetworkConfig', 'vm-a', (config) => ({
        ...config,
        spec: { ...(config.spec as object), paused },
      }));
    await running.add(withShared('vm-a'));
    await running.settle();
    await running.add(withShared('vm-b'));
    await running.settle();
    pause(true);
    await running.settle();
    expect(conditionsOf(running, 'vm-b')).toContain('Allocated=True');
    pause(false);
    await running.settle();
    expect(conditionsOf(running, 'vm-b')).toContain('Allocated=True');
    expect(conditionsOf(running, 'vm-a')).toContain('Allocated=False MacAddressClaimedTwice');
  });
});

describe('vm-a runs, vm-b is a copy of it in any namespace, and the VirtualMachineNetworkConfig of vm-a is deleted by hand', () => {
  const OTHER = '02:00:00:00:00:bb';

  async function copied(namespace: string): Promise<Running> {
    const running = await Running.withPool({ start: '10.0.0.10', end: '10.0.0.11' });
    await running.add(withShared('vm-a'));
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', SHARED, SHARED] } });
    await running.settle();
    await running.add(copyIn(namespace, SHARED));
    await running.settle();
    await deleteConfig(running, 'vm-a');
    await running.settle(60_000);
    return running;
  }

  const copyIn = (namespace: string, macAddress: string) => {
    const copy = virtualMachine('vm-b', { interfaces: { nic: [macAddress, 'default/net-1'] } });
    return { ...copy, metadata: { ...copy.metadata, namespace } };
  };

  it.each(['default', 'other'])(
    'it is created again with its address, and the copy (in namespace %s) is refused as before',
    async (namespace) => {
      const running = await copied(namespace);
      expect(conditionsOf(running, 'vm-a')).toContain('Allocated=True');
      const copy = running.cluster.networkConfigs.objects.get(`${namespace}/vm-b`);
      expect(readList(copy?.status, 'conditions').map((one) => readText(one, 'reason'))).toContain('MacAddressClaimedTwice');
    },
  );

  it.each(['default', 'other'])(
    'the copy (in namespace %s) gets another MAC address, as its Event requests: vm-a keeps its address',
    async (namespace) => {
      const running = await copied(namespace);
      const stored = running.cluster.virtualMachines.objects.get(`${namespace}/vm-b`);
      if (stored === undefined) throw new Error('the copy is gone');
      const { spec } = copyIn(namespace, OTHER);
      running.cluster.virtualMachines.put({ ...stored, metadata: { ...stored.metadata, generation: 2 }, spec });
      await running.settle(60_000);
      expect(running.allocated()).toEqual({ '10.0.0.10': SHARED, '10.0.0.11': OTHER });
    },
  );

  it('the controller ends at that moment, and the next one assigns the address to the older virtual machine, because the copy never had it', async () => {
    const running = await Running.withPool({ start: '10.0.0.10', end: '10.0.0.11' });
    await running.add(withShared('vm-a'));
    await running.settle();
    await running.add(copyIn('default', SHARED));
    await running.settle();
    void running.controller.stop();
    running.cluster.networkConfigs.remove('default/vm-a');
    await running.restart();
    await running.settle(60_000);
    expect(conditionsOf(running, 'vm-a')).toContain('Allocated=True');
    expect(conditionsOf(running, 'vm-b')).toContain('Allocated=False MacAddressClaimedTwice');
  });
});

describe('vm-a and vm-b are stopped and have an address each, vm-c waits for one', () => {
  const mac = (name: string) => `02:00:00:00:00:0${name.at(-1)}`;

  async function full(): Promise<Running> {
    const running = await Running.withPool({ start: '10.0.0.10', end: '10.0.0.11' });
    for (const name of ['vm-a', 'vm-b', 'vm-c']) {
      await running.add(virtualMachine(name, { interfaces: { nic: [mac(name), 'net-1'] } }));
      await running.settle();
    }
    return running;
  }

  const setMac = (running: Running, name: string, macAddress: string) =>
    running.change('VirtualMachine', name, (vm) => ({
      ...vm,
      spec: virtualMachine(name, { interfaces: { nic: [macAddress, 'net-1'] } }).spec,
    }));

  it.each([0, 60_000])('they swap their MAC addresses, %i ms after each other: each keeps its address', async (pauseMs) => {
    const running = await full();
    setMac(running, 'vm-a', mac('vm-b'));
    await running.settle(pauseMs);
    setMac(running, 'vm-b', mac('vm-a'));
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': mac('vm-b'), '10.0.0.11': mac('vm-a') });
  });

  it.each([false, true])(
    'vm-b gets the MAC address of vm-a by mistake, then one of its own (a restart between: %s): it keeps its address',
    async (restarts) => {
      const running = await full();
      setMac(running, 'vm-b', mac('vm-a'));
      await running.settle(60_000);
      expect(conditionsOf(running, 'vm-b')).toContain('Allocated=False MacAddressClaimedTwice');
      expect(running.allocated()).toEqual({ '10.0.0.10': mac('vm-a'), '10.0.0.11': mac('vm-b') });
      if (restarts) await running.restart();
      setMac(running, 'vm-b', mac('vm-d'));
      await running.settle(60_000);
      expect(running.allocated()).toEqual({ '10.0.0.10': mac('vm-a'), '10.0.0.11': mac('vm-d') });
    },
  );

  it('vm-b gets the MAC address of vm-a by mistake and is deleted: its address goes to vm-c', async () => {
    const running = await full();
    setMac(running, 'vm-b', mac('vm-a'));
    await running.settle();
    await running.remove('VirtualMachine', 'vm-b');
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': mac('vm-a'), '10.0.0.11': mac('vm-c') });
  });
});

it('the interfaces of vm-a pass a MAC address on to each other, while vm-b waits with the remaining one: vm-a keeps both addresses', async () => {
  const running = await Running.withPool({ start: '10.0.0.10', end: '10.0.0.11' });
  const nic = (octet: string) => [`02:00:00:00:00:0${octet}`, 'net-1'] as const;
  const setNics = async (one: string, two: string) => {
    const { spec } = virtualMachine('vm-a', { interfaces: { one: nic(one), two: nic(two) } });
    running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, spec }));
    await running.settle(60_000);
  };
  await running.add(virtualMachine('vm-a', { interfaces: { one: nic('1'), two: nic('2') } }));
  await running.settle();
  await running.add(virtualMachine('vm-b', { interfaces: { nic: nic('9') } }));
  await running.settle();
  await setNics('9', '1');
  expect(Object.values(running.allocated()).toSorted()).toEqual(['02:00:00:00:00:01', '02:00:00:00:00:09']);
  await setNics('1', '3');
  expect(Object.values(running.allocated()).toSorted()).toEqual(['02:00:00:00:00:01', '02:00:00:00:00:03']);
});
