/** KubeVirt deletes the instance of a machine first, and reports `Stopping` later. */
import { expect, it } from 'vitest';
import { DecisionWorld, MAC_A } from './decision-fixtures.js';

it.each([
  ['Manual', 'Running', { isInstanceBeingDeleted: true, phase: 'Running' }],
  ['Halted', 'Running', { isInstanceBeingDeleted: true, phase: 'Running' }],
  ['Manual', 'Starting', { isInstanceBeingDeleted: true, phase: 'Scheduled' }],
])(
  'a machine with run strategy %s that still reports %s, and whose instance is being deleted, is started when it is down',
  async (runStrategy, printableStatus, instance) => {
    const world = new DecisionWorld();
    world.machines.set('lab/vm-a', { runStrategy, printableStatus, ...instance });
    const { status } = await world.ask(MAC_A);
    await world.clock.advance(1_000);
    world.machines.set('lab/vm-a', { runStrategy, printableStatus: 'Stopped' });
    await world.clock.advance(120_000);
    expect([status, world.calls.filter((one) => one.startsWith('start'))]).toEqual(['accepted', ['start lab/vm-a']]);
  },
);
