import { expect, it } from 'vitest';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { collectGarbage } from './collect-garbage.js';
import { FakeClock } from './fake-clock.js';
import { MemoryResource } from './memory-resource.js';

it('fact 24: an object is deleted when all its owners are gone, finalizers or not; others stay', async () => {
  const clock = new FakeClock();
  const [sites, pods] = [new MemoryResource(clock), new MemoryResource(clock)];
  const reference = (uid: string) => ({ apiVersion: 'v1', kind: 'Site', name: uid, uid });
  const put = (name: string, owners: readonly string[], finalizers: readonly string[] = []) => {
    const metadata = {
      name,
      uid: name,
      finalizers,
      ownerReferences: owners.map(reference),
    } satisfies KubernetesObject['metadata'];
    pods.put({ metadata });
  };
  sites.put({ metadata: { name: 'one', uid: 'one' } });
  put('owned', ['one']);
  put('shared', ['gone', 'one']);
  put('orphan', ['gone']);
  put('kept', ['gone'], ['example.com/ours']);
  put('free', []);
  const collected = collectGarbage({ owners: [sites], owned: [pods] });
  await clock.advance(10);
  await collected;
  expect([...pods.objects.keys()]).toEqual(['owned', 'shared', 'kept', 'free']);
  expect(pods.objects.get('kept')?.metadata.deletionTimestamp).toBeTypeOf('string');
});
