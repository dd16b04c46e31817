import { Resource } from '@vmdhcp/ippool-api/resources';
import {
  type ApiResource,
  type CacheListener,
  type CacheSubscription,
  type KubernetesObject,
  SharedCaches,
} from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { instance, virtualMachine } from '../fixtures/object-fixtures.js';
import { InstanceSource, type InstancesState } from './instance-source.js';

const KEY = 'default/vm-a';
const MAC = '02:00:00:00:00:0a';

function observing() {
  const clock = new FakeClock();
  const instances = new MemoryResource<KubernetesObject>(clock);
  const caches = new SharedCaches({
    open: () => instances,
    clock,
    backOff: { firstMs: 100, mostMs: 30_000, random: () => 0.5 },
  });
  const [changed, states, errors]: [string[], InstancesState[], unknown[]] = [[], [], []];
  const source = new InstanceSource({
    caches,
    resource: Resource.virtualMachineInstances,
    onChange: (key) => changed.push(key),
    onState: (state) => states.push(state),
    onError: (error) => errors.push(error),
  });
  /** Lists and watches fail with this status from now on. */
  const refuse = (status: number) => {
    const error = Object.assign(new Error(`HTTP ${status}`), { status });
    Object.assign(instances, { list: () => Promise.reject(error) });
    return error;
  };
  return { clock, instances, source, changed, states, errors, refuse };
}

describe('the instance of a virtual machine', () => {
  it('is not known before instances are listed, and afterwards is the running one', async () => {
    const { clock, instances, source, states } = observing();
    instances.put(instance('vm-a', { interfaces: { nic: ['net-1', MAC] } }));
    expect([source.of(virtualMachine('vm-a')), source.isAbsent(KEY), source.synced]).toEqual(['unreadable', false, false]);
    source.start();
    await clock.advance(10);
    expect(source.of(virtualMachine('vm-a'))).toMatchObject({ macAddresses: new Map([['nic', MAC]]) });
    expect([source.of(virtualMachine('vm-b')), source.isAbsent(KEY), source.isAbsent('default/vm-b')]).toEqual([
      undefined,
      false,
      true,
    ]);
    expect([source.synced, states]).toEqual([true, ['listed']]);
  });

  it('is unseen if the virtual machine reports one, and only another one with its name is known', async () => {
    const { clock, instances, source } = observing();
    instances.put(instance('vm-a', { phase: 'Succeeded', ownerUid: 'former' }));
    source.start();
    await clock.advance(10);
    const machine = virtualMachine('vm-a');
    const reporting = {
      ...machine,
      metadata: { ...machine.metadata, uid: 'own' },
      status: { created: true, printableStatus: 'Stopped' },
    };
    expect(source.of(reporting)).toBe('unseen');
  });
});

describe('changes of instances', () => {
  it('are reported for their interfaces, until the source stops', async () => {
    const { clock, instances, source, changed } = observing();
    source.start();
    await clock.advance(10);
    const one = instance('vm-a', { interfaces: { nic: ['net-1', MAC] } });
    instances.put(one);
    expect(changed.splice(0)).toEqual([KEY]);
    instances.put({ ...one, status: { ...(one.status as object), nodeName: 'n' } });
    expect(changed.splice(0)).toEqual([]);
    instances.put(instance('vm-a', { interfaces: { nic: ['net-2', MAC] } }));
    expect(changed.splice(0)).toEqual([KEY]);
    instances.remove(KEY);
    expect(changed.splice(0)).toEqual([KEY]);
    instances.put(instance('vm-a', { interfaces: { nic: ['net-2', MAC] } }));
    expect(changed.splice(0), 'it starts again as it was').toEqual([KEY]);
    source.stop();
    instances.remove(KEY);
    await clock.advance(1_000);
    expect(changed).toEqual([]);
  });

  it('are not reported for an instance that was never seen, and is gone', () => {
    const listeners: CacheListener[] = [];
    const changed: string[] = [];
    const none = { get: () => undefined } as unknown as CacheSubscription;
    const caches = {
      subscribe: (_: ApiResource, listener: CacheListener) => {
        listeners.push(listener);
        return none;
      },
    };
    const ignore = () => undefined;
    const settings = { caches, resource: Resource.virtualMachineInstances, onState: ignore, onError: ignore };
    const source = new InstanceSource({ ...settings, onChange: (key) => changed.push(key) });
    listeners[0]?.onChange(KEY, false);
    expect([source.synced, changed]).toEqual([false, []]);
  });
});

describe('instances that cannot be listed', () => {
  it.each<[number, InstancesState[], number]>([
    [403, ['forbidden'], 0],
    [404, ['kind-missing'], 0],
    [500, [], 1],
  ])('HTTP %s: the state is %j, and %s errors are reported', async (status, expected, reported) => {
    const { clock, source, states, errors, refuse } = observing();
    const error = refuse(status);
    source.start();
    await clock.advance(10);
    expect(states).toEqual(expected);
    expect(source.state).toBe(expected[0] ?? 'unknown');
    expect(errors).toEqual(Array.from({ length: reported }, () => error));
    expect(source.synced).toBe(expected.length > 0);
  });
});

describe('a refresh', () => {
  it('end with a list, not with news of a watch in the meantime', async () => {
    const { clock, instances, source } = observing();
    source.start();
    await clock.advance(10);
    let isRefreshed = false;
    const refreshed = source.refresh().then(() => {
      isRefreshed = true;
    });
    instances.put(instance('vm-a'));
    await clock.advance(0);
    expect(isRefreshed).toBe(false);
    await clock.advance(10);
    await refreshed;
    expect(isRefreshed).toBe(true);
  });
});
