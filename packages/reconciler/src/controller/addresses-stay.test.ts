import { readField } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const pinned = (address: string) => ({ annotations: { 'static-ip.harvesterhci.io/nic': address } });
const conditionsOf = (running: Running, name: string) => running.conditions('VirtualMachineNetworkConfig', name);

describe('an address stays while its virtual machine exists', () => {
  it('even if its config is deleted by hand', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'));
    await running.settle();
    await running.remove('VirtualMachine', 'vm-a');
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.11': '02:00:00:00:00:0b' });
    await running.remove('VirtualMachineNetworkConfig', 'vm-b');
    await running.settle(10_000);
    expect(running.allocated()).toEqual({ '10.0.0.11': '02:00:00:00:00:0b' });
  });

  it('even if its config is deleted by hand and another machine waits for an address', async () => {
    const running = await Running.withPool({ end: '10.0.0.10' });
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    await running.add(virtualMachine('vm-b'));
    await running.settle();
    await running.remove('VirtualMachineNetworkConfig', 'vm-a');
    await running.settle(10_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
  });

  it('even if it is deleted in the foreground: its config is deleted first while the machine still shuts down', async () => {
    const running = await Running.withPool({ end: '10.0.0.10' });
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    await running.add(virtualMachine('vm-b'));
    await running.settle();
    running.change('VirtualMachine', 'vm-a', (vm) => ({
      ...vm,
      metadata: {
        ...vm.metadata,
        deletionTimestamp: '2026-01-01T01:00:00Z',
        finalizers: ['foregroundDeletion', 'kubevirt.io/virtualMachineControllerFinalize'],
      },
    }));
    await running.remove('VirtualMachineNetworkConfig', 'vm-a');
    await running.settle(10_000);
    expect(running.cluster.virtualMachines.objects.has('default/vm-a')).toBe(true);
    expect(running.allocated(), 'the running vm-a still has it').toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
  });

  it('even if its MAC address annotation is missing for a moment', async () => {
    const running = await Running.withPool({ end: '10.0.0.10' });
    const annotations = { 'harvesterhci.io/mac-address': '{"nic":"02:00:00:00:00:0a"}' };
    await running.add(virtualMachine('vm-a', { annotations, interfaces: { nic: [undefined, 'net-1'] } }));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
    await running.add(virtualMachine('vm-b'));
    await running.settle();
    running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, metadata: { ...vm.metadata, annotations: {} } }));
    await running.settle();
    running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, metadata: { ...vm.metadata, annotations } }));
    await running.settle(10_000);
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
  });

  it('even if its pool is deleted and created again, as it must be to change immutable fields', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'), virtualMachine('vm-c'));
    await running.settle();
    await running.remove('VirtualMachine', 'vm-a');
    await running.settle();
    const before = running.allocated();
    expect(before).toEqual({ '10.0.0.11': '02:00:00:00:00:0b', '10.0.0.12': '02:00:00:00:00:0c' });
    await running.remove('IPPool', 'pool-1');
    await running.settle();
    await running.add(pool('pool-1', { end: '10.0.0.29' }));
    await running.settle();
    expect(running.allocated()).toEqual(before);
  });

  it('even if an older machine takes over its MAC address, with a pin', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a', '10.0.0.11': '02:00:00:00:00:0b' });
    running.change('VirtualMachine', 'vm-a', (vm) => ({
      ...vm,
      metadata: { ...vm.metadata, ...pinned('10.0.0.15') },
      spec: virtualMachine('vm-a', { interfaces: { nic: ['02:00:00:00:00:0b', 'net-1'] } }).spec,
    }));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a', '10.0.0.11': '02:00:00:00:00:0b' });
  });

  it('even if an older machine gets its MAC address: the one that copied it has an Event', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'));
    await running.settle();
    running.change('VirtualMachine', 'vm-a', (vm) => ({
      ...vm,
      spec: virtualMachine('vm-a', { interfaces: { nic: ['02:00:00:00:00:0b', 'net-1'] } }).spec,
    }));
    await running.settle();
    expect(conditionsOf(running, 'vm-b')).toContain('Allocated=True');
    expect(conditionsOf(running, 'vm-a')).toContain('Allocated=False MacAddressClaimedTwice');
  });

  it('even if a second pool is created on its network in the same second, with a name that sorts first', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    const first = running.cluster.ipPools.objects.get('default/pool-1');
    await running.add(pool('a-pool', { start: '10.0.0.50', end: '10.0.0.59' }));
    running.change('IPPool', 'a-pool', (one) => ({
      ...one,
      metadata: { ...one.metadata, creationTimestamp: first?.metadata.creationTimestamp ?? '' },
    }));
    await running.settle();
    expect(conditionsOf(running, 'vm-a')).toContain('Allocated=True');
    expect(readField(running.networkConfig('vm-a')?.status, 'networkConfigs')).toMatchObject([
      { allocatedIPAddress: '10.0.0.10' },
    ]);
  });

  it('even if it is reserved for another client', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    running.change('IPPool', 'pool-1', (one) => {
      const spec = one.spec as { ipv4Config: object };
      return {
        ...one,
        spec: {
          ...spec,
          ipv4Config: { ...spec.ipv4Config, reservations: [{ macAddress: '02:00:00:00:00:99', ipAddress: '10.0.0.10' }] },
        },
      };
    });
    await running.settle();
    expect(running.allocated()['10.0.0.10']).toBe('02:00:00:00:00:0a');
  });
});

