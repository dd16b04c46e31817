/** The addresses of a virtual machine in its own annotations, for people and programs that look there. */
import { ASSIGNED_ADDRESSES_ANNOTATION as ASSIGNED, CUSTOM_IP_ANNOTATION as CUSTOM } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';
import { slowWatch } from './slow-watch-fixtures.js';

const TWO = { front: ['02:00:00:00:00:0a', 'net-1'], back: ['02:00:00:00:00:0b', 'net-2'] } as const;
const UNUSED = '10.0.0.99';

async function started(annotatesMachines = true, ...machines: readonly KubernetesObject[]): Promise<Running> {
  const running = new Running({}, { annotatesMachines });
  slowWatch(running, running.cluster.networkConfigs, 500);
  const second = pool('pool-2', { network: 'default/net-2', start: '10.0.0.50', end: '10.0.0.59' });
  await running.add(network(), network('net-2'), pool(), second, ...machines);
  return running.started();
}

function shown(running: Running, name = 'vm-a'): Readonly<Record<string, string>> {
  return running.cluster.virtualMachines.objects.get(`default/${name}`)?.metadata.annotations ?? {};
}

function annotate(running: Running, annotations: Readonly<Record<string, string>>): void {
  running.change('VirtualMachine', 'vm-a', ({ metadata, ...object }) => ({ ...object, metadata: { ...metadata, annotations } }));
}

describe('with annotatesMachines', () => {
  it('a machine names the addresses of all its interfaces, and the first one for the list of Harvester', async () => {
    const running = await started(true, virtualMachine('vm-a', { interfaces: TWO }));
    expect(JSON.parse(shown(running)[ASSIGNED] ?? '')).toEqual({ front: ['10.0.0.10'], back: ['10.0.0.50'] });
    expect(shown(running)[CUSTOM]).toBe('10.0.0.10');
  });

  it('takes one write for each machine, and none when the controller starts again', async () => {
    const running = await started(true);
    const written: string[] = [];
    running.cluster.virtualMachines.onWritten = (what, key) => written.push(`${what} ${key}`);
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'));
    await running.settle();
    const patches = () => written.filter((one) => one.startsWith('patch')).toSorted();
    expect(patches()).toEqual(['patch default/vm-a', 'patch default/vm-b']);
    await running.restart();
    expect(patches()).toHaveLength(2);
  });

  it('the annotations follow the address: it moves, gets IPv6 beside it, and is freed', async () => {
    const running = await started(true, virtualMachine('vm-a'));
    annotate(running, { ...shown(running), 'static-ip.harvesterhci.io/nic': '10.0.0.15' });
    running.change('IPPool', 'pool-1', (object) => ({
      ...object,
      spec: { ...(object.spec as object), ipv6Config: { cidr: '2001:db8::/64' } },
    }));
    await running.settle();
    expect(shown(running)).toMatchObject({ [ASSIGNED]: '{"nic":["10.0.0.15","2001:db8::f"]}', [CUSTOM]: '10.0.0.15' });

    annotate(running, { ...shown(running), 'network.harvesterhci.io/dhcp-opt-out': 'true' });
    await running.settle(20_000);
    expect(running.allocated()).toEqual({});
    expect(Object.keys(shown(running))).not.toContain(ASSIGNED);
    expect(Object.keys(shown(running))).not.toContain(CUSTOM);
  });

  it('an address that a paused config only remembers is not shown', async () => {
    const running = await started(true, virtualMachine('vm-a'));
    running.change('VirtualMachineNetworkConfig', 'vm-a', (object) => ({
      ...object,
      spec: { ...(object.spec as object), paused: true },
    }));
    await running.settle(20_000);
    expect(JSON.stringify(running.networkConfig('vm-a')?.status)).toContain('10.0.0.10');
    expect(shown(running)).toEqual({});
  });

  it('an address for the list of Harvester that somebody else has written stays, whatever happens', async () => {
    const running = await started(true, virtualMachine('vm-a', { annotations: { [CUSTOM]: UNUSED } }));
    expect(shown(running)).toEqual({ [CUSTOM]: UNUSED, [ASSIGNED]: '{"nic":["10.0.0.10"]}' });
    annotate(running, { ...shown(running), 'network.harvesterhci.io/dhcp-opt-out': 'true' });
    await running.settle(20_000);
    expect(shown(running)).toEqual({ [CUSTOM]: UNUSED, 'network.harvesterhci.io/dhcp-opt-out': 'true' });
  });

  it('so does one that is written while the watch of virtual machines is late', async () => {
    const running = new Running({}, { annotatesMachines: true });
    slowWatch(running, running.cluster.virtualMachines, 2_000);
    await running.add(network(), pool());
    await running.started();
    await running.add(virtualMachine('vm-a'));
    await running.settle(1_000);
    annotate(running, { [CUSTOM]: UNUSED });
    await running.settle(20_000);
    expect(shown(running)).toEqual({ [CUSTOM]: UNUSED, [ASSIGNED]: '{"nic":["10.0.0.10"]}' });
  });

  it('addresses that somebody else writes or deletes come back', async () => {
    const running = await started(true, virtualMachine('vm-a'));
    annotate(running, { [ASSIGNED]: `{"nic":["${UNUSED}"]}` });
    await running.settle();
    expect(shown(running)).toEqual({ [ASSIGNED]: '{"nic":["10.0.0.10"]}', [CUSTOM]: '10.0.0.10' });
    annotate(running, {});
    await running.settle();
    expect(shown(running)).toEqual({ [ASSIGNED]: '{"nic":["10.0.0.10"]}', [CUSTOM]: '10.0.0.10' });
  });

  it('a machine that starts with another MAC address has the same annotations all the time', async () => {
    const running = await started(true, virtualMachine('vm-a', { interfaces: { nic: [undefined, 'net-1'] } }));
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, '02:00:00:00:00:01'] } });
    await running.settle();
    const before = shown(running);
    expect(before[CUSTOM]).toBe('10.0.0.10');
    const patched: string[] = [];
    running.cluster.virtualMachines.onWritten = (what) => patched.push(what);
    running.stopInstance('vm-a');
    await running.settle();
    running.startInstance('vm-a', { interfaces: { nic: ['net-1', undefined, '02:00:00:00:00:02'] } });
    await running.settle();
    expect(patched).toEqual([]);
    expect(shown(running)).toEqual(before);
    expect(Object.values(running.allocated())).toEqual(['02:00:00:00:00:02']);
  });
});

it('without annotatesMachines no virtual machine is ever written', async () => {
  const running = await started(false, virtualMachine('vm-a'));
  expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
  expect(shown(running)).toEqual({});
});
