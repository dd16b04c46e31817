/** MAC addresses that KubeVirt chose on the pod network: they survive the stop of the machine, and a restart or another leader. */
import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { memoryApi } from '../fixtures/memory-api-fixtures.js';
import { MemoryCluster } from '../fixtures/memory-cluster-fixtures.js';
import { memoryRecordName } from '../virtual-machine/memory-record.js';
import { DhcpController } from './dhcp-controller.js';

const [CHOSEN, OTHER] = ['02:00:00:00:00:01', '02:00:00:00:00:02'];
const NAMESPACE = 'vmdhcp-system';

const devices = { interfaces: [{ name: 'default', masquerade: {} }] };
const shape = { domain: { devices }, networks: [{ name: 'default', pod: {} }] };

function machine(name: string, uid = `uid-${name}`): KubernetesObject {
  const metadata = { namespace: 'lab', name, uid };
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata, spec: { template: { spec: shape } } };
}

function instance(name: string, macAddress: string, uid = `uid-${name}`): KubernetesObject {
  const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name, uid };
  return {
    metadata: { namespace: 'lab', name, uid: `${name}-${macAddress}`, ownerReferences: [owner] },
    spec: shape,
    status: { phase: 'Running', interfaces: [{ name: 'default', mac: macAddress, infoSource: 'domain' }] },
  };
}

/** A cluster, and replicas of the controller in it. */
function remembering() {
  const clock = new FakeClock();
  const cluster = new MemoryCluster(clock);
  const { configMaps } = cluster;
  const problems: string[] = [];
  const errors: string[] = [];
  const writes: string[] = [];
  configMaps.onWritten = (what, key) => writes.push(`${what} ${key}`);
  const replica = async (isLeader: boolean) => {
    const controller = new DhcpController({
      ...memoryApi({ ...cluster }, clock),
      clock,
      now: () => '2026-01-01T00:00:00Z',
      random: () => 0.5,
      identity: 'me',
      macAddressMemory: { namespace: NAMESPACE },
      observer: {
        onMemoryProblem: ({ message }) => problems.push(message),
        onReadError: (kind, error) => errors.push(`${kind}: ${(error as Error).message}`),
      },
    });
    controller.start();
    if (isLeader) controller.lead();
    await clock.advance(1_000);
    return controller;
  };
  const stopped = async (controller: DhcpController) => {
    const stopping = controller.stop();
    await clock.advance(100);
    await stopping;
  };
  const runs = async (name: string, macAddress: string) => {
    cluster.virtualMachineInstances.put(instance(name, macAddress));
    await clock.advance(10);
  };
  const stops = async (name: string) => {
    cluster.virtualMachineInstances.remove(`lab/${name}`);
    await clock.advance(10);
  };
  const data = (name: string) => readField(configMaps.objects.get(`${NAMESPACE}/${memoryRecordName(`lab/${name}`)}`), 'data');
  return { clock, cluster, configMaps, problems, errors, writes, replica, stopped, runs, stops, data };
}

const addressesOf = ({ inventory }: DhcpController, name: string) => inventory.get(`lab/${name}`)?.macAddresses;

