import { expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { type EventObject, EventRecorder } from './event-recorder.js';

const regarding = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'a', uid: 'a' };
const text = { type: 'Warning', reason: 'Bad', message: 'it is bad' } as const;

function setUp(onError: (error: unknown) => void = () => undefined) {
  const clock = new FakeClock();
  const client = new MemoryResource<EventObject>(clock);
  const recorder = new EventRecorder({
    client,
    clock,
    now: () => '2026-01-01T00:00:00Z',
    random: () => 0.5,
    component: 'test',
    instance: 'test-1',
    onError,
  });
  return { clock, client, recorder, events: () => [...client.objects.values()] };
}

it('an Event that could not be written is written when it is recorded again', async () => {
  const { clock, client, recorder, events } = setUp();
  client.writeFault = () => 'lost-request';
  recorder.record(regarding, text);
  await clock.advance(1_000);
  client.writeFault = () => 'none';
  recorder.record(regarding, text);
  await clock.advance(1_000);
  expect(events()).toHaveLength(1);
});

it('onError that throws, as a log may, loses no later Event', async () => {
  const { clock, client, recorder, events } = setUp(() => {
    throw new Error('boom');
  });
  client.writeFault = () => 'lost-request';
  recorder.record(regarding, text);
  await clock.advance(1_000);
  client.writeFault = () => 'none';
  recorder.record(regarding, { ...text, message: 'another' });
  await clock.advance(1_000);
  await recorder.flush().catch(() => undefined);
  expect(events()).toHaveLength(1);
});
