import { describe, expect, it } from 'vitest';
import { DecisionWorld, MAC_A, MAC_B, type RawMachine, VM_A, VM_B } from './decision-fixtures.js';

/** The states of a machine, the effect of a wake-up, the answer and the Event. */
const STATES: readonly [string, RawMachine, string, string, string][] = [
  ['stopped', { runStrategy: 'Manual', printableStatus: 'Stopped' }, 'start', 'vm-start-initiated', 'WakeUpStarted'],
  ['stopped', { runStrategy: 'Halted', printableStatus: 'Stopped' }, 'start', 'vm-start-initiated', 'WakeUpStarted'],
  ['stopped', { running: false, printableStatus: 'Stopped' }, 'start', 'vm-start-initiated', 'WakeUpStarted'],
  ['shut down by its guest operating system', stopped('Manual', 'Succeeded'), 'start', 'vm-start-initiated', 'WakeUpStarted'],
  [
    'shut down by its guest operating system',
    stopped('RerunOnFailure', 'Succeeded'),
    'start',
    'vm-start-initiated',
    'WakeUpStarted',
  ],
  [
    'its volumes are filled',
    { runStrategy: 'Halted', printableStatus: 'Provisioning' },
    'start',
    'vm-start-initiated',
    'WakeUpStarted',
  ],
  [
    'running',
    { runStrategy: 'Manual', printableStatus: 'Running', phase: 'Running' },
    '',
    'vm-already-running',
    'WakeUpNotNeeded',
  ],
  ['running', { running: true, printableStatus: 'Running', phase: 'Running' }, '', 'vm-already-running', 'WakeUpNotNeeded'],
  [
    'migrating',
    { runStrategy: 'Always', printableStatus: 'Migrating', phase: 'Running' },
    '',
    'vm-already-running',
    'WakeUpNotNeeded',
  ],
  ['starting', { runStrategy: 'Manual', printableStatus: 'Starting', phase: 'Scheduling' }, '', 'accepted', 'WakeUpNotNeeded'],
  [
    'its start was requested',
    { runStrategy: 'Manual', printableStatus: 'Stopped', requests: ['Start'] },
    '',
    'accepted',
    'WakeUpNotNeeded',
  ],
  [
    'its instance is new',
    { runStrategy: 'Manual', printableStatus: 'Stopped', phase: 'Pending' },
    '',
    'accepted',
    'WakeUpNotNeeded',
  ],
  [
    'being restarted',
    { runStrategy: 'Manual', printableStatus: 'Stopping', requests: ['Stop', 'Start'] },
    '',
    'accepted',
    'WakeUpNotNeeded',
  ],
  ['failed, and KubeVirt starts it', stopped('RerunOnFailure', 'Failed'), '', 'accepted', 'WakeUpNotNeeded'],
  ['run strategy Always', { runStrategy: 'Always', printableStatus: 'Stopped' }, '', 'accepted', 'WakeUpNotNeeded'],
  ['stopping', { runStrategy: 'Manual', printableStatus: 'Stopping', phase: 'Running' }, '', 'accepted', 'WakeUpWaiting'],
  [
    'its stop was requested',
    { runStrategy: 'Manual', printableStatus: 'Running', requests: ['Stop'] },
    '',
    'accepted',
    'WakeUpWaiting',
  ],
  ['run strategy Once', { runStrategy: 'Once', printableStatus: 'Stopped' }, '', 'error', 'WakeUpRefused'],
  [
    'unschedulable',
    { runStrategy: 'Manual', printableStatus: 'ErrorUnschedulable', phase: 'Scheduling' },
    '',
    'error',
    'WakeUpRefused',
  ],
  ['paused', { runStrategy: 'Manual', printableStatus: 'Paused', phase: 'Running' }, '', 'error', 'WakeUpRefused'],
  ['a volume is missing', { runStrategy: 'Manual', printableStatus: 'ErrorPvcNotFound' }, '', 'error', 'WakeUpRefused'],
  ['being deleted', { runStrategy: 'Manual', printableStatus: 'Stopped', isBeingDeleted: true }, '', 'error', 'WakeUpRefused'],
  ['no state is reported', { runStrategy: 'Manual' }, '', 'error', 'WakeUpRefused'],
  ['a run strategy of a later version', { runStrategy: 'Sometimes', printableStatus: 'Stopped' }, '', 'error', 'WakeUpRefused'],
];

