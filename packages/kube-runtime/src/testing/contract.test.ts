import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { LEASE_STORE_CONTRACT, OBJECT_CLIENT_CONTRACT, type ObjectClientTarget, SCALE_CONTRACT } from './contract.js';
import { FakeClock } from './fake-clock.js';
import { MemoryLeaseStore } from './memory-lease-store.js';
import { MemoryResource } from './memory-resource.js';

async function passing<Value>(clock: FakeClock, answer: Promise<Value>): Promise<Value> {
  let isThere = false;
  const done = () => {
    isThere = true;
  };
  answer.then(done, done);
  while (!isThere) await clock.advance(1);
  return answer;
}

/** @param namespace - undefined for a cluster-scoped kind. */
function inMemory(namespace: string | undefined): ObjectClientTarget {
  const clock = new FakeClock();
  return {
    client: new MemoryResource<KubernetesObject>(clock),
    object: (name, text = 'some') => ({ metadata: { ...(namespace && { namespace }), name }, spec: { text } }),
    specPatch: (text) => ({ spec: { text } }),
    status: { ready: true },
    wait: (answer) => passing(clock, answer),
    until: async (what, look) => {
      for (let turn = 0; !look(); turn++) {
        if (turn > 1_000) throw new Error(`waited in vain for ${what}`);
        await clock.advance(10);
      }
    },
  };
}

describe('fact 24: objects in memory', () => {
  it.each(OBJECT_CLIENT_CONTRACT)('$name', ({ check }) => check(inMemory('default')));
});

describe('fact 24: objects of a cluster-scoped kind in memory', () => {
  it.each(OBJECT_CLIENT_CONTRACT)('$name', ({ check }) => check(inMemory(undefined)));
});

describe('fact 24: the scale of objects in memory', () => {
  it.each(SCALE_CONTRACT)('$name', async ({ check }) => {
    const { client, wait } = inMemory('default');
    const object = (name: string, replicas: number) => ({ metadata: { namespace: 'default', name }, spec: { replicas } });
    await check({ client, object, wait });
  });

  it('an object without replicas has no scale, and its spec stays as it is', async () => {
    const { client, wait, object } = inMemory('default');
    await wait(client.create(object('a')));
    const call = { key: 'default/a', name: 'scale', body: { spec: { replicas: 1 } } };
    for (const verb of ['get', 'patch'] as const)
      expect(await wait(client.subresource({ ...call, verb }))).toMatchObject({ ok: false, reason: 'not-found' });
    expect((await wait(client.get('default/a')))?.spec).toEqual({ text: 'some' });
  });
});

describe('subresources in memory that a test describes', () => {
  it('change the object and answer as described, or not at all', async () => {
    const clock = new FakeClock();
    const machines = new MemoryResource<KubernetesObject>(clock);
    machines.subresources.set('start', (machine, { body }) => ({ object: { ...machine, spec: { running: true, ...body } } }));
    machines.subresources.set('version', () => ({ answer: '1' }));
    machines.put({ metadata: { namespace: 'default', name: 'vm' } });
    const call = { key: 'default/vm', name: 'start', verb: 'update', body: { paused: true } } as const;
    expect(await passing(clock, machines.subresource(call))).toEqual({ ok: true, object: undefined });
    expect(machines.objects.get('default/vm')).toMatchObject({ spec: { running: true, paused: true } });
    const before = machines.objects.get('default/vm');
    expect(await passing(clock, machines.subresource({ ...call, name: 'version' }))).toEqual({ ok: true, object: '1' });
    expect(machines.objects.get('default/vm')).toBe(before);
    expect(await passing(clock, machines.subresource({ ...call, key: 'default/other' }))).toMatchObject({ reason: 'not-found' });
  });
});

describe('a lease in memory', () => {
  it.each(LEASE_STORE_CONTRACT)('$name', async ({ check }) => {
    const store = new MemoryLeaseStore();
    await check({ one: store, other: store, wait: (answer) => answer });
  });
});
