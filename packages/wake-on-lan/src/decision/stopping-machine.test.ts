import { describe, expect, it } from 'vitest';
import { DecisionWorld, MAC_A, MAC_B, type RawMachine } from './decision-fixtures.js';

const STOPPING: RawMachine = {
  runStrategy: 'Manual',
  printableStatus: 'Stopping',
  phase: 'Running',
  isInstanceBeingDeleted: true,
};
const STOPPED: RawMachine = { runStrategy: 'Manual', printableStatus: 'Stopped' };

async function worldThatWaits(): Promise<DecisionWorld> {
  const world = new DecisionWorld();
  world.machines.set('lab/vm-a', STOPPING);
  expect(await world.ask(MAC_A)).toMatchObject({ status: 'accepted', wasDuplicate: false });
  expect(world.decider.waiting).toBe(1);
  return world;
}

const startsOf = ({ calls }: DecisionWorld) => calls.filter((call) => call.startsWith('start'));
const overOf = ({ waitsOver }: DecisionWorld) => waitsOver.map(({ verdict }) => [verdict.outcome, verdict.reason]);

const MAC_OF_51 = '02:00:00:04:00:51';

describe('a machine that stops when it is woken', () => {
  it('is accepted at once, and started when it is down; both are Events', async () => {
    const world = await worldThatWaits();
    await world.clock.advance(5_000);
    expect(startsOf(world)).toEqual([]);
    world.machines.set('lab/vm-a', STOPPED);
    await world.clock.advance(1_000);
    expect(startsOf(world)).toEqual(['start lab/vm-a']);
    expect(world.events.map(({ reason }) => reason)).toEqual(['WakeUpWaiting', 'WakeUpStarted']);
    expect(overOf(world)).toEqual([['started', 'start-accepted']]);
    expect(world.waitsOver[0]?.sinceHeardMs).toBe(6_000);
    expect([world.decider.waiting, world.clock.pending]).toEqual([0, 0]);
  });

  it('makes further packets duplicates while it waits, also after the window, and is started once', async () => {
    const world = await worldThatWaits();
    for (let second = 0; second < 30; second += 5) {
      await world.clock.advance(5_000);
      expect(await world.ask(MAC_A)).toMatchObject({ status: 'duplicate', wasDuplicate: true });
    }
    world.machines.set('lab/vm-a', STOPPED);
    await world.clock.advance(3_000);
    expect(startsOf(world)).toEqual(['start lab/vm-a']);
    expect(world.events).toHaveLength(2);
  });

  it('is given up after two minutes, with an Event that says why', async () => {
    const world = await worldThatWaits();
    await world.clock.advance(125_000);
    expect(overOf(world)).toEqual([['abandoned', 'not-down-in-time']]);
    expect(world.events.at(-1)).toMatchObject({ type: 'Warning', reason: 'WakeUpAbandoned' });
    expect(world.events.at(-1)?.message).toContain('it was not down within two minutes. Send the packet again when it is');
    expect(world.clock.pending).toBe(0);
  });

  it('is given up when the leadership or the process ends, and when no configuration allows it any longer', async () => {
    const lost = await worldThatWaits();
    lost.isLeading = false;
    lost.machines.set('lab/vm-a', STOPPED);
    await lost.clock.advance(1_000);
    const ended = await worldThatWaits();
    await ended.decider.stop();
    const disallowed = await worldThatWaits();
    disallowed.configs = [];
    disallowed.machines.set('lab/vm-a', STOPPED);
    await disallowed.clock.advance(1_000);
    expect([lost, ended, disallowed].flatMap(overOf)).toEqual([
      ['abandoned', 'leadership-lost'],
      ['abandoned', 'process-ends'],
      ['abandoned', 'no-longer-allowed'],
    ]);
    for (const world of [lost, ended, disallowed]) {
      expect(startsOf(world)).toEqual([]);
      expect(world.events.at(-1)?.reason).toBe('WakeUpAbandoned');
      expect(world.clock.pending).toBe(0);
    }
  });

  it('is checked again when the API server fails', async () => {
    const world = await worldThatWaits();
    world.machines.set('lab/vm-a', { ok: false, status: 503, message: 'no', canRetry: true });
    await world.clock.advance(20_000);
    world.machines.set('lab/vm-a', STOPPED);
    await world.clock.advance(3_000);
    expect(startsOf(world)).toEqual(['start lab/vm-a']);
    expect(world.events.map(({ reason }) => reason)).toEqual(['WakeUpWaiting', 'WakeUpStarted']);
  });

  it('is left alone if a person starts it meanwhile', async () => {
    const world = await worldThatWaits();
    world.machines.set('lab/vm-a', { runStrategy: 'Manual', printableStatus: 'Running', phase: 'Running' });
    await world.clock.advance(1_000);
    expect(overOf(world)).toEqual([['running', 'already-running']]);
    expect(startsOf(world)).toEqual([]);
  });

  it('waits only with a hundred others, and fifty of one namespace; the agent reports the next one again', async () => {
    const world = new DecisionWorld();
    const names = Array.from({ length: 100 }, (_, index) => `vm-${index + 100}`);
    const macOf = (name: string) => `02:00:00:03:00:${(Number(name.slice(3)) - 100).toString(16).padStart(2, '0')}`;
    const namespaceOf = (index: number) => (index < 50 ? 'greedy' : 'prod');
    world.configs = [{ name: 'everything', namespaces: [], mode: 'All' }];
    world.inventory = [
      ...world.inventory,
      { namespace: 'greedy', name: 'vm-51', labels: {}, macAddresses: [MAC_OF_51] },
      ...names.map((name, index) => ({ namespace: namespaceOf(index), name, labels: {}, macAddresses: [macOf(name)] })),
    ];
    for (const { namespace, name } of world.inventory) world.machines.set(`${namespace}/${name}`, STOPPING);
    for (const name of names.slice(0, 50)) expect(await world.ask(macOf(name))).toMatchObject({ status: 'accepted' });
    expect(await world.report(MAC_OF_51), 'of a namespace that has fifty').toMatchObject({ kind: 'later' });
    for (const name of names.slice(50)) expect(await world.ask(macOf(name))).toMatchObject({ status: 'accepted' });
    expect(await world.report(MAC_B)).toMatchObject({
      kind: 'later',
      message: expect.stringContaining('too many others wait'),
    });
    world.machines.set('lab/vm-b', STOPPED);
    expect(await world.ask(MAC_B)).toMatchObject({ status: 'vm-start-initiated' });
  });
});