describe('invalid entries in the status', () => {
  it('leave a machine one of the remaining addresses, or an Event, even if they are more than a quarter of the pool', async () => {
    const running = new Running();
    await running.add(network(), pool('pool-1', { end: '10.0.0.13' }));
    running.change('IPPool', 'pool-1', (one) => ({
      ...one,
      status: { ipv4: { allocated: { '10.0.0.10': 'banana', '10.0.0.11': 'banana' }, used: 0, available: 0 } },
    }));
    await running.add(virtualMachine('vm-a'));
    await running.started();
    await running.settle(60_000);
    expect({ allocated: running.allocated(), conditions: conditionsOf(running, 'vm-a') }).toEqual({
      allocated: { '10.0.0.12': '02:00:00:00:00:0a' },
      conditions: ['Disabled=False', 'Allocated=True', 'InSynced=True'],
    });
  });

  it('do not affect a reserved address', async () => {
    const running = new Running();
    const ipv4Config = { reservations: [{ macAddress: '02:00:00:00:00:0a', ipAddress: '10.0.0.10' }] };
    await running.add(network(), pool('pool-1', { ipv4Config }));
    running.change('IPPool', 'pool-1', (one) => ({
      ...one,
      status: { ipv4: { allocated: { '10.0.0.10': 'banana' }, used: 0, available: 0 } },
    }));
    await running.add(virtualMachine('vm-a'));
    await running.started();
    await running.settle(60_000);
    expect(conditionsOf(running, 'vm-a').some((one) => one.startsWith('Allocated='))).toBe(true);
  });

  it('a value that is not text does not stop the reconciler', async () => {
    const errors: unknown[] = [];
    const running = new Running({ onRetry: (_, __, { error }) => errors.push(error) });
    await running.add(network(), pool());
    running.change('IPPool', 'pool-1', (one) => ({
      ...one,
      status: { ipv4: { allocated: { '10.0.0.10': { toString: 1, valueOf: 1 } }, used: 0, available: 0 } },
    }));
    await running.add(virtualMachine('vm-a'));
    await running.started();
    await running.settle(60_000);
    expect(errors).toEqual([]);
    expect(running.allocated()).toBeDefined();
  });

  it('a MAC address that is recorded twice is removed completely when it is no longer claimed', async () => {
    const running = new Running();
    await running.add(network(), pool());
    running.change('IPPool', 'pool-1', (one) => ({
      ...one,
      status: {
        ipv4: { allocated: { '10.0.0.10': '02:00:00:00:00:0a', '10.0.0.11': '02:00:00:00:00:0a' }, used: 0, available: 0 },
      },
    }));
    await running.add(virtualMachine('vm-a'));
    await running.started();
    await running.remove('VirtualMachine', 'vm-a');
    await running.settle(60_000);
    expect(running.allocated()).toEqual({});
  });
});

