/** A range that is changed while virtual machines have addresses of it. */

import { readField, readList, readText } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

function setConfig(running: Running, change: object): void {
  running.change('IPPool', 'pool-1', ({ spec, ...object }) => {
    const { ipv4Config, ...rest } = spec as { ipv4Config: object };
    return { ...object, spec: { ...rest, ipv4Config: { ...ipv4Config, ...change } } };
  });
}

const messages = (running: Running) => [...running.cluster.events.objects.values()].map(({ message }) => message);

function setRange(running: Running, range: { readonly start: string; readonly end: string; readonly ranges?: string[] }): void {
  setConfig(running, { pool: range });
}

const cacheReady = (running: Running) =>
  running.conditions('IPPool', 'pool-1').find((condition) => condition.startsWith('CacheReady'));

describe('a range that', () => {
  it('grows assigns the new addresses to waiting machines, and all others keep their own', async () => {
    const running = await Running.withPool({ start: '10.0.0.10', end: '10.0.0.10' });
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'), virtualMachine('vm-c'));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
    expect(running.events()).toContain('PoolExhausted on VirtualMachine vm-b');
    setRange(running, { start: '10.0.0.10', end: '10.0.0.11' });
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a', '10.0.0.11': '02:00:00:00:00:0b' });
    setRange(running, { start: '10.0.0.9', end: '10.0.0.11' });
    await running.settle();
    expect(running.allocated()).toMatchObject({ '10.0.0.9': '02:00:00:00:00:0c', '10.0.0.10': '02:00:00:00:00:0a' });
  });

  it('shrinks keeps addresses in use, and reports that until the last is free', async () => {
    const running = await Running.withPool({ start: '10.0.0.10', end: '10.0.0.12' });
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'));
    await running.settle();
    setRange(running, { start: '10.0.0.11', end: '10.0.0.12' });
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a', '10.0.0.11': '02:00:00:00:00:0b' });
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('Allocated=True');
    expect(cacheReady(running)).toBe('CacheReady=True AddressOutsideRange');
    expect(running.events()).toContain('AddressOutsideRange on IPPool pool-1');
    const conditions = readList(running.cluster.ipPools.objects.get('default/pool-1')?.status, 'conditions');
    expect(
      readText(
        conditions.find((one) => readText(one, 'type') === 'CacheReady'),
        'message',
      ),
    ).toBe(
      'outside spec.ipv4Config.pool (10.0.0.11-10.0.0.12) on network default/net-1, and kept as long as their virtual machines claim them: 10.0.0.10 (default/vm-a, 02:00:00:00:00:0a); to free them, pin other addresses (annotation static-ip.harvesterhci.io/INTERFACE of the virtual machine) and restart the virtual machines that run, or delete them; to keep them for good, reserve them for their MAC addresses',
    );
    await running.restart();
    expect(running.allocated(), 'also with another controller').toMatchObject({ '10.0.0.10': '02:00:00:00:00:0a' });
    await running.remove('VirtualMachine', 'vm-a');
    await running.settle(40_000);
    expect(running.allocated()).toEqual({ '10.0.0.11': '02:00:00:00:00:0b' });
    expect(cacheReady(running)).toBe('CacheReady=True');
  });
});

