import { type MergePatch, readList, readText } from '@vmdhcp/kube-runtime';
import { beforeAll, describe, expect, it, vi } from 'vitest';

import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

/** All reservations are outside the subnet: 4,096 problems. */
const wrongReservations = (second: number) =>
  Array.from({ length: 4_096 }, (_, index) => ({
    macAddress: `02:00:00:01:${hex(index >>> 8)}:${hex(index & 255)}`,
    ipAddress: `172.${second}.${index >>> 8}.${index & 255}`,
  }));
const hex = (octet: number): string => octet.toString(16).padStart(2, '0');
const octets = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const messagesOf = (object: { readonly status?: unknown } | undefined): string[] =>
  readList(object?.status, 'conditions').map((condition) => readText(condition, 'message') ?? '');

/** All patches of VirtualMachineNetworkConfigs from here on. */
function patchesOf({ cluster: { networkConfigs } }: Running): { readonly patches: MergePatch[]; readonly stop: () => void } {
  const patches: MergePatch[] = [];
  const spies = (['patch', 'patchStatus'] as const).map((name) => {
    const write = networkConfigs[name].bind(networkConfigs);
    return vi.spyOn(networkConfigs, name).mockImplementation((target, patch) => {
      patches.push(patch);
      return write(target, patch);
    });
  });
  const stop = () => {
    for (const spy of spies) spy.mockRestore();
  };
  return { patches, stop };
}

describe('an IPPool with 4,096 wrong reservations, and 1,000 virtual machines', () => {
  const running = new Running();
  const machines = Array.from({ length: 1_000 }, (_, index) =>
    virtualMachine(`vm-${index}`, { interfaces: { nic: [`02:00:00:02:${hex(index >>> 8)}:${hex(index & 255)}`, 'net-1'] } }),
  );
  const storedPool = () => running.cluster.ipPools.objects.get('default/pool-1');

  beforeAll(async () => {
    await running.add(network(), pool('pool-1', { ipv4Config: { reservations: wrongReservations(16) } }));
    for (const machine of machines)
      running.cluster.virtualMachines.put({ ...machine, metadata: { ...machine.metadata, uid: machine.metadata.name } });
    await running.started();
    await running.settle(30_000);
  });

  it('names the first problems and how many more, in a status of less than 4 kB', () => {
    const messages = messagesOf(storedPool());
    expect(messages.join()).toContain(
      'reservations[0].ipAddress: 172.16.0.0 is outside 10.0.0.0/24; choose an address inside the subnet or correct the cidr; ',
    );
    expect(messages.join()).toContain('; and 4,093 more');
    expect(Math.max(...messages.map(octets))).toBeLessThanOrEqual(1_026);
    expect(octets(storedPool()?.status)).toBeLessThan(4_096);
  });

  it('no Event has a message of more than 1,024 octets', () => {
    const events = [...running.cluster.events.objects.values()];
    expect(events.map(({ reason }) => reason)).toContain('PoolInvalid');
    expect(Math.max(...events.map(({ message }) => Buffer.byteLength(message)))).toBeLessThanOrEqual(1_024);
  });

  it('an edit that makes it valid and one that makes it invalid again cost 1,000 patches of less than 1 MB each', async () => {
    const edit = async (text: Parameters<typeof pool>[1]): Promise<number[]> => {
      const { patches, stop } = patchesOf(running);
      running.change('IPPool', 'pool-1', (object) => ({ ...object, spec: pool('pool-1', text).spec }));
      await running.settle(30_000);
      stop();
      expect(patches).toHaveLength(1_000);
      return patches.map(octets);
    };
    const sum = (sizes: readonly number[]) => sizes.reduce((total, one) => total + one, 0);
    const wide = { cidr: '10.0.0.0/16', pool: { start: '10.0.1.0', end: '10.0.9.0' } };
    expect(sum(await edit({ ipv4Config: wide }))).toBeLessThan(1_000_000);
    expect(sum(await edit({ ipv4Config: { ...wide, reservations: wrongReservations(16) } }))).toBeLessThan(1_000_000);
    expect(messagesOf(running.networkConfig('vm-999'))).toContain(
      'IPPool default/pool-1 is invalid, so nothing new is allocated; its condition CacheReady names the problems',
    );
  }, 30_000);

  it('an edit that replaces its problems with others causes no patch of a VirtualMachineNetworkConfig', async () => {
    const { patches } = patchesOf(running);
    running.change('IPPool', 'pool-1', (object) => ({
      ...object,
      spec: pool('pool-1', { ipv4Config: { reservations: wrongReservations(17) } }).spec,
    }));
    await running.settle(30_000);
    expect(messagesOf(storedPool()).join()).toContain('172.17.0.0 is outside');
    expect(patches).toHaveLength(0);
  });
});

describe('texts in objects of others', () => {
  it('a virtual machine with 6,000 wrong names in its annotations makes a few short Events', async () => {
    const running = await Running.withPool();
    const names = Array.from({ length: 6_000 }, (_, index) => `nic-${index}-${'x'.repeat(20)}`);
    const annotations = {
      'network.harvesterhci.io/dhcp-opt-out': names.join(),
      ...Object.fromEntries(names.map((name) => [`static-ip.harvesterhci.io/${name}`, '10.0.0.7'])),
    };
    await running.add(virtualMachine('vm-a', { annotations }));
    await running.settle();
    const events = [...running.cluster.events.objects.values()];
    expect(events.map(({ reason }) => reason).toSorted()).toEqual(['OptOutWithoutInterface', 'StaticAddressWithoutInterface']);
    expect(Math.max(...events.map(({ message }) => octets(message)))).toBeLessThan(1_024);
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
  });
});
