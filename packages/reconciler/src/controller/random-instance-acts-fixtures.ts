/** Acts on running virtual machines in random stories. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { type InstanceText, virtualMachine } from '../fixtures/object-fixtures.js';
import { type Act, NETWORKS, nicsOf, type Story } from './random-story-state-fixtures.js';

/** MAC addresses that the template names, and others that KubeVirt chooses. */
function instanceOf(story: Story, machine: KubernetesObject): InstanceText {
  const isReported = story.random(4) > 0;
  const interfaces = Object.entries(nicsOf(machine)).map(([nic, [macAddress, net]]) => {
    const reported = isReported ? (macAddress ?? story.mac()) : undefined;
    return [nic, [net, macAddress, reported] as const] as const;
  });
  return { interfaces: Object.fromEntries(interfaces) };
}

export const startInstance: Act = (story) => {
  const machine = story.machine();
  if (machine === undefined) return;
  const { name } = machine.metadata;
  story.running.stopInstance(name);
  story.running.startInstance(name, instanceOf(story, machine));
};

export const endInstance: Act = (story) => {
  const machine = story.machine();
  const name = machine?.metadata.name ?? '';
  if (!story.cluster.virtualMachineInstances.objects.has(`default/${name}`)) return;
  const how = story.random(3);
  if (how === 0) story.running.stopInstance(name);
  else {
    story.running.change('VirtualMachineInstance', name, (one) => ({
      ...one,
      ...(how === 1 && { metadata: { ...one.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      ...(how === 2 && { status: { ...(one.status as object), phase: 'Succeeded' } }),
    }));
  }
};

/** The template changes while the instance shuts down, which uses its addresses until the end. */
export const changeWhileShuttingDown: Act = async (story) => {
  const machine = story.machine();
  const name = machine?.metadata.name ?? '';
  if (!story.cluster.virtualMachineInstances.objects.has(`default/${name}`)) return;
  story.running.change('VirtualMachineInstance', name, (one) => ({
    ...one,
    metadata: { ...one.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  }));
  const interfaces = story.nics();
  story.running.change('VirtualMachine', name, (vm) => ({ ...vm, spec: virtualMachine(name, { interfaces }).spec }));
  await story.running.settle(story.random(200));
};

/** A machine is copied while it runs; then KubeVirt chooses another MAC address for the next instance. */
export const copyThenRestart: Act = async (story) => {
  const { running } = story;
  const [name, copy, mac, nextMac] = [`vm-${story.next()}`, `vm-${story.next()}`, story.mac(), story.mac()];
  const net = NETWORKS[story.random(3)] ?? 'net-1';
  story.putMachine(name, { nic: [undefined, net] }, name);
  running.startInstance(name, { interfaces: { nic: [net, undefined, mac] } });
  await running.settle(story.random(120));
  story.putMachine(copy, { nic: [mac, net] }, copy);
  await running.settle(story.random(60));
  running.stopInstance(name);
  running.startInstance(name, { interfaces: { nic: [net, undefined, nextMac] } });
};