describe('several ranges', () => {
  const TWO = { start: '10.0.0.10', end: '10.0.0.30', ranges: ['10.0.0.30', '10.0.0.10-10.0.0.11'] };

  it('are assigned from the lowest address on, without what lies between them', async () => {
    const running = await Running.withPool();
    setRange(running, TWO);
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'), virtualMachine('vm-c'), virtualMachine('vm-d'));
    await running.settle();
    expect(running.allocated()).toEqual({
      '10.0.0.10': '02:00:00:00:00:0a',
      '10.0.0.11': '02:00:00:00:00:0b',
      '10.0.0.30': '02:00:00:00:00:0c',
    });
    expect(running.events()).toContain('PoolExhausted on VirtualMachine vm-d');
    expect(readField(running.cluster.ipPools.objects.get('default/pool-1')?.status, 'ipv4')).toMatchObject({
      used: 3,
      available: 0,
    });
  });

  it('one that is removed is drained: its machines stay and are named, a machine made again gets an address elsewhere', async () => {
    const running = await Running.withPool();
    setRange(running, TWO);
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'), virtualMachine('vm-c'));
    await running.settle();
    setRange(running, { start: '10.0.0.30', end: '10.0.0.41', ranges: ['10.0.0.30', '10.0.0.40-10.0.0.41'] });
    await running.remove('VirtualMachine', 'vm-b');
    await running.settle(60_000);
    await running.add(virtualMachine('vm-b'));
    await running.settle();
    expect(running.allocated()).toEqual({
      '10.0.0.10': '02:00:00:00:00:0a',
      '10.0.0.30': '02:00:00:00:00:0c',
      '10.0.0.40': '02:00:00:00:00:0b',
    });
    expect(cacheReady(running)).toBe('CacheReady=True AddressOutsideRange');
    expect(messages(running).at(-1)).toContain(
      'outside spec.ipv4Config.pool (10.0.0.30, 10.0.0.40-10.0.0.41) on network default/net-1, and kept as long as their virtual machines claim them: 10.0.0.10 (default/vm-a, 02:00:00:00:00:0a);',
    );
    await running.remove('VirtualMachine', 'vm-a');
    await running.settle(60_000);
    expect(cacheReady(running)).toBe('CacheReady=True');
  });
});

describe('settings that are added later', () => {
  it.each([
    ['exclude', { pool: { start: '10.0.0.10', end: '10.0.0.19', exclude: ['10.0.0.10'] } }, 'EXCLUDED'],
    ['router', { router: '10.0.0.10' }, 'RESERVED'],
  ])(
    '%s does not free the address of a virtual machine, and is reported until the machine is deleted',
    async (_, change, mark) => {
      const running = await Running.withPool({ ipv4Config: { router: undefined } });
      await running.add(virtualMachine('vm-a'));
      await running.settle();
      setConfig(running, change);
      await running.add(virtualMachine('vm-b'));
      await running.settle(60_000);
      expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a', '10.0.0.11': '02:00:00:00:00:0b' });
      expect(cacheReady(running)).toBe('CacheReady=True ExcludedAddressInUse');
      expect(messages(running)).toEqual([
        'excluded, or the address of the router, on network default/net-1, and kept as long as their virtual machines claim them: 10.0.0.10 (default/vm-a, 02:00:00:00:00:0a); to free them, pin other addresses (annotation static-ip.harvesterhci.io/INTERFACE of the virtual machine) and restart the virtual machines that run, or delete them',
      ]);
      await running.restart();
      expect(running.allocated(), 'also with another controller').toMatchObject({ '10.0.0.10': '02:00:00:00:00:0a' });
      await running.remove('VirtualMachine', 'vm-a');
      await running.add(virtualMachine('vm-c'));
      await running.settle(60_000);
      const allocated = readField(running.cluster.ipPools.objects.get('default/pool-1')?.status, 'ipv4', 'allocated');
      expect(allocated).toMatchObject({ '10.0.0.10': mark, '10.0.0.12': '02:00:00:00:00:0c' });
      expect(cacheReady(running)).toBe('CacheReady=True');
    },
  );

  it('another CIDR, as no CRD of this version allows, moves the virtual machines, and the Event reports that', async () => {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    setConfig(running, {
      cidr: '10.0.1.0/24',
      serverIP: '10.0.1.2',
      router: '10.0.1.1',
      pool: { start: '10.0.1.10', end: '10.0.1.19' },
    });
    await running.settle(60_000);
    expect(running.allocated()).toEqual({ '10.0.1.10': '02:00:00:00:00:0a' });
    expect(running.events()).toEqual(['AddressChanged on IPPool pool-1']);
    expect(messages(running)).toEqual([
      'not addresses for clients of 10.0.1.0/24 on network default/net-1, since the settings of the pool changed: 10.0.0.10 (02:00:00:00:00:0a); their virtual machines get others: restart those that run, so that they request them',
    ]);
    expect(cacheReady(running)).toBe('CacheReady=True');
  });
});
