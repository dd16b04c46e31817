/** Whole agents: successive leaders, switches, and any order of events. */

import { fencedClient } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readClusterAgent } from '../host/cluster-agent-settings.js';
import { readHost } from '../host/read-host.js';
import { planHostInventory } from '../inventory/plan-host-inventory.js';
import { addressOf, agentObject, endpointObject, lease, nameOf, Rack } from './rack-fixtures.js';

const MINUTE = 60_000;

/** The names of the existing objects. */
const names = (rack: Rack) => [...rack.hosts.objects.keys()].toSorted();

describe('successive leaders', () => {
  it('the next one writes nothing that the previous one has written, and corrects what happened meanwhile', async () => {
    const rack = new Rack(agentObject({ enableBindDhcpIP: false }));
    rack.leases = [lease(10), lease(11), lease(12)];
    const first = rack.lead();
    await rack.clock.advance(2_000);
    await first.stop();
    rack.written.length = 0;
    // No agent is leader: a lease ends, another client has an address, and a person deletes an object.
    rack.leases = [lease(11, 99), lease(12), lease(13)];
    rack.hosts.remove(nameOf(12));
    await rack.clock.advance(MINUTE);
    expect(rack.written).toEqual([]);
    rack.lead();
    await rack.clock.advance(2 * MINUTE);
    expect(rack.written.toSorted()).toEqual(
      [
        `delete ${nameOf(10)}`,
        `patchStatus ${nameOf(11)}`,
        ...[12, 13].flatMap((number) => [
          `create ${nameOf(number)}`,
          `patchStatus ${nameOf(number)}`,
          `patchStatus ${nameOf(number)}`,
        ]),
      ].toSorted(),
    );
  });

  it('the next one also knows since when a host does not answer, until it answers', async () => {
    const rack = new Rack();
    rack.leases = [lease(10), lease(11)];
    rack.health = async ({ name }) =>
      name === nameOf(10) ? { kind: 'unhealthy', message: 'no route to host' } : { kind: 'healthy', info: {}, log: [] };
    const first = rack.lead();
    await rack.clock.advance(2 * MINUTE);
    const since = [...first.unhealthySinceMs];
    expect(since).toEqual([[nameOf(10), expect.any(Number)]]);
    await first.stop();
    await rack.clock.advance(MINUTE);
    const second = rack.lead();
    await rack.clock.advance(2_000);
    const [[, beganMs] = ['', 0]] = since;
    const [[name, foundMs] = ['', 0]] = second.unhealthySinceMs;
    expect([name, Math.floor(foundMs / 1_000)]).toEqual([nameOf(10), Math.floor(beganMs / 1_000)]);
    rack.health = async () => ({ kind: 'healthy', info: {}, log: [] });
    await rack.clock.advance(5 * MINUTE);
    expect([...second.unhealthySinceMs]).toEqual([]);
  });

  it('a former leader that does not know it yet writes nothing, and the action of an operation is carried out once', async () => {
    const rack = new Rack();
    rack.leases = [lease(10)];
    let leading = 1;
    const fencedFor = (number: number) => ({
      hostStatuses: fencedClient(rack.hosts, () => leading === number),
      hostOperations: fencedClient(rack.operations, () => leading === number),
    });
    rack.lead(fencedFor(1));
    await rack.clock.advance(2_000);
    leading = 2;
    rack.lead(fencedFor(2));
    rack.order('off', 'ForceOff');
    await rack.clock.advance(5 * MINUTE);
    expect(rack.actions).toEqual([`ForceOff ${nameOf(10)}`]);
    expect(rack.operations.objects.get('off')?.status).toMatchObject({ status: 'success', startedBy: 'run-2' });
  });

  it('a leader that is stopped before its caches are complete never begins', async () => {
    const rack = new Rack();
    rack.leases = [lease(10)];
    const agent = rack.lead();
    const stopped = agent.stop();
    agent.start();
    await rack.clock.advance(5 * MINUTE);
    await stopped;
    expect([agent.isSynced, rack.written, rack.polled, rack.clock.pending]).toEqual([false, [], [], 0]);
  });
});

describe('ports with a bug', () => {
  it('are reported, and what they broke is tried again', async () => {
    const rack = new Rack();
    rack.leases = [lease(10)];
    let failures = 2;
    const onBindings = () => {
      if (failures-- > 0) throw new Error('a bug in a port');
    };
    const managementControllers = { read: () => Promise.reject(new Error('it must not reject')), operate: rack.operate };
    rack.lead({ onBindings, managementControllers });
    await rack.clock.advance(MINUTE);
    expect(rack.host(10)?.status).toMatchObject({ clusterAgent: 'rack', healthy: false });
    const errors = rack.observed.flatMap((one) => (one.kind === 'unexpected-error' ? String(one.error) : []));
    expect(new Set(errors)).toEqual(new Set(['Error: a bug in a port', 'Error: it must not reject']));
  });
});

