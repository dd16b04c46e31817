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

  it('the same Event is written once, and counted if it is recorded again after five minutes', async () => {
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

  it('fact 22: a storm of Events is cut off', async () => {
    const { clock, server, recorder } = start();
    for (let index = 0; index < 10_000; index++) recorder.record({ ...VM, uid: `u${index}`, name: `vm-${index}` }, EXHAUSTED);
    await clock.advance(10_000);
    expect(server.objects.size).toBe(60);
    expect(recorder.dropped).toBe(9_940);
    recorder.record({ ...VM, uid: 'later' }, EXHAUSTED);
    await clock.advance(100);
    expect(server.objects.size).toBe(61);
  });

  it('fact 22: an Event that cannot be written does not stop others', async () => {
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

  it('fact 19: flush writes all recorded Events; after stop none is written', async () => {
    const { clock, server, recorder } = start();
    recorder.record(VM, EXHAUSTED);
    recorder.record({ ...VM, uid: 'v' }, EXHAUSTED);
    let isFlushed = false;
    void recorder.flush().then(() => {
      isFlushed = true;
    });
    await clock.advance(2);
    expect([isFlushed, server.objects.size]).toEqual([false, 1]);
    await clock.advance(2);
    expect([isFlushed, server.objects.size]).toEqual([true, 2]);
    recorder.record({ ...VM, uid: 'w' }, EXHAUSTED);
    recorder.stop();
    recorder.record({ ...VM, uid: 'x' }, EXHAUSTED);
    await clock.advance(1_000);
    expect([server.objects.size, recorder.dropped, clock.pending]).toEqual([2, 1, 0]);
  });

  it('fact 22: memory is bounded: the oldest Event is forgotten first', async () => {
    const { clock, server, recorder } = start();
    const record = (index: number) => recorder.record({ ...VM, uid: `u${index}` }, EXHAUSTED);
    for (let index = 0; index <= 4_096; index++) {
      record(index);
      await clock.advance(200);
    }
    expect(server.objects.size).toBe(4_097);
    await clock.advance(1_000);
    record(4_096);
    record(4_095);
    await clock.advance(100);
    expect(server.objects.size).toBe(4_097);
    record(0);
    await clock.advance(100);
    expect(server.objects.size, 'written anew, as it was forgotten').toBe(4_098);
  });

  it('an Event names what it regards, who reports it, and has the namespace of what it regards', async () => {
    const { clock, server, recorder } = start();
    const { namespace: _, ...node } = { ...VM, kind: 'Node', name: 'n' };
    recorder.record(node, EXHAUSTED);
    await clock.advance(10);
    expect([...server.objects.values()]).toMatchObject([
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { namespace: 'default', name: expect.stringMatching(/^n\.[0-9a-f]+$/) },
        involvedObject: node,
        source: { component: 'controller' },
        reportingComponent: 'controller',
        reportingInstance: 'one',
        count: 1,
      },
    ]);
  });

  it('an Event that is gone when it is counted is written anew; one that the server refuses is dropped and reported', async () => {
    const { clock, server } = start();
    const errors: string[] = [];
    const recorder = new EventRecorder({
      client: server,
      clock,
      now: () => 't',
      random: () => 0.5,
      component: 'controller',
      instance: 'one',
      onError: (error) => errors.push((error as Error).message),
    });
    recorder.record(VM, EXHAUSTED);
    await clock.advance(300_000);
    for (const key of [...server.objects.keys()]) server.remove(key);
    recorder.record(VM, EXHAUSTED);
    await clock.advance(10);
    expect([...server.objects.values()].map(({ count }) => count)).toEqual([2]);
    server.writeFault = () => 'conflict';
    recorder.record(VM, { ...EXHAUSTED, reason: 'Other' });
    await clock.advance(10);
    expect([recorder.dropped, errors]).toEqual([1, [expect.stringMatching(/^event refused: /)]]);
  });
});
