import { describe, expect, it } from 'vitest';
import { DecisionWorld, MAC_A, type RawMachine } from './decision-fixtures.js';
import type { CallFailure } from './wake-ports.js';

const STOPPED: RawMachine = { runStrategy: 'Manual', printableStatus: 'Stopped' };
const STARTING: RawMachine = { runStrategy: 'Manual', printableStatus: 'Starting', phase: 'Scheduling' };
const RUNNING: RawMachine = { runStrategy: 'Manual', printableStatus: 'Running', phase: 'Running' };
const failure = (status: number): CallFailure => ({
  ok: false,
  status,
  message: `text of ${status}`,
  canRetry: status === 0 || status >= 500,
});

/** A manager whose start request fails like this, after which the machine has this state. */
function worldWith(status: number, after: RawMachine): DecisionWorld {
  const world = new DecisionWorld();
  world.machines.set('lab/vm-a', STOPPED);
  world.onStart = (key) => {
    world.machines.set(key, after);
    return failure(status);
  };
  return world;
}

describe('a start request that is refused', () => {
  it.each([
    [403, 'forbidden', 'Grant the controller the rights of manifests/vmdhcp.yaml for Wake-on-LAN'],
    [404, 'not-found', 'kubectl get apiservice v1.subresources.kubevirt.io'],
    [409, 'conflict', 'Correct what the message names'],
    [422, 'invalid', 'Correct what the message names'],
  ])('HTTP %i: an error with the reason %s in answer, Event and metric, and the remedy', async (status, reason, remedy) => {
    const world = worldWith(status, STOPPED);
    const answer = await world.ask(MAC_A);
    expect(answer.status).toBe('error');
    for (const text of [answer.message, world.events[0]?.message]) {
      expect(text).toContain(`VirtualMachine lab/vm-a cannot be started: the API server answered ${status} (text of ${status})`);
      expect(text).toContain(remedy);
    }
    expect(world.events.map((event) => [event.type, event.reason])).toEqual([['Warning', 'WakeUpFailed']]);
    expect(world.answers.map(({ verdict }) => [verdict.outcome, verdict.reason])).toEqual([['failed', reason]]);
  });

  it.each([500, 502, 503, 504, 0])(
    'HTTP %i, and nothing has started: the agent tries this wake-up again, others meanwhile, and then the machine starts',
    async (status) => {
      const world = worldWith(status, STOPPED);
      expect(await world.report(MAC_A)).toMatchObject({
        kind: 'later',
        message: expect.stringContaining(`text of ${status}`),
      });
      expect(world.events.map(({ reason }) => reason)).toEqual(['WakeUpFailed']);
      world.onStart = () => ({ ok: true });
      expect(await world.ask(MAC_A)).toMatchObject({ status: 'vm-start-initiated' });
    },
  );

  it('without a response, but the machine is starting now: the request started it', async () => {
    const world = worldWith(0, STARTING);
    expect(await world.ask(MAC_A)).toMatchObject({ status: 'vm-start-initiated' });
    expect(world.calls).toEqual(['read lab/vm-a', 'start lab/vm-a', 'read lab/vm-a']);
  });

  it.each([
    // Source: virt-api, getChangeRequestJson: "unable to complete request: stop/start already underway" is an internal error.
    [500, STARTING, 'accepted', 'starting'],
    [500, { ...STOPPED, requests: ['Start'] }, 'accepted', 'starting'],
    // Source: virt-api, StartVMRequestHandler: "VM is already running", "Always does not support manual start requests".
    [409, RUNNING, 'vm-already-running', 'running'],
    [409, { runStrategy: 'Always', printableStatus: 'Stopped' }, 'accepted', 'starting'],
    [409, { ...STOPPED, phase: 'Running', isInstanceBeingDeleted: true }, 'accepted', 'waiting'],
    [409, { ...STOPPED, isBeingDeleted: true }, 'error', 'refused'],
  ] as const)('HTTP %i, because the machine changed meanwhile (%j): the answer is %s', async (code, after, status, outcome) => {
    const world = worldWith(code, after);
    expect(await world.ask(MAC_A)).toMatchObject({ status });
    expect(world.answers.map(({ verdict }) => verdict.outcome)).toEqual([outcome]);
    expect(world.calls.filter((call) => call.startsWith('start'))).toHaveLength(1);
  });

  it('HTTP 409, because another client changed the machine at that moment, and it is still stopped: the start is requested again', async () => {
    const world = worldWith(409, STOPPED);
    const fail = world.onStart;
    world.onStart = (key) => {
      world.onStart = () => ({ ok: true });
      return fail(key);
    };
    expect(await world.ask(MAC_A)).toMatchObject({ status: 'vm-start-initiated' });
    expect(world.calls).toEqual(['read lab/vm-a', 'start lab/vm-a', 'read lab/vm-a', 'start lab/vm-a']);
    expect(world.events.map(({ reason }) => reason)).toEqual(['WakeUpStarted']);
  });

  it('HTTP 409 twice is answered', async () => {
    const world = worldWith(409, STOPPED);
    expect(await world.ask(MAC_A)).toMatchObject({ status: 'error' });
    expect(world.calls.filter((call) => call.startsWith('start'))).toHaveLength(2);
  });

  it('the machine is gone after that: the answer is the failure', async () => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', STOPPED);
    world.onStart = (key) => {
      world.machines.delete(key);
      return failure(404);
    };
    expect(await world.ask(MAC_A)).toMatchObject({ status: 'error' });
    expect(world.events.map(({ about }) => about)).toEqual(['lab/vm-a']);
  });

  it('the leadership has ended: the agent tries the leader', async () => {
    const world = worldWith(0, STOPPED);
    const fail = world.onStart;
    world.onStart = (key) => {
      world.isLeading = false;
      return fail(key);
    };
    expect(await world.report(MAC_A)).toMatchObject({ kind: 'not-leading' });
    expect(world.events).toEqual([]);
  });
});

describe('a machine that cannot be read', () => {
  it.each([
    [403, 'answered', 'forbidden'],
    [503, 'unavailable', 'api-unavailable'],
    [0, 'unavailable', 'api-unavailable'],
  ])('HTTP %i: %s, %s', async (status, kind, reason) => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', failure(status));
    expect(await world.report(MAC_A)).toMatchObject({ kind });
    expect(world.answers.map(({ verdict }) => verdict.reason)).toEqual([reason]);
    expect(world.calls).toEqual(['read lab/vm-a']);
    expect(world.events.map((event) => [event.about, event.reason])).toEqual(
      kind === 'answered' ? [['lab/vm-a', 'WakeUpFailed']] : [],
    );
  });
});