describe('switches of the ClusterAgent', () => {
  it('without discovery, no lease has an object; without the ClusterAgent nothing is written and nothing polled', async () => {
    const rack = new Rack(agentObject({ enableDhcpDiscovery: false }));
    rack.leases = [lease(10)];
    rack.endpoints.put(endpointObject('web', addressOf(20)));
    rack.lead();
    await rack.clock.advance(2_000);
    expect(names(rack)).toEqual([nameOf(20)]);
    rack.clusterAgents.put(agentObject());
    await rack.clock.advance(2_000);
    expect(names(rack)).toEqual([nameOf(10), nameOf(20)]);
    rack.clusterAgents.remove('rack');
    await rack.clock.advance(1_000);
    rack.written.length = 0;
    rack.polled.length = 0;
    rack.leases = [];
    rack.hosts.put({ metadata: { name: nameOf(10) }, status: {} } as never);
    await rack.clock.advance(10 * MINUTE);
    expect([rack.written, rack.polled]).toEqual([[], []]);
    expect(rack.observed.filter(({ kind }) => kind === 'hosts').at(-1)).toMatchObject({ healthy: 0, unhealthy: 0 });
  });

  it('a bound client keeps its object; with the annotation none, the object is deleted with the lease', async () => {
    const rack = new Rack();
    rack.leases = [lease(10), lease(11)];
    const agent = rack.lead();
    await rack.clock.advance(2_000);
    const host = rack.host(11);
    rack.hosts.put({ ...host, metadata: { ...host?.metadata, annotations: { 'bmc.spidernet.io/bound-to': 'none' } } } as never);
    rack.leases = [];
    agent.leasesChanged();
    await rack.clock.advance(2_000);
    expect(names(rack)).toEqual([nameOf(10)]);
    expect(rack.host(10)?.metadata.labels).toMatchObject({ 'bmc.spidernet.io/dhcp-ip-active': 'false' });
  });
});

describe('any order of events', () => {
  const number = fc.integer({ min: 10, max: 14 });
  const step = fc.oneof(
    fc.record({ kind: fc.constant('lease' as const), number, client: number }),
    fc.record({ kind: fc.constant('end' as const), number }),
    fc.record({ kind: fc.constant('unknown' as const) }),
    fc.record({ kind: fc.constant('endpoint' as const), number, isThere: fc.boolean() }),
    fc.record({
      kind: fc.constant('edit' as const),
      number,
      status: fc.constantFrom({}, { clusterAgent: 'rack', basic: { ipAddr: '192.0.2.1' } }, undefined),
    }),
    fc.record({ kind: fc.constant('remove' as const), number }),
    fc.record({ kind: fc.constant('switch' as const), isOn: fc.boolean() }),
    fc.record({ kind: fc.constant('crash' as const) }),
    fc.record({
      kind: fc.constant('faults' as const),
      faults: fc.array(fc.constantFrom('lost-request', 'lost-answer', 'conflict'), { maxLength: 4 }),
    }),
  );
  type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

  class Story {
    readonly rack = new Rack();
    readonly leases = new Map<number, number>();
    readonly #life = { current: { isDead: false } };
    agent = this.rack.lead(this.rack.mortal(this.#life.current));
    isKnown = true;

    async take(one: Step, waitMs: number): Promise<void> {
      const { rack } = this;
      switch (one.kind) {
        case 'lease':
          this.leases.set(one.number, one.client);
          break;
        case 'end':
          this.leases.delete(one.number);
          break;
        case 'unknown':
          this.isKnown = !this.isKnown;
          break;
        case 'endpoint':
          if (one.isThere) rack.endpoints.put(endpointObject(`web-${one.number}`, addressOf(one.number)));
          else rack.endpoints.remove(`web-${one.number}`);
          break;
        case 'edit':
          if (rack.host(one.number) !== undefined) rack.hosts.put({ ...rack.host(one.number), status: one.status } as never);
          break;
        case 'remove':
          rack.hosts.remove(nameOf(one.number));
          break;
        case 'switch':
          rack.clusterAgents.put(agentObject({ enableBindDhcpIP: one.isOn }));
          break;
        case 'crash':
          this.#life.current.isDead = true;
          this.#life.current = { isDead: false };
          this.agent = rack.lead(rack.mortal(this.#life.current));
          break;
        case 'faults': {
          const left = [...one.faults];
          rack.hosts.writeFault = () => left.shift() ?? 'none';
        }
      }
      this.#tell();
      await rack.clock.advance(waitMs);
    }

    /** From here on, nothing else happens and nothing is lost. */
    async end(): Promise<void> {
      if (!this.isKnown) await this.take({ kind: 'unknown' }, 0);
      await this.rack.clock.advance(500);
      this.rack.hosts.writeFault = () => 'none';
      await this.rack.clock.advance(3 * MINUTE);
    }

    #tell(): void {
      this.rack.leases = this.isKnown ? [...this.leases].map(([one, client]) => lease(one, client)) : undefined;
      this.agent.leasesChanged();
    }
  }

  it('law: in the end the objects match the leases and HostEndpoints, all with a lease or a HostEndpoint are healthy, and nothing more is written', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(step, fc.integer({ min: 0, max: 300 })), { minLength: 5, maxLength: 25 }),
        async (steps) => {
          const story = new Story();
          for (const [one, waitMs] of steps) await story.take(one, waitMs);
          await story.end();
          const { rack } = story;
          const [agent] = rack.clusterAgents.objects.values();
          const hostStatuses = [...rack.hosts.objects.values()];
          const endpoints = [...rack.endpoints.objects.values()];
          const facts = { clusterAgents: ['rack'], leases: rack.leases, endpoints, hostStatuses, nowMs: rack.wallTimeMs };
          expect(planHostInventory({ ...facts, clusterAgent: readClusterAgent(agent as never) }).actions).toEqual([]);
          for (const [one] of story.leases) expect(rack.host(one), nameOf(one)).toBeDefined();
          for (const host of hostStatuses.map(readHost)) expect(host.isHealthy, host.name).toBe(host.isActive !== false);
          rack.written.length = 0;
          await rack.clock.advance(5 * MINUTE);
          expect(rack.written).toEqual([]);
          for (const one of rack.polled) expect(one).not.toContain('192.0.2.1');
        },
      ),
      { numRuns: 40 },
    );
  });
});