function stopped(runStrategy: string, phase: string): RawMachine {
  return { runStrategy, printableStatus: 'Stopped', phase };
}

describe('WakeDecider', () => {
  it.each(STATES)('%s (%j): %s %s %s', async (_, machine, request, status, reason) => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', machine);
    const answer = await world.ask(MAC_A);
    expect(answer).toMatchObject({
      status,
      wasDuplicate: false,
      machine: { namespace: 'lab', name: 'vm-a', currentState: machine.printableStatus ?? '' },
    });
    expect(world.calls.slice(1)).toEqual(request === '' ? [] : [`${request} lab/vm-a`]);
    expect(world.events).toEqual([
      {
        about: 'lab/vm-a',
        type: status === 'error' ? 'Warning' : 'Normal',
        reason,
        message: `${answer.message}. Magic packet for ${MAC_A} from 10.0.0.9, received by node node-1.`,
      },
    ]);
    expect(world.log).toEqual([`report ${MAC_A}`, ...(request === '' ? [] : ['starting lab/vm-a'])]);
  });

  it('a paused machine is unpaused if the configuration allows that', async () => {
    const world = new DecisionWorld();
    world.unpauses = true;
    world.machines.set('lab/vm-a', { runStrategy: 'Manual', printableStatus: 'Paused', phase: 'Running' });
    expect(await world.ask(MAC_A)).toMatchObject({ status: 'vm-start-initiated' });
    expect(world.calls).toEqual(['read lab/vm-a', 'unpause lab/vm-a']);
    expect(world.events.map(({ reason }) => reason)).toEqual(['WakeUpUnpaused']);
  });

  it('the delay of the start counts from the packet; it is zero if the clock of a node is ahead', async () => {
    const world = new DecisionWorld();
    for (const key of ['lab/vm-a', 'lab/vm-b']) world.machines.set(key, { printableStatus: 'Stopped' });
    world.onRead = () => world.clock.advance(30);
    expect(await world.ask(MAC_A, { heardAtMs: 999_900 })).toMatchObject({ processingTimeMs: 30 });
    await world.ask(MAC_B, { heardAtMs: 2_000_000 });
    expect(world.answers.map(({ sinceHeardMs, verdict }) => [verdict.outcome, sinceHeardMs])).toEqual([
      ['started', 130],
      ['started', 0],
    ]);
  });

  it('another spelling of the address is the same machine; an invalid address is an error', async () => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', { printableStatus: 'Stopped' });
    expect(await world.ask('02-00-00-00-00-0A')).toMatchObject({ status: 'vm-start-initiated' });
    for (const macAddress of ['', 'vm-a', '02:00:00:00:00', 'ff:ff:ff:ff:ff:ff', '00:00:00:00:00:00', `"${'x'.repeat(5_000)}`]) {
      const { status, message } = await world.ask(macAddress);
      expect(status).toBe('error');
      expect(message).toContain('is not the MAC address of a machine; write six octets');
      expect(message.length).toBeLessThan(200);
    }
    expect(world.events).toHaveLength(1);
  });

  it('a machine that is not allowed is not found, and nothing is read or remembered', async () => {
    const world = new DecisionWorld();
    world.configs = [{ name: 'other', namespaces: ['other'], mode: 'All' }];
    world.machines.set('lab/vm-a', { printableStatus: 'Stopped' });
    expect(await world.ask(MAC_A)).toMatchObject({ status: 'vm-not-found', wasDuplicate: false });
    expect([world.calls, world.events]).toEqual([[], []]);
    world.configs = [{ name: 'everything', namespaces: [], mode: 'All' }];
    expect(await world.ask(MAC_A), 'at once, when it is allowed').toMatchObject({ status: 'vm-start-initiated' });
    expect(
      world.answers.map(({ verdict }) => verdict.configs),
      'metrics count it for each',
    ).toEqual([undefined, ['everything']]);
  });

  it('a machine that was deleted meanwhile is not found', async () => {
    const world = new DecisionWorld();
    expect(await world.ask(MAC_A)).toMatchObject({
      status: 'vm-not-found',
      message: 'VirtualMachine lab/vm-a no longer exists',
    });
  });

  it('a tenant with many copies of an address does not prevent the Events of other tenants', async () => {
    const world = new DecisionWorld();
    world.configs = [{ name: 'everything', namespaces: [], mode: 'All' }];
    const copies = Array.from({ length: 20 }, (_, index) => ({ ...VM_A, namespace: 'aaa-tenant', name: `copy-${index}` }));
    world.inventory = [VM_A, ...copies];
    for (const { namespace, name } of world.inventory)
      world.machines.set(`${namespace}/${name}`, { runStrategy: 'Manual', printableStatus: 'Stopped' });
    const { message } = await world.ask(MAC_A);
    expect(message).toContain('lab/vm-a');
    expect(world.events.map(({ about }) => about)).toContain('lab/vm-a');
    expect(world.events).toHaveLength(8);
  });

  it('an address of two machines wakes neither, and the Events of both name both', async () => {
    const world = new DecisionWorld();
    world.inventory = [VM_A, { ...VM_B, macAddresses: [MAC_A] }];
    for (const key of ['lab/vm-a', 'lab/vm-b']) world.machines.set(key, { printableStatus: 'Stopped' });
    const { status, message } = await world.ask(MAC_A);
    expect(status).toBe('error');
    expect(message).toContain('lab/vm-a, lab/vm-b');
    expect(world.calls.filter((call) => call.startsWith('start'))).toEqual([]);
    expect(world.events.map(({ about, reason }) => [about, reason])).toEqual([
      ['lab/vm-a', 'WakeUpAmbiguous'],
      ['lab/vm-b', 'WakeUpAmbiguous'],
    ]);
  });

  it('an address of machines of two namespaces: the Event of each names no machine of the other namespace', async () => {
    const world = new DecisionWorld();
    world.configs = [{ name: 'everything', namespaces: [], mode: 'All' }];
    world.inventory = [VM_A, { ...VM_B, namespace: 'prod', macAddresses: [MAC_A] }];
    for (const key of ['lab/vm-a', 'prod/vm-b']) world.machines.set(key, { printableStatus: 'Stopped' });
    await world.ask(MAC_A);
    const messages = new Map(world.events.map(({ about, message }) => [about, message]));
    expect(messages.get('lab/vm-a')).toContain('none of them is started: lab/vm-a and 1 of other namespaces');
    expect(messages.get('lab/vm-a')).not.toContain('prod/');
    expect(messages.get('prod/vm-b')).not.toContain('lab/');
  });

  it('a manager that is not leader names the leader; one that has not listed everything makes the agent try again', async () => {
    const world = new DecisionWorld();
    world.isLeading = false;
    expect(await world.report(MAC_A)).toEqual({ kind: 'not-leading', leader: '10.1.0.2:9090' });
    world.isLeading = true;
    world.isSynced = false;
    expect(await world.report(MAC_A)).toMatchObject({ kind: 'unavailable' });
    expect([world.calls, world.log]).toEqual([[], []]);
  });

  it('a manager that loses the leadership while it reads starts nothing', async () => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', { printableStatus: 'Stopped' });
    world.onRead = () => {
      world.isLeading = false;
    };
    expect(await world.report(MAC_A)).toEqual({ kind: 'not-leading', leader: '10.1.0.2:9090' });
    expect([world.calls, world.events]).toEqual([['read lab/vm-a'], []]);
  });

  it('a bug in an edge is reported, and the agent tries again', async () => {
    const world = new DecisionWorld();
    world.onRead = () => {
      throw new Error('broken');
    };
    expect(await world.report(MAC_A)).toMatchObject({ kind: 'unavailable' });
    expect(world.faults).toHaveLength(1);
  });

  it('after stop nothing new is decided, and decisions in progress are answered first', async () => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', { printableStatus: 'Stopped' });
    const gate = Promise.withResolvers<void>();
    world.onRead = () => gate.promise;
    const answer = world.ask(MAC_A);
    let isStopped = false;
    const stopping = world.decider.stop().then(() => {
      isStopped = true;
    });
    await world.clock.advance(1);
    expect(isStopped).toBe(false);
    expect(await world.report(MAC_B)).toMatchObject({ kind: 'unavailable' });
    gate.resolve();
    await stopping;
    expect(await answer).toMatchObject({ status: 'vm-start-initiated' });
  });
});
