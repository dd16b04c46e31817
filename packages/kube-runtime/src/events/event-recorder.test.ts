import { describe, expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { type EventObject, EventRecorder } from './event-recorder.js';

function start() {
  const clock = new FakeClock();
  const server = new MemoryResource<EventObject>(clock);
  let serial = 0;
  const recorder = new EventRecorder({
    client: server,
    clock,
    now: () => `t${clock.nowMs()}`,
    random: () => ++serial / 1_000,
    component: 'controller',
    instance: 'one',
  });
  return { clock, server, recorder };
}

const VM = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', namespace: 'default', name: 'vm-a', uid: 'u' };
const EXHAUSTED = { type: 'Warning', reason: 'PoolExhausted', message: 'every address is in use' } as const;

describe('EventRecorder', () => {
  it('a message has at most the 1,024 octets that the API server takes', async () => {
    const { clock, server, recorder } = start();
    recorder.record(VM, { ...EXHAUSTED, message: 'é'.repeat(600) });
    recorder.record(VM, { ...EXHAUSTED, message: 'é'.repeat(700) });
    await clock.advance(100);
    expect([...server.objects.values()].map(({ message }) => Buffer.byteLength(message))).toEqual([1_023]);
  });

  it('the same Event is written once, and counted when it is still so after five minutes', async () => {
    const { clock, server, recorder } = start();
    for (let turn = 0; turn < 10; turn++) recorder.record(VM, EXHAUSTED);
    await clock.advance(300_000);
    recorder.record(VM, EXHAUSTED);
    await clock.advance(100);
    const [event, ...others] = server.objects.values();
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      ...EXHAUSTED,
      involvedObject: VM,
      count: 2,
      firstTimestamp: 't0',
      lastTimestamp: 't300000',
      metadata: { namespace: 'default' },
    });
  });

  it('a storm is cut off, and does not grow', async () => {
    const { clock, server, recorder } = start();
    for (let index = 0; index < 10_000; index++) recorder.record({ ...VM, uid: `u${index}`, name: `vm-${index}` }, EXHAUSTED);
    await clock.advance(10_000);
    expect(server.objects.size).toBe(60);
    expect(recorder.dropped).toBe(9_940);
    recorder.record({ ...VM, uid: 'later' }, EXHAUSTED);
    await clock.advance(100);
    expect(server.objects.size).toBe(61);
  });

  it('what cannot be written stops nothing', async () => {
    const { clock, server, recorder } = start();
    server.writeFault = () => 'lost-request';
    recorder.record(VM, EXHAUSTED);
    await clock.advance(100);
    server.writeFault = () => 'none';
    recorder.record(VM, { ...EXHAUSTED, message: 'something else' });
    await clock.advance(100);
    expect(server.objects.size).toBe(1);
    expect(recorder.dropped).toBe(1);
  });
});
