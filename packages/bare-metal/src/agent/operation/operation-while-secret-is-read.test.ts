/** Between `pending` and the action, the agent reads the Secret of the host, for up to ten seconds. */
import { describe, expect, it } from 'vitest';
import { agentObject, lease, nameOf, Rack } from '../rack-fixtures.js';

/** Two healthy hosts with one Secret, which the agent reads slowly from now on. */
async function start() {
  const rack = new Rack(agentObject({}, { secretName: 'bmc', secretNamespace: 'default' }));
  rack.putSecret('default/bmc', { username: 'YQ==', password: 'Yg==' });
  rack.seed(2);
  // A new leader: the host is healthy, as the former one left it, and the list of the Secret takes five seconds.
  const secret = rack.secrets.get('default/bmc');
  if (secret === undefined) throw new Error('no Secret');
  const { list } = secret;
  Object.assign(secret, {
    list: async (...parameters: Parameters<typeof list>) => {
      await new Promise<void>((resolve) => rack.clock.after(5_000, resolve));
      return list(...parameters);
    },
  });
  const agent = rack.lead();
  await rack.clock.advance(500);
  await rack.clock.advance(1);
  rack.order('off', 'ForceOff');
  await rack.clock.advance(1_000);
  expect(rack.operations.objects.get('off')?.status).toMatchObject({ status: 'pending' });
  expect(rack.actions).toEqual([]);
  return { rack, agent };
}

describe('an operation that is pending while the Secret of its host is read', () => {
  it('is not carried out if a person deletes it meanwhile', async () => {
    const { rack } = await start();
    rack.operations.remove('off');
    await rack.clock.advance(20_000);
    expect(rack.actions).toEqual([]);
  });

  it('is not carried out on another machine that got the address meanwhile', async () => {
    const { rack, agent } = await start();
    rack.leases = [lease(10, 99), lease(11)];
    agent.leasesChanged();
    await rack.clock.advance(2_000);
    expect(rack.host(10)?.status).toMatchObject({ basic: { mac: '02:00:00:00:00:63' } });
    await rack.clock.advance(20_000);
    expect(rack.actions).toEqual([]);
  });

  it('is not carried out if its host has no lease any longer', async () => {
    const { rack, agent } = await start();
    rack.leases = [lease(11)];
    agent.leasesChanged();
    await rack.clock.advance(2_000);
    expect(rack.host(10)?.status).toMatchObject({ basic: { activeDhcpClient: false } });
    await rack.clock.advance(20_000);
    expect(rack.actions).toEqual([]);
  });

  it('is carried out if nothing changes', async () => {
    const { rack } = await start();
    await rack.clock.advance(20_000);
    expect(rack.actions).toEqual([`ForceOff ${nameOf(10)}`]);
  });
});
