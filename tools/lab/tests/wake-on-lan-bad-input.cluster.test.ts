/** What is wrong in a cluster with Wake-on-LAN: each has a condition or an Event that names it and what to do, and the rest goes on. */
import { readConditions } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MachineToWake, WakeManagers, type WakeReporter, waitFor } from '../src/index.js';

const SHARED_ADDRESS = '02:00:5e:00:66:01';

let world: WakeManagers;
let agent: WakeReporter;

beforeAll(async () => {
  world = await WakeManagers.start();
  const manager = await world.startManager();
  await world.leads(manager);
  await world.allow('allowed');
  agent = await world.startAgent('node-1', manager.address, await world.mountedCertificate());
});

afterAll(async () => {
  await world?.endOpened();
  await world?.stop();
});

/** The message of a condition once it is False for this reason. */
async function messageOf(config: string, type: string, reason: string): Promise<string> {
  return await waitFor(`${type} ${reason} of ${config}`, async () => {
    const { status } = (await world.cluster.admin.get('WolConfig', config)) ?? {};
    const found = readConditions(status).find((one) => one.type === type && one.status === 'False' && one.reason === reason);
    return found?.message;
  });
}

/** A machine of another WolConfig is started. */
async function expectTheRestGoesOn(): Promise<void> {
  const good = await world.machine('allowed');
  await stopped(good);
  expect(await agent.deliver(good.mac)).toMatchObject({ status: 'vm-start-initiated' });
  await world.kubevirt.untilStatus(good.key, 'Running');
}

async function stopped({ key, mac }: MachineToWake): Promise<void> {
  await world.kubevirt.untilStatus(key, 'Stopped');
  await waitFor('the list', () => agent.addresses().has(mac));
}

describe('Wake-on-LAN with bad input', () => {
  it('port 70000, as the predecessor stored it: InvalidConfig names the field, and the others wake', async () => {
    const name = await world.allow('other');
    // What is new is checked by the API server; an object that has a status is not.
    await world.cluster.admin.waitForObject('WolConfig', name, ({ status }) => readConditions(status).length > 0);
    await world.cluster.admin.patch('WolConfig', name, { spec: { wolPorts: [9, 70_000] } });
    expect(await messageOf(name, 'Ready', 'InvalidConfig')).toBe(
      'spec.wolPorts[1]: invalid WOL port 70000; write a number from 1 to 65535',
    );
    await expectTheRestGoesOn();
  });

  it('a mapping to a machine that does not exist: MachineMissing names it, and the other mapping wakes', async () => {
    const there = await world.machine('other');
    const mapping = (macAddress: string, vmName: string) => ({ macAddress, namespace: 'other', vmName });
    const [, vmName = ''] = there.key.split('/');
    const name = await world.allow('other', {
      discoveryMode: 'Explicit',
      explicitMappings: [mapping('02:00:5e:00:66:02', vmName), mapping('02:00:5e:00:66:03', 'gone')],
    });
    expect(await messageOf(name, 'MappingsResolved', 'MachineMissing')).toMatch(
      /other\/gone; create them, or correct the mappings/,
    );
    expect(await agent.deliver('02:00:5e:00:66:03')).toMatchObject({ status: 'vm-not-found' });
    await stopped({ ...there, mac: '02:00:5e:00:66:02' });
    expect(await agent.deliver('02:00:5e:00:66:02')).toMatchObject({ status: 'vm-start-initiated' });
  });

  it('two machines with one address: AddressAmbiguous and an Event at both; neither starts until one is gone', async () => {
    const [one, other] = [
      await world.machine('allowed', 'Manual', SHARED_ADDRESS),
      await world.machine('allowed', 'Manual', SHARED_ADDRESS),
    ];
    const name = await world.allow('allowed', { wolPorts: [7] });
    const message = await messageOf(name, 'MappingsResolved', 'AddressAmbiguous');
    for (const { key } of [one, other]) expect(message).toContain(key);
    await stopped(one);
    const answer = await agent.deliver(SHARED_ADDRESS);
    expect(answer.status).toBe('error');
    expect(answer.message).toContain('Change the address of all but one');
    for (const { key } of [one, other]) {
      await waitFor(`the Event of ${key}`, async () => (await world.eventsOf(key)).includes('WakeUpAmbiguous'));
      expect(world.kubevirt.startsOf(key)).toEqual([]);
    }
    await expectTheRestGoesOn();
    await world.cluster.admin.delete('VirtualMachine', other.key);
    await waitFor(
      'the other one to be started',
      async () => (await agent.deliver(SHARED_ADDRESS)).status === 'vm-start-initiated',
    );
    await world.kubevirt.untilStatus(one.key, 'Running');
  });
});