describe('an address that KubeVirt chose on the pod network', () => {
  it('a story: learned, written once, kept while stopped and over a restart, replaced, and forgotten with its machine', async () => {
    const { clock, cluster, writes, replica, stopped, runs, stops, data } = remembering();
    cluster.virtualMachines.put(machine('web'));
    const first = await replica(true);
    expect(addressesOf(first, 'web')).toEqual([]);
    await runs('web', CHOSEN);
    await stops('web');
    expect([addressesOf(first, 'web'), writes]).toEqual([[CHOSEN], []]);
    await clock.advance(3_000);
    expect(data('web')).toEqual({ 'lab.web': `{"uid":"uid-web","interfaces":{"default":"${CHOSEN}"}}` });
    await stopped(first);

    const second = await replica(true);
    expect(addressesOf(second, 'web')).toEqual([CHOSEN]);
    await runs('web', CHOSEN);
    await clock.advance(3_000);
    expect(writes).toEqual([`create ${NAMESPACE}/${memoryRecordName('lab/web')}`]);
    await runs('web', OTHER);
    await stops('web');
    await clock.advance(3_000);
    expect([addressesOf(second, 'web'), writes.length]).toEqual([[OTHER], 2]);

    cluster.virtualMachines.remove('lab/web');
    await clock.advance(3_000);
    expect([second.inventory.get('lab/web'), data('web')]).toEqual([undefined, {}]);
    await stopped(second);
  });

  it('a new machine of the same name does not inherit it, even if it was created while no controller was running', async () => {
    const { clock, cluster, replica, stopped, runs, stops, data } = remembering();
    cluster.virtualMachines.put(machine('web'));
    const first = await replica(true);
    await runs('web', CHOSEN);
    await stops('web');
    await clock.advance(3_000);
    await stopped(first);
    cluster.virtualMachines.put(machine('web', 'uid-of-another'));
    const second = await replica(true);
    await clock.advance(3_000);
    expect([addressesOf(second, 'web'), data('web')]).toEqual([[], {}]);
    await stopped(second);
  });

  it('a machine that was deleted while no controller was running is forgotten', async () => {
    const { clock, cluster, replica, stopped, runs, stops, data } = remembering();
    cluster.virtualMachines.put(machine('web'));
    const first = await replica(true);
    await runs('web', CHOSEN);
    await stops('web');
    await clock.advance(3_000);
    await stopped(first);
    cluster.virtualMachines.remove('lab/web');
    const second = await replica(true);
    await clock.advance(3_000);
    expect(data('web')).toEqual({});
    await stopped(second);
  });

  it('a standby replica knows it, writes nothing, and continues with it as leader', async () => {
    const { clock, cluster, writes, replica, stopped, runs, stops } = remembering();
    cluster.virtualMachines.put(machine('web'));
    await runs('web', CHOSEN);
    const [leader, standby] = [await replica(true), await replica(false)];
    await clock.advance(3_000);
    await stops('web');
    expect([addressesOf(standby, 'web'), writes.length]).toEqual([[CHOSEN], 1]);
    await stopped(leader);
    const late = await replica(false);
    expect(addressesOf(late, 'web')).toEqual([CHOSEN]);
    late.lead();
    await runs('web', OTHER);
    await clock.advance(5_000);
    expect(writes).toHaveLength(2);
    await stops('web');
    expect([addressesOf(late, 'web'), addressesOf(standby, 'web')]).toEqual([[OTHER], [OTHER]]);
    await stopped(standby);
    await stopped(late);
  });

  it('many machines that start at once cause few writes', async () => {
    const { clock, cluster, writes, replica, stopped } = remembering();
    const names = Array.from({ length: 200 }, (_, index) => `vm-${index}`);
    for (const name of names) cluster.virtualMachines.put(machine(name));
    const controller = await replica(true);
    for (const [index, name] of names.entries()) {
      cluster.virtualMachineInstances.put(instance(name, `02:00:00:00:01:${index.toString(16).padStart(2, '0')}`));
      await clock.advance(5);
    }
    await clock.advance(5_000);
    expect(writes).toHaveLength(16);
    await stopped(controller);
  });
});

