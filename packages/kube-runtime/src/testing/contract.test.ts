import { describe, it } from 'vitest';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { LEASE_STORE_CONTRACT, OBJECT_CLIENT_CONTRACT } from './contract.js';
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

describe('objects in memory', () => {
  it.each(OBJECT_CLIENT_CONTRACT)('$name', async ({ check }) => {
    const clock = new FakeClock();
    await check({
      client: new MemoryResource<KubernetesObject>(clock),
      object: (name, text = 'some') => ({ metadata: { namespace: 'default', name }, spec: { text } }),
      specPatch: (text) => ({ spec: { text } }),
      status: { ready: true },
      wait: (answer) => passing(clock, answer),
      until: async (what, look) => {
        for (let turn = 0; !look(); turn++) {
          if (turn > 1_000) throw new Error(`waited in vain for ${what}`);
          await clock.advance(10);
        }
      },
    });
  });
});

describe('a lease in memory', () => {
  it.each(LEASE_STORE_CONTRACT)('$name', async ({ check }) => {
    const store = new MemoryLeaseStore();
    await check({ one: store, other: store, wait: (answer) => answer });
  });
});
