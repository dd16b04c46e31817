import { describe, expect, it } from 'vitest';
import { agentObject, endpointObject, lease, nameOf, Rack } from '../rack-fixtures.js';

const A_MOMENT = 1_000;
/** Their management controllers are switched off: no poll changes anything. */
function darkRack(agent = agentObject()): Rack {
  const rack = new Rack(agent);
  rack.health = async () => ({ kind: 'unhealthy', message: 'no route to host' });
  return rack;
}

const many = (count: number) => Array.from({ length: count }, (_, index) => lease(10 + index));

describe('the objects of hosts', () => {
  it('story: a lease begins, ends, and returns with another MAC address; each is one write of the status', async () => {
    const rack = darkRack();
    rack.leases = [lease(10), lease(11)];
    const agent = rack.lead({ pollIntervalMs: 3_600_000 });
    await rack.clock.advance(A_MOMENT);
    expect(rack.written.toSorted()).toEqual([
      `create ${nameOf(10)}`,
      `create ${nameOf(11)}`,
      `patchStatus ${nameOf(10)}`,
      `patchStatus ${nameOf(11)}`,
    ]);
    const after = async (leases: typeof rack.leases) => {
      rack.written.length = 0;
      rack.leases = leases;
      agent.leasesChanged();
      await rack.clock.advance(A_MOMENT);
      return rack.written;
    };
    expect(await after([lease(11)])).toEqual([`patch ${nameOf(10)}`, `patchStatus ${nameOf(10)}`]);
    expect(await after([lease(11)])).toEqual([]);
    expect(await after([lease(10, 99), lease(11)])).toEqual([`patch ${nameOf(10)}`, `patchStatus ${nameOf(10)}`]);
    expect(rack.host(10)?.status).toMatchObject({ basic: { mac: '02:00:00:00:00:63', activeDhcpClient: true } });
    const ofLeases = rack.reasons.filter((reason) => reason !== 'HostUnhealthy');
    expect(ofLeases).toEqual(['HostDiscovered', 'HostDiscovered', 'LeaseEnded', 'MacAddressChanged', 'LeaseReturned']);
    expect([...rack.events.objects.values()][0]?.involvedObject).toMatchObject({
      apiVersion: 'bmc.spidernet.io/v1beta1',
      kind: 'HostStatus',
      uid: rack.host(10)?.metadata.uid,
    });
    await agent.stop();
    expect(rack.clock.pending).toBe(0);
  });

  it.each([10, 800, 2_000])(
    'a plan that takes %i ms takes at most a sixth of the time, however often leases change',
    async (planMs) => {
      const rack = darkRack();
      const planned: number[] = [];
      let tookMs = 0;
      const clock = { after: rack.clock.after, nowMs: () => rack.clock.nowMs() + tookMs };
      const leases = () => {
        tookMs += planMs;
        planned.push(rack.clock.nowMs());
        return [];
      };
      const agent = rack.lead({ clock, leases });
      for (let change = 0; change < 300; change++) {
        agent.leasesChanged();
        await rack.clock.advance(100);
      }
      await agent.stop();
      const shortestMs = Math.max(100, 5 * planMs);
      const [, ...rests] = planned.map((atMs, index) => atMs - (planned[index - 1] ?? 0));
      expect(rests.length).toBeGreaterThan(0);
      expect(Math.min(...rests)).toBeGreaterThanOrEqual(shortestMs);
    },
  );

  it('a process that is stopped for a minute in the middle of a plan plans again within ten seconds', async () => {
    const rack = darkRack();
    rack.leases = [lease(10)];
    let [stoppedMs, stopMs] = [0, 0];
    const clock = { after: rack.clock.after, nowMs: () => rack.clock.nowMs() + stoppedMs };
    const leases = () => {
      [stoppedMs, stopMs] = [stoppedMs + stopMs, 0];
      return rack.leases;
    };
    const agent = rack.lead({ clock, leases, pollIntervalMs: 3_600_000 });
    await rack.clock.advance(5_000);
    stopMs = 60_000;
    agent.leasesChanged();
    await rack.clock.advance(A_MOMENT);
    rack.leases = [lease(10), lease(11)];
    agent.leasesChanged();
    await rack.clock.advance(10_000 + A_MOMENT);
    expect(rack.written).toContain(`create ${nameOf(11)}`);
    await agent.stop();
  });

  it('until the DHCP server has loaded its leases, none counts as ended', async () => {
    const rack = darkRack(agentObject({ enableBindDhcpIP: false }));
    rack.leases = [lease(10)];
    await rackAfter(rack, (first) => first.stop());
    rack.written.length = 0;
    rack.leases = undefined;
    const agent = rack.lead();
    await rack.clock.advance(A_MOMENT);
    expect(rack.host(10)).toBeDefined();
    rack.leases = [];
    agent.leasesChanged();
    await rack.clock.advance(A_MOMENT);
    expect(rack.written.filter((one) => one.startsWith('delete'))).toEqual([`delete ${nameOf(10)}`]);
    await rack.clock.advance(60_000);
    expect(rack.written.filter((one) => one.startsWith('delete'))).toHaveLength(1);
  });

  it('incomplete objects are completed; a HostEndpoint adopts a learned address', async () => {
    const rack = darkRack();
    rack.leases = [lease(10), lease(11)];
    let lost = 0;
    rack.hosts.writeFault = (what) => (what === 'patchStatus' && lost++ === 0 ? 'lost-request' : 'none');
    const first = rack.lead({ pollIntervalMs: 3_600_000 });
    await rack.clock.advance(50);
    await first.stop();
    rack.lead({ pollIntervalMs: 3_600_000 });
    await rack.clock.advance(A_MOMENT);
    expect(rack.host(10)?.status).toMatchObject({ clusterAgent: 'rack', basic: { ipAddr: '10.0.0.10' } });
    rack.endpoints.put(endpointObject('web', '10.0.0.10'));
    await rack.clock.advance(A_MOMENT);
    expect(rack.host(10)).toMatchObject({
      metadata: { ownerReferences: [{ name: 'web', controller: true }] },
      status: { basic: { type: 'hostEndpoint', mac: '02:00:00:00:00:0a' } },
    });
    expect(rack.reasons).toContain('HostEndpointAdopted');
  });

  it('an object that a person edits is corrected, and is not delayed by another one whose writes fail', async () => {
    const rack = darkRack();
    rack.leases = many(20);
    rack.lead({ pollIntervalMs: 3_600_000 });
    await rack.clock.advance(2 * A_MOMENT);
    rack.hosts.writeFault = () => 'lost-request';
    const edit = (number: number) => rack.hosts.put({ ...rack.host(number), status: { basic: {} } } as never);
    for (let number = 10; number < 29; number++) edit(number);
    await rack.clock.advance(A_MOMENT);
    const refused = new Set(Array.from({ length: 19 }, (_, index) => nameOf(10 + index)));
    rack.hosts.writeFault = () => 'none';
    const { patchStatus } = rack.hosts;
    Object.assign(rack.hosts, {
      patchStatus: (...[target, patch]: Parameters<typeof patchStatus>) =>
        refused.has(target.key) ? Promise.reject(new Error('HTTP 500')) : patchStatus(target, patch),
    });
    edit(29);
    await rack.clock.advance(A_MOMENT);
    expect(rack.host(29)?.status).toMatchObject({ clusterAgent: 'rack', basic: { ipAddr: '10.0.0.29' } });
    const failed = rack.observed.filter(({ kind }) => kind === 'write-failed').length;
    await rack.clock.advance(600_000);
    const later = rack.observed.filter(({ kind }) => kind === 'write-failed').length - failed;
    expect(later, 'one try a minute at most, in the end').toBeLessThan(19 * 25);
    refused.clear();
    await rack.clock.advance(60_000);
    expect(rack.host(10)?.status).toMatchObject({ clusterAgent: 'rack' });
  });

  it('writes to a server that does not store them become less and less frequent', async () => {
    const rack = darkRack();
    rack.leases = [lease(10)];
    rack.hosts.onWritten = (what, key) => {
      rack.written.push(what);
      const object = rack.hosts.objects.get(key);
      if (what === 'patchStatus' && object !== undefined) rack.hosts.put({ ...object, status: {} } as never);
    };
    rack.lead({ pollIntervalMs: 3_600_000 });
    await rack.clock.advance(600_000);
    expect(rack.written.length).toBeLessThan(40);
  });

  it('after stop no write begins, not even the second one of an object that was just created; the next leader makes it', async () => {
    const rack = darkRack();
    rack.leases = many(40);
    const agent = rack.lead();
    const record = rack.hosts.onWritten;
    let stopped: Promise<void> | undefined;
    rack.hosts.onWritten = (what, key) => {
      record(what, key);
      stopped ??= agent.stop();
    };
    await rack.clock.advance(A_MOMENT);
    await stopped;
    // Those in progress.
    expect(rack.written.every((one) => one.startsWith('create'))).toBe(true);
    expect(rack.written.length).toBeLessThanOrEqual(16);
    await rack.clock.advance(600_000);
    expect([rack.written.length <= 16, rack.clock.pending]).toEqual([true, 0]);
    rack.hosts.onWritten = record;
    rack.lead();
    await rack.clock.advance(2_000);
    expect(rack.written.filter((one) => one.startsWith('create'))).toHaveLength(40);
    expect(rack.written).toHaveLength(80);
  });

  it('law: 1,000 hosts cause exactly two writes each; without a change there is none, and one change is one write of the status', async () => {
    const rack = darkRack();
    rack.leases = many(1_000);
    const agent = rack.lead({ pollIntervalMs: 86_400_000, random: () => 0.999 });
    await rack.clock.advance(5_000);
    expect(rack.written.filter((one) => one.startsWith('create'))).toHaveLength(1_000);
    expect(rack.written).toHaveLength(2_000);
    rack.written.length = 0;
    for (let turn = 0; turn < 20; turn++) {
      agent.leasesChanged();
      await rack.clock.advance(500);
    }
    expect(rack.written).toEqual([]);
    rack.leases = many(999);
    agent.leasesChanged();
    await rack.clock.advance(A_MOMENT);
    expect(rack.written).toEqual([`patch ${nameOf(1_009)}`, `patchStatus ${nameOf(1_009)}`]);
  });
});

