import { expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const interfaces = { one: ['02:00:00:00:00:01', 'net-1'], three: ['02:00:00:00:00:03', 'net-3'] } as const;

async function started(): Promise<Running> {
  const running = new Running();
  await running.add(network('net-1'), network('net-3'));
  await running.add(
    pool('pool-1', { paused: true }),
    pool('pool-3', { network: 'default/net-3', start: '10.0.0.50', end: '10.0.0.59' }),
    virtualMachine('vm-a', { interfaces }),
  );
  await running.started();
  expect(running.allocated('pool-3')).toEqual({});
  return running;
}

it('the pool that prevented a machine from getting its other addresses is deleted: the others are checked again', async () => {
  const running = await started();
  await running.remove('IPPool', 'pool-1');
  await running.settle(3_600_000);
  const withoutRestart = running.allocated('pool-3');
  await running.restart();
  expect(running.allocated('pool-3'), 'after a restart').toEqual({ '10.0.0.50': '02:00:00:00:00:03' });
  expect(withoutRestart).toEqual({ '10.0.0.50': '02:00:00:00:00:03' });
});
