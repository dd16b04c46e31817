import { expect, it } from 'vitest';
import { DecisionWorld, MAC_A, VM_A } from './decision-fixtures.js';

it('a wait that ended with a failure does not swallow the next packet', async () => {
  const world = new DecisionWorld();
  world.machines.set('lab/vm-a', { runStrategy: 'Manual', printableStatus: 'Stopping' });
  expect((await world.ask(MAC_A)).status).toBe('accepted');
  world.machines.set('lab/vm-a', { runStrategy: 'Manual', printableStatus: 'Stopped' });
  world.onStart = () => ({ ok: false, status: 409, message: 'conflict', canRetry: false });
  await world.clock.advance(1_500);
  expect(world.waitsOver.map(({ verdict }) => verdict.outcome)).toEqual(['failed']);
  expect(world.decider.waiting).toBe(0);
  world.onStart = () => ({ ok: true });
  world.calls.length = 0;
  await world.clock.advance(2_500);
  const answer = await world.ask(MAC_A);
  expect([world.calls, answer.status]).toEqual([expect.arrayContaining(['start lab/vm-a']), 'vm-start-initiated']);
});

it('a machine that was deleted and created again without the label is not started, although the watch is late', async () => {
  const world = new DecisionWorld();
  world.inventory = [{ ...VM_A, uid: 'uid-of-the-former-one', labels: { wol: 'yes' } }];
  world.configs = [{ name: 'labels', namespaces: [], mode: 'LabelSelector', selector: { matchLabels: { wol: 'yes' } } }];
  // The live one has the uid `uid-vm-a`, and no labels.
  world.machines.set('lab/vm-a', { runStrategy: 'Manual', printableStatus: 'Stopped', template: [MAC_A] });
  await world.report(MAC_A);
  expect(world.calls).not.toContain('start lab/vm-a');
});
