/** The address that is kept for a guest whose VirtualMachineNetworkConfig is missing ends some time. */
import { expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const MAC = '02:00:00:00:00:0a';
const HELD = { '10.0.0.10': MAC };

async function cluster(): Promise<Running> {
  const running = new Running();
  running.hasWallClock = true;
  for (const n of [1, 2])
    await running.add(
      network(`net-${n}`),
      pool(`pool-${n}`, { network: `default/net-${n}`, start: '10.0.0.10', end: '10.0.0.10' }),
    );
  await running.started();
  await running.add(virtualMachine('vm-a', { interfaces: { nic: [MAC, 'net-1'] } }));
  running.startInstance('vm-a', { interfaces: { nic: ['net-1', MAC, MAC] } });
  await running.settle();
  expect(running.allocated('pool-1')).toEqual(HELD);
  return running;
}

function moveToPodNetwork(running: Running): void {
  running.change('VirtualMachineInstance', 'vm-a', (vmi) => ({
    ...vmi,
    spec: { ...(vmi.spec as object), networks: [{ name: 'nic', pod: {} }] },
  }));
  running.change('VirtualMachine', 'vm-a', (vm) => {
    const { template } = vm.spec as { template: { spec: object } };
    return {
      ...vm,
      spec: { ...(vm.spec as object), template: { spec: { ...template.spec, networks: [{ name: 'nic', pod: {} }] } } },
    };
  });
}

it('an address is free an hour after its guest has moved to the pod network, where it needs no other', async () => {
  const running = await cluster();
  moveToPodNetwork(running);
  await running.settle();
  expect(running.allocated('pool-1')).toEqual(HELD);
  for (let hour = 0; hour < 6; hour++) await running.settle(3_700_000);
  expect(running.allocated('pool-1'), 'after six hours').toEqual({});
  expect(running.networkConfig('vm-a')).toBeUndefined();
});
