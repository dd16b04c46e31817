/** Acts on virtual machines and their configs in random stories. */

import { isBeingDeleted } from '@vmdhcp/kube-runtime';
import { virtualMachine } from '../fixtures/object-fixtures.js';
import { type Act, NETWORKS, nicsOf } from './random-story-state-fixtures.js';
import { expectedInterfaces } from './story-fixtures.js';

export const createMachine: Act = (story) => {
  const name = `vm-${story.next()}`;
  story.putMachine(name, story.nics(), name);
};

export const createPlainMachine: Act = (story) => {
  const name = `vm-${story.next()}`;
  story.putMachine(name, story.nics(true), name);
};

export const deleteMachine: Act = (story) => {
  const machine = story.machine();
  if (machine === undefined) return;
  story.removeMachine(machine.metadata.name);
  story.collectGarbage();
};

export const changeMachine: Act = (story) => {
  const machine = story.machine();
  if (machine === undefined) return;
  const isPlain = Object.values(nicsOf(machine)).some(([macAddress]) => macAddress === undefined);
  const interfaces = story.nics(isPlain);
  story.running.change('VirtualMachine', machine.metadata.name, (vm) => ({
    ...vm,
    spec: virtualMachine(machine.metadata.name, { interfaces }).spec,
  }));
};

/** Creates a machine again under the same name, at once or after a while, with the same interfaces, as from a backup, or others. */
export const remakeMachine: Act = async (story) => {
  const machine = story.machine();
  if (machine === undefined) return;
  const { name } = machine.metadata;
  const interfaces = story.random(2) === 0 ? nicsOf(machine) : story.nics();
  story.removeMachine(name);
  if (story.random(2) === 0) await story.running.settle(story.random(40));
  story.putMachine(name, interfaces, `${name}-${story.next()}`);
  if (story.random(2) === 0) story.collectGarbage();
};

/** Creates a copy with the machine's current MAC addresses, on the same networks or on others. */
export const copyMachine: Act = (story) => {
  const machine = story.machine();
  if (machine === undefined) return;
  const name = `vm-${story.next()}`;
  const shift = story.random(2);
  const interfaces = expectedInterfaces(story.running, machine).map((one) => {
    const index = NETWORKS.findIndex((net) => one.network === `default/${net}`);
    return [one.name, [one.macAddress, NETWORKS[(index + shift) % NETWORKS.length] ?? 'net-1'] as const] as const;
  });
  story.putMachine(name, Object.fromEntries(interfaces), name);
};

/** One MAC address on two networks of one machine. */
export const shareAcrossNetworks: Act = (story) => {
  const name = `vm-${story.next()}`;
  const mac = story.mac();
  story.putMachine(name, { one: [mac, 'net-1'], two: [mac, 'net-2'] }, name);
};

/** Pins an interface to an address, or unpins it. */
export const pinMachine: Act = (story) => {
  const machine = story.machine();
  if (machine === undefined) return;
  const [nic = 'net-1'] = Object.keys(nicsOf(machine));
  const host = [10, 50, 60][story.random(3)] ?? 10;
  const annotations = story.random(3) === 0 ? {} : { [`static-ip.harvesterhci.io/${nic}`]: `10.0.0.${host + story.random(3)}` };
  story.running.change('VirtualMachine', machine.metadata.name, (vm) => ({ ...vm, metadata: { ...vm.metadata, annotations } }));
};

export const pauseConfig: Act = (story) => {
  const machine = story.machine();
  const name = machine?.metadata.name ?? '';
  if (machine === undefined || !story.cluster.networkConfigs.objects.has(`default/${name}`)) return;
  const paused = story.random(2) === 0;
  if (paused) story.holdings.configPaused(machine);
  story.running.change('VirtualMachineNetworkConfig', name, (config) => ({
    ...config,
    spec: { ...(config.spec as object), paused },
  }));
};

export const deleteConfig: Act = async (story) => {
  const machine = story.machine();
  const stored = machine && story.cluster.networkConfigs.objects.get(`default/${machine.metadata.name}`);
  if (machine === undefined || stored === undefined) return;
  const { name, uid = '' } = stored.metadata;
  void story.cluster.networkConfigs.delete(`default/${name}`, uid).catch(() => undefined);
  await story.running.settle(2);
  story.holdings.configDeleted(machine);
};

/** Like `kubectl delete vm --cascade=orphan`: the virtual machine is being deleted, its dependents lose their owner, then it goes. */
export const orphanMachine: Act = async (story) => {
  const machine = story.machine();
  const name = machine?.metadata.name ?? '';
  const config = story.cluster.networkConfigs.objects.get(`default/${name}`);
  if (machine === undefined || config === undefined || isBeingDeleted(config)) return;
  const isIts = (config.metadata.ownerReferences ?? []).some(({ uid }) => uid === machine.metadata.uid);
  if (!isIts) return;
  const { deletionTimestamp: _, ...metadata } = machine.metadata;
  story.cluster.virtualMachines.put({ ...machine, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
  await story.running.settle(story.random(30));
  const stored = story.cluster.networkConfigs.objects.get(`default/${name}`);
  if (stored === undefined || isBeingDeleted(stored)) return;
  story.running.change('VirtualMachineNetworkConfig', name, (one) => ({
    ...one,
    metadata: { ...one.metadata, ownerReferences: [] },
  }));
  await story.running.settle(story.random(30));
  story.cluster.virtualMachines.remove(`default/${name}`);
  story.orphaned(machine);
};