describe('bindings', () => {
  it('bindings are passed on when they change, and not when a poll changes a host', async () => {
    const rack = new Rack();
    rack.leases = [lease(10)];
    const agent = rack.lead();
    await rack.clock.advance(A_MOMENT);
    expect(rack.bound.map(({ bindings }) => bindings.map(({ ipAddress }) => ipAddress))).toEqual([[], ['10.0.0.10']]);
    await rack.clock.advance(600_000);
    expect(rack.bound).toHaveLength(2);
    rack.endpoints.put(endpointObject('web', '10.0.0.77'));
    await rack.clock.advance(A_MOMENT);
    expect(rack.bound.at(-1)).toMatchObject({ keptOut: ['10.0.0.77'] });
    rack.leases = [];
    agent.leasesChanged();
    await rack.clock.advance(A_MOMENT);
    expect(rack.bound.at(-1)?.bindings).toMatchObject([{ ipAddress: '10.0.0.10', isActive: false }]);
    rack.clusterAgents.put(agentObject({ enableBindDhcpIP: false, enableBindStaticIP: false }));
    await rack.clock.advance(A_MOMENT);
    expect(rack.bound.at(-1)).toMatchObject({ bindings: [], keptOut: [] });
  });
});

async function rackAfter(rack: Rack, then: (agent: ReturnType<Rack['lead']>) => Promise<void>): Promise<void> {
  const agent = rack.lead({ pollIntervalMs: 3_600_000 });
  await rack.clock.advance(A_MOMENT);
  await then(agent);
}
