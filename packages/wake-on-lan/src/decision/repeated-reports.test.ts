import { describe, expect, it } from 'vitest';
import { DecisionWorld, MAC_A, MAC_B } from './decision-fixtures.js';

const RUNNING = { runStrategy: 'Always', printableStatus: 'Running', phase: 'Running' };
const STOPPED = { runStrategy: 'Manual', printableStatus: 'Stopped' };

describe('reports of one wake-up', () => {
  it('ten nodes report one packet: one start, one Event, nine duplicates that name the machine', async () => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', STOPPED);
    const nodes = Array.from({ length: 10 }, (_, index) => `node-${index}`);
    const answers = await Promise.all(nodes.map((nodeName) => world.ask(MAC_A, { nodeName })));
    expect(answers.map(({ status }) => status)).toEqual(['vm-start-initiated', ...Array<string>(9).fill('duplicate')]);
    for (const { machine } of answers) expect(machine).toEqual({ namespace: 'lab', name: 'vm-a', currentState: 'Stopped' });
    expect(answers.map(({ wasDuplicate }) => wasDuplicate)).toEqual([false, ...Array<boolean>(9).fill(true)]);
    expect(world.calls).toEqual(['read lab/vm-a', 'start lab/vm-a']);
    expect(world.events).toHaveLength(1);
  });

  it('the window is ten seconds from the first packet, and does not slide', async () => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', STOPPED);
    await world.ask(MAC_A);
    for (let second = 1; second < 10; second++) {
      await world.clock.advance(1_000);
      expect(await world.ask(MAC_A)).toMatchObject({ status: 'duplicate', wasDuplicate: true });
    }
    await world.clock.advance(1_000);
    world.machines.set('lab/vm-a', STOPPED);
    expect(await world.ask(MAC_A)).toMatchObject({ status: 'vm-start-initiated' });
    expect(world.events).toHaveLength(2);
  });

  it('a report that another node delayed for a minute starts nothing again if the owner has stopped the machine meanwhile', async () => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', STOPPED);
    await world.ask(MAC_A);
    await world.clock.advance(60_000);
    world.machines.set('lab/vm-a', STOPPED);
    expect(await world.ask(MAC_A, { nodeName: 'node-2', ageMs: 60_000 })).toMatchObject({ status: 'duplicate' });
    expect(await world.ask(MAC_A, { nodeName: 'node-2', ageMs: 50_001 })).toMatchObject({ status: 'duplicate' });
    expect(world.calls).toEqual(['read lab/vm-a', 'start lab/vm-a']);
    expect(await world.ask(MAC_A, { nodeName: 'node-2', ageMs: 50_000 })).toMatchObject({ status: 'vm-start-initiated' });
  });

  it.each([-1, 4_294_967_295])('a claimed age of %s ms counts for two minutes at most', async (ageMs) => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', STOPPED);
    await world.ask(MAC_A);
    await world.clock.advance(130_000);
    world.machines.set('lab/vm-a', STOPPED);
    expect(await world.ask(MAC_A, { ageMs })).toMatchObject({ status: 'vm-start-initiated' });
  });

  it('a running machine that is shut down right after that can be woken two seconds later', async () => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', { runStrategy: 'Manual', printableStatus: 'Running', phase: 'Running' });
    expect(await world.ask(MAC_A)).toMatchObject({ status: 'vm-already-running' });
    world.machines.set('lab/vm-a', STOPPED);
    await world.clock.advance(1_999);
    // The answer is not `duplicate`, for which agents ignore further packets until the window ends.
    expect(await world.ask(MAC_A)).toMatchObject({ status: 'vm-already-running', wasDuplicate: true });
    expect(world.answers.at(-1)?.verdict.outcome).toBe('duplicate');
    await world.clock.advance(1);
    expect(await world.ask(MAC_A)).toMatchObject({ status: 'vm-start-initiated' });
  });

  it('all nodes that report the packet get the same refusal, with one Event', async () => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', { runStrategy: 'Once', printableStatus: 'Stopped' });
    const first = await world.ask(MAC_A);
    await world.clock.advance(500);
    expect(await world.ask(MAC_A, { nodeName: 'node-2' })).toEqual({ ...first, wasDuplicate: true });
    expect(world.events).toHaveLength(1);
    await world.clock.advance(1_500);
    world.machines.set('lab/vm-a', STOPPED);
    expect(await world.ask(MAC_A)).toMatchObject({ status: 'vm-start-initiated', wasDuplicate: false });
  });

  it('a report that could not be decided is not remembered', async () => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', { ok: false, status: 0, message: 'no route', canRetry: true });
    const both = await Promise.all([world.report(MAC_A), world.report(MAC_A)]);
    for (const outcome of both) expect(outcome).toMatchObject({ kind: 'unavailable' });
    world.machines.set('lab/vm-a', STOPPED);
    expect(await world.ask(MAC_A)).toMatchObject({ status: 'vm-start-initiated', wasDuplicate: false });
  });
});

