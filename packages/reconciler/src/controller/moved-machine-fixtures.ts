/** Machines that run, and the networks `net-1` and so on to which KubeVirt moves them: the pool of each has one address. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect } from 'vitest';
import { instance, network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

export const MAC = '02:00:00:00:00:0a';
export const OTHER_MAC = '02:00:00:00:00:0b';
/** What a pool records while `vm-a` has its address. */
export const HELD = { '10.0.0.10': MAC };
export const machineOn = (net: string) => virtualMachine('vm-a', { interfaces: { nic: [MAC, net] } });
export const runsOn = (net: string) => ({ interfaces: { nic: [net, MAC, MAC] as const } });

/** A controller with these networks and no machine. */
export async function networks(count: number): Promise<Running> {
  const running = new Running();
  running.hasWallClock = true;
  for (let n = 1; n <= count; n++)
    await running.add(
      network(`net-${n}`),
      pool(`pool-${n}`, { network: `default/net-${n}`, start: '10.0.0.10', end: '10.0.0.10' }),
    );
  return running.started();
}

/** `vm-a` runs on `net-1`; there is a second network. */
export async function runningMachine(): Promise<Running> {
  const running = await networks(2);
  await running.add(machineOn('net-1'));
  running.startInstance('vm-a', runsOn('net-1'));
  await running.settle();
  expect(running.allocated('pool-1')).toEqual(HELD);
  return running;
}

/** KubeVirt changes the instance to this form of `vm-a`; its guest moves later, by a live migration. */
export function move(running: Running, { spec }: KubernetesObject): void {
  running.change('VirtualMachine', 'vm-a', (vm) => ({ ...vm, spec }));
  running.change('VirtualMachineInstance', 'vm-a', (vmi) => {
    const { networks: wanted } = (spec as { template: { spec: { networks: unknown } } }).template.spec;
    return { ...vmi, spec: { ...(vmi.spec as object), networks: wanted } };
  });
}

/** The instance of `vm-a` after a restart that was not seen as one. */
export function putSecondInstance(running: Running, net: string): void {
  const ownerUid = running.cluster.virtualMachines.objects.get('default/vm-a')?.metadata.uid ?? '';
  const made = instance('vm-a', { ...runsOn(net), ownerUid });
  running.cluster.virtualMachineInstances.put({ ...made, metadata: { ...made.metadata, uid: 'second-instance' } });
}

/** What the pool of `net-1` records after `vm-b` has wanted its address for this long. */
export async function afterAnotherWants(running: Running, waitMs = 60_000): Promise<unknown> {
  await running.add(virtualMachine('vm-b', { interfaces: { nic: [OTHER_MAC, 'net-1'] } }));
  await running.settle(waitMs);
  return running.allocated('pool-1');
}
