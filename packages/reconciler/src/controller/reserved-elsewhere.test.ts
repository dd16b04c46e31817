/** Reservations of a MAC address on networks where its machine has never been. */
import { readList, readText } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const MAC = '02:00:00:00:00:0a';

/** A machine runs before the controller sees it; tenants have pools on networks of their own, which reserve an address for its MAC address. */
async function withReservations(count: number, isInvalid = false): Promise<Running> {
  const running = new Running();
  await running.add(network(), pool());
  for (let n = 0; n < count; n++) {
    const metadata = (name: string) => ({ metadata: { namespace: 'tenant', name } });
    const own = { ...network(), ...metadata(`net-${n}`) };
    const ipv4Config = { reservations: [{ macAddress: MAC, ipAddress: '10.0.0.15' }] };
    const reserving = { ...pool('', { network: `tenant/net-${n}`, ipv4Config }), ...metadata(`pool-${n}`) };
    await running.add(own, reserving);
  }
  await running.started();
  const stored = running.cluster.ipPools.objects.get('tenant/pool-0');
  if (isInvalid && stored !== undefined) {
    const { spec, metadata } = stored as { spec: { ipv4Config: object }; metadata: typeof stored.metadata };
    const ipv4Config = { ...spec.ipv4Config, cidr: '10.0.0.0' };
    running.cluster.ipPools.put({ ...stored, metadata: { ...metadata, generation: 7 }, spec: { ...spec, ipv4Config } });
  }
  await running.settle();
  void running.controller.stop();
  await running.add(virtualMachine('vm-a', { interfaces: { nic: [MAC, 'net-1'] } }));
  running.startInstance('vm-a', { interfaces: { nic: ['net-1', MAC, MAC] } });
  await running.restart();
  await running.settle(60_000);
  return running;
}
const networksOf = (running: Running) =>
  readList(running.networkConfig('vm-a')?.spec, 'networkConfigs').map((one) => readText(one, 'networkName'));

it('a machine whose MAC address is reserved on a network where it has never been gets no entry there', async () => {
  expect(networksOf(await withReservations(1))).toEqual(['default/net-1']);
});

it('reservations on networks of other tenants do not keep a machine from its address', async () => {
  const running = await withReservations(4);
  expect(networksOf(running)).toContain('default/net-1');
  expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': MAC });
});

it('an invalid pool of another tenant that reserves its MAC address does not keep a machine from its address', async () => {
  const running = await withReservations(1, true);
  expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': MAC });
});
