import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentObject, lease, nameOf, Rack } from '../rack-fixtures.js';

const MINUTE = 60_000;
const statusOf = (rack: Rack, name: string) => rack.operations.objects.get(name)?.status;

/** One healthy host, and an agent that is leader. */
async function start(rack = new Rack()) {
  rack.leases = [lease(10)];
  const agent = rack.lead();
  await rack.clock.advance(2_000);
  return { rack, agent };
}

describe('operations', () => {
  it('story: pending is recorded, then the action is carried out, then its result is recorded with an Event', async () => {
    const { rack } = await start();
    const seen: unknown[] = [];
    rack.operate = async (target) => {
      seen.push(target.address, statusOf(rack, 'off'));
      return { isSuccess: true, message: 'HTTP 204' };
    };
    rack.order('off', 'ForceOff');
    await rack.clock.advance(1_000);
    expect(rack.actions).toEqual([`ForceOff ${nameOf(10)}`]);
    expect(seen).toMatchObject(['10.0.0.10', { status: 'pending', startedBy: 'run-1', clusterAgent: 'rack' }]);
    expect(statusOf(rack, 'off')).toMatchObject({ status: 'success', message: 'HTTP 204' });
    expect(rack.reasons).toContain('OperationSucceeded');
    expect(rack.observed.map(({ kind }) => kind).filter((kind) => kind.startsWith('operation'))).toEqual([
      'operation-began',
      'operation-ended',
    ]);
    await rack.clock.advance(30 * MINUTE);
    expect(rack.actions).toHaveLength(1);
  });

  it('one host has one operation at a time, and one that hangs delays no other host', async () => {
    const { rack, agent } = await start();
    rack.leases = [lease(10), lease(11)];
    agent.leasesChanged();
    await rack.clock.advance(2_000);
    rack.operate = async ({ name }) =>
      name === nameOf(10) ? Promise.withResolvers<never>().promise : { isSuccess: true, message: 'ok' };
    rack.order('a', 'ForceOff');
    rack.order('b', 'On', { afterMs: 1 });
    rack.order('c', 'On', { number: 11, afterMs: 2 });
    await rack.clock.advance(10_000);
    expect(rack.actions.toSorted()).toEqual([`ForceOff ${nameOf(10)}`, `On ${nameOf(11)}`]);
    await rack.clock.advance(MINUTE);
    expect(statusOf(rack, 'a')).toMatchObject({
      status: 'failure',
      message: expect.stringContaining('It is not known') as string,
    });
    expect(rack.actions).toContain(`On ${nameOf(10)}`);
  });

  it('an operation of an unhealthy host waits, and fails after ten minutes; one whose Secret is missing does nothing', async () => {
    const rack = new Rack(agentObject({}, { secretName: 'bmc', secretNamespace: 'default' }));
    rack.putSecret('default/bmc', { username: 'YQ==', password: 'Yg==' });
    await start(rack);
    rack.secrets.get('default/bmc')?.remove('default/bmc');
    // Before a poll finds out.
    rack.order('now', 'On');
    await rack.clock.advance(100);
    rack.order('later', 'On');
    await rack.clock.advance(11 * MINUTE);
    expect(rack.actions).toEqual([]);
    expect(statusOf(rack, 'now')).toMatchObject({ status: 'failure' });
    expect(statusOf(rack, 'later')).toMatchObject({
      status: 'failure',
      message: expect.stringContaining('Nothing was done') as string,
    });
  });

  it('an operation of a host that a person created, without a lease of its address, fails after ten minutes', async () => {
    const { rack } = await start();
    const [made] = rack.hosts.objects.values();
    const name = nameOf(66);
    const status = { clusterAgent: 'rack', healthy: true, basic: { mac: '02:00:00:00:00:66' } };
    rack.hosts.put({ ...made, metadata: { name, uid: name, creationTimestamp: '2026-01-01T00:00:00Z' }, status } as never);
    rack.order('off', 'ForceOff', { host: name });
    await rack.clock.advance(9 * MINUTE);
    expect([rack.actions, statusOf(rack, 'off')]).toEqual([[], undefined]);
    await rack.clock.advance(2 * MINUTE);
    expect([rack.actions, statusOf(rack, 'off')]).toMatchObject([
      [],
      { status: 'failure', message: expect.stringContaining('Nothing was done') as string },
    ]);
  });

  it('when leadership ends no action begins, and the result of one in progress is recorded', async () => {
    const { rack, agent } = await start();
    const answer = Promise.withResolvers<{ isSuccess: boolean; message: string }>();
    rack.operate = () => answer.promise;
    rack.order('off', 'ForceOff');
    await rack.clock.advance(1_000);
    const stopped = agent.stop();
    rack.order('on', 'On');
    await rack.clock.advance(1_000);
    answer.resolve({ isSuccess: true, message: 'HTTP 204' });
    await rack.clock.advance(1_000);
    await stopped;
    expect(statusOf(rack, 'off')).toMatchObject({ status: 'success' });
    await rack.clock.advance(5 * MINUTE);
    expect([rack.actions.length, statusOf(rack, 'on'), rack.clock.pending]).toEqual([1, undefined, 0]);
  });

  it('a process that was frozen while pending was recorded, and wakes when another one is leader, carries nothing out', async () => {
    const rack = new Rack();
    rack.leases = [lease(10)];
    let isLeading = true;
    rack.lead({ isLeading: () => isLeading });
    await rack.clock.advance(2_000);
    rack.operations.onWritten = () => {
      isLeading = false;
    };
    rack.order('off', 'ForceOff');
    await rack.clock.advance(10 * MINUTE);
    expect([rack.actions, statusOf(rack, 'off')]).toMatchObject([[], { status: 'pending', startedBy: 'run-1' }]);
  });

  it('an action that does not end is abandoned after ten seconds; the next leader records that its outcome is not known', async () => {
    const { rack, agent } = await start();
    let signal: AbortSignal | undefined;
    rack.operate = (_, __, given) => {
      signal = given;
      return Promise.withResolvers<never>().promise;
    };
    rack.order('off', 'ForceOff');
    await rack.clock.advance(1_000);
    const stopped = agent.stop();
    await rack.clock.advance(10_000);
    await stopped;
    expect([signal?.aborted, rack.clock.pending]).toEqual([true, 0]);
    expect(statusOf(rack, 'off')).toMatchObject({ status: 'pending' });
    rack.lead();
    await rack.clock.advance(2 * MINUTE);
    expect(rack.actions).toHaveLength(1);
    expect(statusOf(rack, 'off')).toMatchObject({
      status: 'failure',
      message: expect.stringContaining('It is not known') as string,
    });
  });

  it('law: whatever is lost and wherever agents end, an operation acts at most once, and has a true result', async () => {
    const fault = fc.constantFrom('none', 'lost-request', 'lost-answer', 'conflict');
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 80 }),
      faults: fc.array(fault, { maxLength: 6 }),
      takesMs: fc.integer({ min: 0, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (lives) => {
        const { rack, agent } = await start();
        let dead = { isDead: false };
        void agent.stop();
        await rack.clock.advance(1_000);
        rack.order('off', 'ForceOff');
        rack.order('on', 'On', { afterMs: 1_000 });
        for (const { waitMs, faults, takesMs } of lives) {
          dead.isDead = true;
          dead = { isDead: false };
          const left = [...faults];
          rack.operations.writeFault = () => left.shift() ?? 'none';
          rack.operate = async () => {
            await new Promise<void>((resolve) => rack.clock.after(takesMs, resolve));
            return { isSuccess: true, message: 'HTTP 204' };
          };
          rack.lead(rack.mortal(dead));
          await rack.clock.advance(waitMs);
        }
        dead.isDead = true;
        rack.operations.writeFault = () => 'none';
        rack.lead();
        await rack.clock.advance(15 * MINUTE);
        for (const [name, action] of [
          ['off', 'ForceOff'],
          ['on', 'On'],
        ] as const) {
          const count = rack.actions.filter((one) => one.startsWith(`${action} `)).length;
          expect(count).toBeLessThanOrEqual(1);
          const { status, message } = statusOf(rack, name) as { status: string; message: string };
          expect(['success', 'failure']).toContain(status);
          if (status === 'success') expect(count).toBe(1);
          else if (count === 1) expect(message).toContain('It is not known');
        }
      }),
      { numRuns: 40 },
    );
  });
});