describe('several interfaces', () => {
  const nic = (octet: string, net: string) => [`02:00:00:00:00:${octet}`, net] as const;

  async function threePools() {
    const running = new Running();
    await running.add(network('net-1'), network('net-2'), network('net-3'));
    await running.add(
      pool('pool-1', { end: '10.0.0.10' }),
      pool('pool-2', { network: 'default/net-2', start: '10.0.0.30', end: '10.0.0.30', paused: true }),
      pool('pool-3', { network: 'default/net-3', start: '10.0.0.50', end: '10.0.0.59' }),
    );
    return running.started();
  }

  it('do not block other machines if one machine cannot be served', async () => {
    const running = await threePools();
    await running.add(virtualMachine('vm-b', { interfaces: { one: nic('b1', 'net-1'), two: nic('b2', 'net-2') } }));
    await running.add(virtualMachine('vm-a', { interfaces: { one: nic('a1', 'net-1'), three: nic('a3', 'net-3') } }));
    await running.settle(60_000);
    expect({ one: running.allocated('pool-1'), three: running.allocated('pool-3') }).toEqual({
      one: { '10.0.0.10': '02:00:00:00:00:a1' },
      three: { '10.0.0.50': '02:00:00:00:00:a3' },
    });
  });

  it('the same with an exhausted pool instead of a paused one', async () => {
    const running = new Running();
    await running.add(network('net-1'), network('net-2'), network('net-3'));
    await running.add(
      pool('pool-1', { end: '10.0.0.10' }),
      pool('pool-2', { network: 'default/net-2', start: '10.0.0.30', end: '10.0.0.30' }),
      pool('pool-3', { network: 'default/net-3', start: '10.0.0.50', end: '10.0.0.59' }),
    );
    await running.started();
    await running.add(virtualMachine('vm-x', { interfaces: { one: nic('c1', 'net-2') } }));
    await running.settle();
    await running.add(virtualMachine('vm-b', { interfaces: { one: nic('b1', 'net-1'), two: nic('b2', 'net-2') } }));
    await running.add(virtualMachine('vm-a', { interfaces: { one: nic('a1', 'net-1'), three: nic('a3', 'net-3') } }));
    await running.settle(60_000);
    expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': '02:00:00:00:00:a1' });
  });

  it('a machine that has its address has no Event about the exhausted pool', async () => {
    const running = new Running();
    await running.add(network('net-1'), network('net-2'));
    await running.add(
      pool('pool-1', { end: '10.0.0.10' }),
      pool('pool-2', { network: 'default/net-2', start: '10.0.0.30', end: '10.0.0.30' }),
      virtualMachine('vm-x', { interfaces: { one: nic('c1', 'net-2') } }),
      virtualMachine('vm-b', { interfaces: { one: nic('b1', 'net-1'), two: nic('b2', 'net-2') } }),
      virtualMachine('vm-a', { interfaces: { one: nic('a1', 'net-1') } }),
    );
    await running.started();
    await running.settle(60_000);
    expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': '02:00:00:00:00:a1' });
    expect(conditionsOf(running, 'vm-a')).toContain('Allocated=True');
  });
});

it('a fifth interface whose name sorts first does not cost another one its address', async () => {
  const running = await Running.withPool();
  const four = Object.fromEntries(
    ['b', 'c', 'd', 'e'].map((name, index) => [name, [`02:00:00:00:00:0${index + 1}`, 'net-1'] as const]),
  );
  await running.add(virtualMachine('vm-a', { interfaces: four }));
  await running.settle();
  const before = running.allocated();
  running.change('VirtualMachine', 'vm-a', (vm) => ({
    ...vm,
    spec: virtualMachine('vm-a', { interfaces: { ...four, a: ['02:00:00:00:00:09', 'net-1'] } }).spec,
  }));
  await running.settle();
  expect(running.allocated()).toEqual(before);
});
