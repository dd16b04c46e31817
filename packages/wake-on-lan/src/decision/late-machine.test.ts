/** Machines are known from a watch, which may be late: a machine that has another address by now is not started. */
import { expect, it } from 'vitest';
import { DecisionWorld, MAC_A, MAC_B, VM_A } from './decision-fixtures.js';

it.each([
  ['it has the address', [MAC_B, MAC_A], true],
  ['it has the address, in another spelling', [MAC_A.toUpperCase().replaceAll(':', '-')], true],
  ['KubeVirt chooses one of its addresses', [MAC_B, undefined], true],
  ['it has another address by now', [MAC_B], false],
])('vm-a is found by an address, and %s: it is started only if it may have the address', async (_, template, isStarted) => {
  const world = new DecisionWorld();
  world.machines.set('lab/vm-a', { runStrategy: 'Manual', printableStatus: 'Stopped', template });
  const { status } = await world.ask(MAC_A);
  expect([world.calls.includes('start lab/vm-a'), status === 'vm-start-initiated']).toEqual([isStarted, isStarted]);
  expect(world.answers.map(({ verdict }) => verdict.reason)).toEqual([isStarted ? 'start-accepted' : 'no-longer-allowed']);
});

it.each([
  ['it had another one', [MAC_B]],
  ['it had this one some time ago', [MAC_A]],
])('a mapping starts its machine, whatever addresses it has (%s)', async (_, macAddresses) => {
  const world = new DecisionWorld();
  world.inventory = [{ ...VM_A, macAddresses }];
  const mapping = { macAddress: MAC_A, namespace: 'lab', name: 'vm-a' };
  world.configs = [{ name: 'mapped', namespaces: ['lab'], mode: 'Explicit', mappings: [mapping] }];
  world.machines.set('lab/vm-a', { runStrategy: 'Manual', printableStatus: 'Stopped', template: [MAC_B] });
  await world.ask(MAC_A);
  expect(world.calls).toContain('start lab/vm-a');
});

it('the message says which one it is: the WolConfig no longer allows it, or the machine has another address', async () => {
  const world = new DecisionWorld();
  world.machines.set('lab/vm-a', { runStrategy: 'Manual', printableStatus: 'Stopped', template: [MAC_B] });
  const { message } = await world.ask(MAC_A);
  expect(message).toContain(`it no longer has an interface with the address ${MAC_A}; send the packet to one that it has`);
  expect(message).not.toContain('WolConfig allows');
});
