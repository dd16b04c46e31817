import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource, type WriteFault } from '../testing/memory-resource.js';
import { type EventObject, EventRecorder } from './event-recorder.js';

const HOST = { apiVersion: 'example.com/v1', kind: 'Host', name: 'rack-1', uid: 'u' };
const ENTRY = { type: 'Warning', reason: 'LogEntry', message: 'fan 1 failed' } as const;

function setUp() {
  const clock = new FakeClock();
  const server = new MemoryResource<EventObject>(clock);
  /** A separate process. */
  const recorder = () =>
    new EventRecorder({
      client: server,
      clock,
      now: () => `t${clock.nowMs()}`,
      random: () => 0.5,
      component: 'agent',
      instance: 'one',
    });
  const wait = async <Value>(promise: Promise<Value>): Promise<Value> => {
    await clock.advance(100);
    return promise;
  };
  return { clock, server, recorder, wait };
}

describe('an Event that is written once', () => {
  it('has a name derived from its object and identity, so that a second process finds it', async () => {
    const { server, recorder, wait } = setUp();
    expect(await wait(recorder().recordOnce(HOST, ENTRY, 'aB-_0001'))).toBe(true);
    const stored = [...server.objects];
    expect(stored).toMatchObject([
      [expect.stringMatching(/^default\/rack-1\.[0-9a-f]{16}$/), { ...ENTRY, count: 1, involvedObject: HOST }],
    ]);
    expect(await wait(recorder().recordOnce(HOST, ENTRY, 'aB-_0001'))).toBe(true);
    expect([...server.objects], 'not even counted').toEqual(stored);
  });

  it.each([
    ['another identity, also one that differs in its case only', HOST, 'ab-_0001'],
    ['an object of the same name that came later', { ...HOST, uid: 'v' }, 'aB-_0001'],
    ['another kind', { ...HOST, kind: 'Node' }, 'aB-_0001'],
  ])('%s is another Event', async (_, regarding, identity) => {
    const { server, recorder, wait } = setUp();
    await wait(recorder().recordOnce(HOST, ENTRY, 'aB-_0001'));
    await wait(recorder().recordOnce(regarding, ENTRY, identity));
    expect(server.objects.size).toBe(2);
  });

  it('has a name that a server takes, whatever the name of the object', async () => {
    const { server, recorder, wait } = setUp();
    await wait(recorder().recordOnce({ ...HOST, name: 'a'.repeat(253) }, ENTRY, 'x'));
    await wait(recorder().recordOnce({ ...HOST, name: 'System:Node' }, ENTRY, 'x'));
    for (const { metadata } of server.objects.values()) expect(metadata.name).toMatch(/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/);
  });

  it('resolves to false if it is refused, lost, or over the limit, and never rejects', async () => {
    const { clock, server, recorder, wait } = setUp();
    const one = recorder();
    server.writeFault = () => 'conflict';
    expect(await wait(one.recordOnce(HOST, ENTRY, 'refused'))).toBe(false);
    server.writeFault = () => 'lost-request';
    expect(await wait(one.recordOnce(HOST, ENTRY, 'lost'))).toBe(false);
    server.writeFault = () => 'none';
    await clock.advance(60_000);
    const many = Array.from({ length: 40 }, (_, index) => one.recordOnce(HOST, ENTRY, `entry ${index}`));
    expect((await wait(Promise.all(many))).filter(Boolean)).toHaveLength(30);
    expect(one.dropped, 'an Event that its caller retries is not dropped').toBe(2);
    one.record(HOST, { ...ENTRY, message: 'half of them is left to others' });
    await clock.advance(100);
    expect(server.objects.size).toBe(31);
    one.stop();
    expect(await wait(one.recordOnce(HOST, ENTRY, 'later'))).toBe(false);
  });

  it('law: whatever is lost and whichever process restarts, each identity ends with one Event', async () => {
    const fault = fc.constantFrom<WriteFault>('none', 'lost-request', 'lost-answer', 'conflict');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fault, fc.boolean()), { maxLength: 12 }),
        async (steps) => {
          const { server, recorder, wait } = setUp();
          let one = recorder();
          for (const [identity, what, isRestart] of steps) {
            if (isRestart) one = recorder();
            server.writeFault = () => what;
            await wait(one.recordOnce(HOST, ENTRY, String(identity)));
          }
          server.writeFault = () => 'none';
          for (const identity of [0, 1, 2, 3]) expect(await wait(one.recordOnce(HOST, ENTRY, String(identity)))).toBe(true);
          expect(server.objects.size).toBe(4);
        },
      ),
      { numRuns: 50 },
    );
  });
});