describe('one machine that changes while it is read', () => {
  it('packets for both cards of a machine at the same moment request one start', async () => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', STOPPED);
    world.inventory = [{ namespace: 'lab', name: 'vm-a', labels: {}, macAddresses: [MAC_A, MAC_B] }];
    const [first, second] = await Promise.all([world.ask(MAC_A), world.ask(MAC_B)]);
    expect([first.status, second.status]).toEqual(['vm-start-initiated', 'duplicate']);
    expect(world.calls).toEqual(['read lab/vm-a', 'start lab/vm-a']);
  });

  it('its WolConfig is deleted while the machine is read: nothing is started, and an Event says so', async () => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', STOPPED);
    world.onRead = () => {
      world.configs = [];
    };
    expect(await world.ask(MAC_A)).toMatchObject({ status: 'error' });
    expect(world.calls).toEqual(['read lab/vm-a']);
    expect(world.events).toMatchObject([{ reason: 'WakeUpRefused', about: 'lab/vm-a' }]);
  });

  it('a message about a thousand machines with one address names only some of them', async () => {
    const world = new DecisionWorld();
    const names = Array.from({ length: 1_000 }, (_, index) => `vm-${index}`);
    world.inventory = names.map((name) => ({ namespace: 'lab', name, labels: {}, macAddresses: [] }));
    for (let turn = 0; turn < 20; turn++) {
      world.inventory = world.inventory.map((machine) => ({ ...machine, macAddresses: [`02:00:00:03:00:${hex(turn)}`] }));
      const outcome = await world.report(`02:00:00:03:00:${hex(turn)}`, { sender: `10.0.0.${turn}` });
      expect(JSON.stringify(outcome).length).toBeLessThan(500);
    }
  });
});

describe('floods', () => {
  it('from one sender: its wake-ups are limited and the answer says why; the agent tries again; another sender wakes another machine', async () => {
    const world = new DecisionWorld();
    const macs = Array.from({ length: 300 }, (_, index) => `02:00:00:01:${hex(index >> 8)}:${hex(index & 255)}`);
    world.inventory = [
      ...macs.map((mac, index) => ({ namespace: 'lab', name: `vm-${index}`, labels: {}, macAddresses: [mac] })),
      { namespace: 'lab', name: 'vm-b', labels: {}, macAddresses: [MAC_B] },
    ];
    for (const { name } of world.inventory) world.machines.set(`lab/${name}`, STOPPED);
    const outcomes = [];
    for (const mac of macs) outcomes.push(await world.report(mac));
    expect(outcomes.filter(({ kind }) => kind === 'answered')).toHaveLength(200);
    expect(outcomes.at(-1)).toEqual({
      kind: 'later',
      message: 'too many wake-ups from 10.0.0.9; the next one is decided in 50 ms, and the agent will report this one again',
    });
    expect(await world.ask(MAC_B, { sender: '10.0.0.10' })).toMatchObject({ status: 'vm-start-initiated' });
    await world.clock.advance(50);
    expect(await world.report(macs.at(-1) ?? ''), 'tried again').toMatchObject({ kind: 'answered' });
    expect(world.events).toHaveLength(202);
  });

  it('from made-up senders, for existing machines: five hundred decisions, then a hundred a second', async () => {
    const world = new DecisionWorld();
    const macs = Array.from({ length: 2_000 }, (_, index) => `02:00:00:01:${hex(index >> 8)}:${hex(index & 255)}`);
    world.inventory = macs.map((mac, index) => ({ namespace: 'lab', name: `vm-${index}`, labels: {}, macAddresses: [mac] }));
    for (const { name } of world.inventory) world.machines.set(`lab/${name}`, RUNNING);
    for (const [number, mac] of macs.entries()) await world.report(mac, { sender: `10.0.${number >> 8}.${number & 255}` });
    expect(world.calls).toHaveLength(500);
    expect(world.answers.at(-1)?.verdict).toMatchObject({ outcome: 'limited', reason: 'too-many-of-all' });
    await world.clock.advance(1_000);
    for (const mac of macs) await world.report(mac, { sender: `10.1.0.${mac.slice(-2)}` });
    expect(world.calls).toHaveLength(600);
  });

  it('for a machine that cannot be started: ten decisions, then one a second', async () => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', { ok: false, status: 503, message: 'no leader', canRetry: true });
    for (let turn = 0; turn < 50; turn++) await world.report(MAC_A, { sender: `10.0.0.${turn}` });
    expect(world.calls).toHaveLength(10);
    expect(world.answers.at(-1)?.verdict).toMatchObject({ outcome: 'limited', reason: 'too-many-of-machine' });
    await world.clock.advance(1_000);
    world.machines.set('lab/vm-a', STOPPED);
    expect(await world.ask(MAC_A)).toMatchObject({ status: 'vm-start-initiated' });
  });

  it('for made-up addresses: nothing is read, recorded or remembered, and no limit is used up', async () => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', STOPPED);
    for (let made = 0; made < 5_000; made++) await world.report(`02:00:00:02:${hex(made >> 8)}:${hex(made & 255)}`);
    expect([world.calls, world.events]).toEqual([[], []]);
    expect(await world.ask(MAC_A)).toMatchObject({ status: 'vm-start-initiated' });
  });
});

function hex(octet: number): string {
  return octet.toString(16).padStart(2, '0');
}
