import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { expect, it, vi } from 'vitest';
import { RecordingObserver } from '../testing/recording-observer.js';
import { LeaseOwners } from './lease-owners.js';

const MAC = '02:00:00:00:00:0a';
const A = { networkName: 'default/net-a', macAddress: MAC };
const B = { networkName: 'default/net-b', macAddress: MAC.toUpperCase() };

function config(name: string, spec: readonly unknown[], status: readonly unknown[] = []): KubernetesObject {
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'VirtualMachineNetworkConfig',
    metadata: { namespace: 'default', name },
    spec: { vmName: name, networkConfigs: spec },
    status: { networkConfigs: status },
  };
}

it('a MAC address has a different owner on each network, whatever its spelling', async () => {
  const clock = new FakeClock();
  const objects = new MemoryResource<KubernetesObject>(clock);
  const owners = new LeaseOwners({ client: objects, clock, random: () => 0, observer: new RecordingObserver() });
  objects.put(config('vm-a', [A]));
  objects.put(config('vm-b', [], [B]));
  objects.put(config('vm-c', [{ networkName: 'default/net-a', macAddress: 'not one' }, null]));
  expect(owners.read()('default/net-a', MAC)).toBeUndefined();
  owners.start();
  await clock.advance(100);
  const ownerOf = owners.read();
  expect(ownerOf('default/net-a', MAC)).toBe('default/vm-a');
  expect(ownerOf('default/net-b', MAC)).toBe('default/vm-b');
  expect(ownerOf('default/net-c', MAC)).toBeUndefined();
  owners.stop();
});

it('without the right to read configs there is one line in the log, and no owner', async () => {
  const clock = new FakeClock();
  const objects = new MemoryResource<KubernetesObject>(clock);
  vi.spyOn(objects, 'list').mockRejectedValue(new Error('403 Forbidden'));
  const observer = new RecordingObserver();
  const owners = new LeaseOwners({ client: objects, clock, random: () => 0, observer });
  owners.start();
  await clock.advance(600_000);
  expect(observer.events).toMatchObject([{ kind: 'owners-unreadable', error: new Error('403 Forbidden') }]);
  expect(owners.read()('default/net-a', MAC)).toBeUndefined();
  owners.stop();
});

it('owners stay as they were when the watch has stopped', async () => {
  const clock = new FakeClock();
  const objects = new MemoryResource<KubernetesObject>(clock);
  const owners = new LeaseOwners({ client: objects, clock, random: () => 0, observer: new RecordingObserver() });
  objects.put(config('vm-a', [A]));
  owners.start();
  await clock.advance(100);
  owners.stop();
  objects.put(config('vm-b', [B]));
  await clock.advance(600_000);
  const ownerOf = owners.read();
  expect([ownerOf('default/net-a', MAC), ownerOf('default/net-b', MAC)]).toEqual(['default/vm-a', undefined]);
  expect(clock.pending).toBe(0);
});
