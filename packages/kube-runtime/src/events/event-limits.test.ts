import { describe, expect, it } from 'vitest';
import type { ObjectClient } from '../api/object-client.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { settle } from '../testing/settle.js';
import { type EventObject, EventRecorder, toRegarding } from './event-recorder.js';

const VM = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', namespace: 'default', name: 'vm-a', uid: 'u' };
const EXHAUSTED = { type: 'Warning', reason: 'PoolExhausted', message: 'every address is in use' } as const;

/** A recorder of a process that has run for a while. */
async function start({ client, random = Math.random }: { client?: ObjectClient<EventObject>; random?: () => number } = {}) {
  const clock = new FakeClock();
  await clock.advance(1_000_000);
  const server = new MemoryResource<EventObject>(clock);
  const errors: unknown[] = [];
  const recorder = new EventRecorder({
    client: client ?? server,
    clock,
    now: () => `t${clock.nowMs()}`,
    random,
    component: 'controller',
    instance: 'one',
    onError: (error) => errors.push(error),
  });
  const record = (index: number) => recorder.record({ ...VM, uid: `u${index}`, name: `vm-${index}` }, EXHAUSTED);
  return { clock, server, recorder, record, errors };
}

describe('how many Events are written', () => {
  it('sixty at once, then one every 200 ms; unused ones do not add up beyond sixty', async () => {
    const { clock, server, recorder, record } = await start();
    let index = 0;
    /** Records this many Events; returns how many were written. */
    const written = async (count: number): Promise<number> => {
      const before = server.objects.size;
      for (let turn = 0; turn < count; turn++) record(index++);
      await clock.advance(150);
      await recorder.flush();
      return server.objects.size - before;
    };
    await clock.advance(3_600_000);
    expect(await written(70)).toBe(60);
    await clock.advance(49);
    expect(await written(2), 'after 199 ms').toBe(0);
    expect(await written(2), 'after 349 ms').toBe(1);
    await clock.advance(50);
    expect(await written(2), 'after 549 ms').toBe(1);
    expect(await written(2), 'after 699 ms').toBe(1);
    await clock.advance(150 + 3 * 200);
    expect(await written(9), 'four more are due').toBe(4);
  });

  it('a hundred wait for a server that is slow; more are dropped', async () => {
    const unanswered = Promise.withResolvers<never>().promise;
    const client = { create: () => unanswered, patch: () => unanswered } as unknown as ObjectClient<EventObject>;
    const { clock, recorder, record } = await start({ client });
    for (let index = 0; index < 60; index++) record(index);
    for (let index = 60; index < 100; index++) {
      await clock.advance(1_000);
      record(index);
    }
    expect(recorder.dropped).toBe(0);
    await clock.advance(60_000);
    record(100);
    expect(recorder.dropped).toBe(1);
  });

  it('the same Event is not written again within five minutes', async () => {
    const { clock, server, record } = await start();
    record(1);
    await clock.advance(299_999);
    record(1);
    await clock.advance(100);
    expect([...server.objects.values()].map(({ count }) => count)).toEqual([1]);
    record(1);
    await clock.advance(100);
    expect([...server.objects.values()].map(({ count }) => count)).toEqual([2]);
  });
});

it('an Event that is gone when it is counted is written again under its name', async () => {
  const { clock, server, record } = await start();
  record(1);
  await clock.advance(300_000);
  const keys = [...server.objects.keys()];
  for (const key of keys) server.remove(key);
  record(1);
  await clock.advance(100);
  expect(keys).toEqual([expect.stringMatching(/^default\/vm-1\.[0-9a-f]+$/)]);
  expect([...server.objects.keys()]).toEqual(keys);
});

it('a name that another Event already has is not an error', async () => {
  const { clock, server, recorder, errors } = await start({ random: () => 0.5 });
  recorder.record(VM, EXHAUSTED);
  recorder.record(VM, { ...EXHAUSTED, reason: 'Other' });
  await clock.advance(100);
  await settle();
  expect([server.objects.size, recorder.dropped, errors]).toEqual([1, 0, []]);
});

it.each([
  [
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'x', uid: 'u', labels: {} }, spec: {} },
    { apiVersion: 'v1', kind: 'Pod', namespace: 'x', name: 'a', uid: 'u' },
  ],
  [
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', uid: 'u' } },
    { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'u' },
  ],
  [{ metadata: { name: 'a', namespace: 'x' } }, { apiVersion: '', kind: '', namespace: 'x', name: 'a' }],
])('Events name %j by its kind, its name and its uid', (object, regarding) => {
  expect(toRegarding(object)).toStrictEqual(regarding);
});
