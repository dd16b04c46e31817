import { expect, it } from 'vitest';
import { virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

it('a VirtualMachineNetworkConfig that the API server refuses is an Event on the virtual machine', async () => {
  const running = await Running.withPool();
  const { networkConfigs } = running.cluster;
  Object.assign(networkConfigs, {
    create: () => Promise.resolve({ ok: false, reason: 'invalid', message: 'admission webhook "x" denied the request' }),
  });
  await running.add(virtualMachine('vm-a'));
  await running.settle();
  expect(running.events()).toEqual(['NetworkConfigRefused on VirtualMachine vm-a']);
});

it('a network whose name is too long to be stored is an Event on the virtual machine, and does not affect the other interface', async () => {
  const running = await Running.withPool();
  const long = `${'n'.repeat(40)}/${'a'.repeat(40)}`;
  await running.add(
    virtualMachine('vm-a', { interfaces: { nic: ['02:00:00:00:00:0a', 'net-1'], two: ['02:00:00:00:00:02', long] } }),
  );
  await running.settle();
  expect(running.events()).toEqual(['NetworkNameTooLong on VirtualMachine vm-a']);
  expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
});
