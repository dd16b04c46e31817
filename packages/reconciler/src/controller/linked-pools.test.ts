import { expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

/** How often pools are planned in an hour in which nothing changes, each time together with all that waiting machines link to them. */
async function plansInAnHour(count: number): Promise<number> {
  let plans = 0;
  const running = new Running({ onReconciled: ({ kind }) => kind === 'ipPools' && plans++ });
  for (let n = 0; n <= count; n++) {
    running.cluster.networks.put({
      ...network(`net-${n}`),
      metadata: { namespace: 'default', name: `net-${n}`, uid: `net-${n}` },
    });
    const made = pool(`pool-${n}`, { network: `default/net-${n}` });
    running.cluster.ipPools.put({ ...made, metadata: { ...made.metadata, uid: `pool-${n}` } });
  }
  for (let n = 0; n < count; n++) {
    const mac = (nic: number) => `02:00:00:00:0${nic}:${n.toString(16).padStart(2, '0')}`;
    const machine = virtualMachine(`vm-${n}`, {
      interfaces: { one: [mac(1), `net-${n}`], two: [mac(2), `net-${n + 1}`] },
      // The address of the DHCP server: the virtual machine waits for good.
      annotations: { 'static-ip.harvesterhci.io/one': '10.0.0.1' },
    });
    running.cluster.virtualMachines.put({ ...machine, metadata: { ...machine.metadata, uid: `vm-${n}` } });
  }
  await running.started();
  await running.settle(20_000);
  plans = 0;
  await running.settle(3_600_000);
  return plans * (count + 1);
}

it('pools that waiting machines link are checked the more rarely, the more there are: four times as many cost four times as much', async () => {
  const [few, many] = [await plansInAnHour(7), await plansInAnHour(31)];
  expect(few).toBeGreaterThan(200);
  expect(many / few).toBeLessThan(6);
});