describe('changes of the ConfigMaps by other clients', () => {
  const forged = (name: string, data: Record<string, string>): KubernetesObject => {
    const metadata = { namespace: NAMESPACE, name, labels: { 'network.harvesterhci.io/mac-address-memory': 'true' } };
    return { metadata, data } as unknown as KubernetesObject;
  };

  it('a broken entry is reported once and removed, and does not affect others', async () => {
    const { clock, cluster, configMaps, problems, replica, stopped, data } = remembering();
    cluster.virtualMachines.put(machine('web'));
    const good = `{"uid":"uid-web","interfaces":{"default":"${CHOSEN}"}}`;
    configMaps.put(forged(memoryRecordName('lab/web'), { 'lab.web': good, 'lab.x': '{', 'nothing to do': '' }));
    const controller = await replica(true);
    await clock.advance(3_000);
    expect(addressesOf(controller, 'web')).toEqual([CHOSEN]);
    expect(problems.map((message) => message.slice(0, 60))).toHaveLength(2);
    expect(data('web')).toEqual({ 'lab.web': good });
    await stopped(controller);
  });

  it('an entry neither affects another machine nor overrides the instance', async () => {
    const { clock, cluster, configMaps, replica, stopped, runs } = remembering();
    cluster.virtualMachines.put(machine('web'));
    cluster.virtualMachines.put(machine('db'));
    await runs('db', OTHER);
    configMaps.put(forged(memoryRecordName('lab/web'), { 'lab.web': `{"uid":"uid-db","interfaces":{"default":"${OTHER}"}}` }));
    configMaps.put(forged(memoryRecordName('lab/db'), { 'lab.db': `{"uid":"uid-db","interfaces":{"default":"${CHOSEN}"}}` }));
    const controller = await replica(true);
    await clock.advance(3_000);
    expect([addressesOf(controller, 'web'), addressesOf(controller, 'db')]).toEqual([[], [OTHER]]);
    expect(controller.inventory.machinesWith(OTHER as never)).toEqual(['lab/db']);
    await stopped(controller);
  });

  it.each<[string, (configMaps: MemoryCluster['configMaps'], key: string) => void]>([
    ['deletes it', (configMaps, key) => configMaps.remove(key)],
    [
      'empties it',
      (configMaps, key) => configMaps.put({ ...configMaps.objects.get(key), data: {} } as unknown as KubernetesObject),
    ],
    [
      'writes another address',
      (configMaps, key) =>
        configMaps.put({
          ...configMaps.objects.get(key),
          data: { 'lab.web': `{"uid":"uid-web","interfaces":{"default":"${OTHER}"}}` },
        } as unknown as KubernetesObject),
    ],
  ])('the leader repairs it: a person %s', async (_, act) => {
    const { clock, cluster, configMaps, replica, stopped, runs, stops, data } = remembering();
    cluster.virtualMachines.put(machine('web'));
    const controller = await replica(true);
    await runs('web', CHOSEN);
    await stops('web');
    await clock.advance(3_000);
    act(configMaps, `${NAMESPACE}/${memoryRecordName('lab/web')}`);
    await clock.advance(3_000);
    expect(addressesOf(controller, 'web')).toEqual([CHOSEN]);
    expect(data('web')).toEqual({ 'lab.web': `{"uid":"uid-web","interfaces":{"default":"${CHOSEN}"}}` });
    await stopped(controller);
  });

  it('conflicts and lost answers delay a write, but lose nothing', async () => {
    const { clock, cluster, configMaps, replica, stopped, runs, data } = remembering();
    cluster.virtualMachines.put(machine('web'));
    const controller = await replica(true);
    const faults = ['conflict', 'lost-request', 'lost-answer'] as const;
    let failed = 0;
    configMaps.writeFault = () => faults[failed++] ?? 'none';
    await runs('web', CHOSEN);
    await clock.advance(10_000);
    expect(data('web')).toEqual({ 'lab.web': `{"uid":"uid-web","interfaces":{"default":"${CHOSEN}"}}` });
    await stopped(controller);
  });
});

it('if ConfigMaps cannot be read, the inventory is complete without memory, and the error is reported', async () => {
  const { clock, cluster, configMaps, errors, replica, stopped, runs } = remembering();
  cluster.virtualMachines.put(machine('web'));
  await runs('web', CHOSEN);
  const refused = () => Promise.reject(Object.assign(new Error('configmaps is forbidden'), { status: 403 }));
  Object.assign(configMaps, { list: refused });
  const controller = await replica(true);
  await clock.advance(1_000);
  expect([controller.inventory.synced, controller.reconciling, addressesOf(controller, 'web')]).toEqual([true, true, [CHOSEN]]);
  expect(errors[0]).toBe('macAddressMemory: configmaps is forbidden');
  await stopped(controller);
});
