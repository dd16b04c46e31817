import { expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { type EventObject, EventRecorder } from './event-recorder.js';

const regarding = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'a', uid: 'a' };
const text = { type: 'Warning', reason: 'Bad', message: 'it is bad' } as const;

function setUp() {
  const clock = new FakeClock();
  const client = new MemoryResource<EventObject>(clock);
  const recorder = new EventRecorder({
    client,
    clock,
    now: () => '2026-01-01T00:00:00Z',
    random: () => 0.5,
    component: 'test',
    instance: 'test-1',
  });
  return { clock, recorder, events: () => [...client.objects.values()] };
}

it('the name of an Event is one that a server takes, whatever the name of the object', async () => {
  const { clock, recorder, events } = setUp();
  recorder.record({ ...regarding, name: 'a'.repeat(253) }, text);
  recorder.record({ ...regarding, uid: 'b', name: 'system:node' }, text);
  await clock.advance(1_000);
  for (const { metadata } of events()) expect(metadata.name).toMatch(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/);
});
