/** The IPv6 address of an interface, where people look: in the status of its VirtualMachineNetworkConfig. */
import { readList, readText } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

function setIpv6(running: Running, ipv6Config: object | undefined): void {
  running.change('IPPool', 'pool-1', ({ spec, ...object }) => {
    const { ipv6Config: _, ...rest } = spec as { ipv6Config?: object };
    return { ...object, spec: { ...rest, ...(ipv6Config && { ipv6Config }) } };
  });
}

/** `10.0.0.10 2001:db8::a`, of each interface with an address. */
function addresses(running: Running, name: string): string[] {
  const entries = readList(running.cluster.networkConfigs.objects.get(`default/${name}`)?.status, 'networkConfigs');
  const shown = ['allocatedIPAddress', 'allocatedIPv6Address'] as const;
  return entries.map((entry) => shown.flatMap((field) => readText(entry, field) ?? []).join(' '));
}

describe('a pool with ipv6Config', () => {
  it('shows both addresses of each machine while it has IPv6', async () => {
    const running = await Running.withPool({ start: '10.0.0.10', end: '10.0.0.12' });
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'));
    await running.settle();
    expect(addresses(running, 'vm-a')).toEqual(['10.0.0.10']);

    setIpv6(running, { cidr: '2001:db8::/64' });
    await running.settle();
    expect(addresses(running, 'vm-a')).toEqual(['10.0.0.10 2001:db8::a']);
    expect(addresses(running, 'vm-b')).toEqual(['10.0.0.11 2001:db8::b']);

    setIpv6(running, { cidr: 'fd00:48::/64' });
    await running.settle();
    expect(addresses(running, 'vm-a'), 'another prefix').toEqual(['10.0.0.10 fd00:48::a']);

    setIpv6(running, { cidr: 'ff02::/64' });
    await running.settle();
    expect(addresses(running, 'vm-a'), 'a prefix that cannot be served is ignored').toEqual(['10.0.0.10']);

    setIpv6(running, { cidr: 'fd00:48::/64' });
    await running.settle();
    setIpv6(running, undefined);
    await running.settle();
    expect(addresses(running, 'vm-a'), 'without IPv6').toEqual(['10.0.0.10']);
  });

  it('writes no more for two addresses than for one', async () => {
    const writes = async (ipv6Config: object | undefined): Promise<string[]> => {
      const running = await Running.withPool({ start: '10.0.0.10', end: '10.0.0.12' });
      setIpv6(running, ipv6Config);
      await running.settle();
      const written: string[] = [];
      for (const resource of running.cluster.resources) resource.onWritten = (what, key) => void written.push(`${what} ${key}`);
      await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'));
      await running.settle();
      expect(addresses(running, 'vm-b')).toEqual([ipv6Config === undefined ? '10.0.0.11' : '10.0.0.11 2001:db8::b']);
      return written.toSorted();
    };
    expect(await writes({ cidr: '2001:db8::/64' })).toEqual(await writes(undefined));
  });

  it('corrects an IPv6 address that somebody writes into a status', async () => {
    const running = await Running.withPool({ start: '10.0.0.10', end: '10.0.0.12' });
    setIpv6(running, { cidr: '2001:db8::/64' });
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    running.change('VirtualMachineNetworkConfig', 'vm-a', ({ status, ...object }) => {
      const [entry] = readList(status, 'networkConfigs') as object[];
      return {
        ...object,
        status: { ...(status as object), networkConfigs: [{ ...entry, allocatedIPv6Address: '2001:db8::b' }] },
      };
    });
    await running.settle();
    expect(addresses(running, 'vm-a')).toEqual(['10.0.0.10 2001:db8::a']);
  });

  it('shows no IPv6 address of a paused machine', async () => {
    const running = await Running.withPool({ start: '10.0.0.10', end: '10.0.0.12' });
    setIpv6(running, { cidr: '2001:db8::/64' });
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    expect(addresses(running, 'vm-a')).toEqual(['10.0.0.10 2001:db8::a']);
    running.change('VirtualMachineNetworkConfig', 'vm-a', ({ spec, ...object }) => ({
      ...object,
      spec: { ...(spec as object), paused: true },
    }));
    await running.settle();
    expect(addresses(running, 'vm-a')).toEqual(['10.0.0.10']);
  });
});
