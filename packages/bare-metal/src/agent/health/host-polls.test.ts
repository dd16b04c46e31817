import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import type { HealthReport } from '../../health/health-report.js';
import { readHost } from '../../host/read-host.js';
import { agentObject, endpointObject, lease, nameOf, Rack } from '../rack-fixtures.js';

const MINUTE = 60_000;
const unanswered = () => Promise.withResolvers<never>().promise;
const many = (count: number) => Array.from({ length: count }, (_, index) => lease(10 + index));

describe('health', () => {
  it('story: a host answers, changes, is lost and returns; each change is one write, with its Event before it', async () => {
    const rack = new Rack();
    rack.leases = [lease(10)];
    rack.lead();
    await rack.clock.advance(2_000);
    expect(rack.host(10)?.status).toMatchObject({ healthy: true });
    const next = async (health: typeof rack.health) => {
      rack.health = health;
      rack.written.length = 0;
      await rack.clock.advance(5 * MINUTE);
      return rack.written;
    };
    expect(await next(rack.health), 'nothing changed').toEqual([]);
    const info = { PowerState: 'On' };
    const log = [{ id: '1', time: '', severity: 'Critical', message: 'fan 1 failed' }];
    expect(await next(async () => ({ kind: 'healthy', info, log }))).toEqual([`patchStatus ${nameOf(10)}`]);
    expect(rack.host(10)?.status).toMatchObject({ info, log: { totalLogAccount: 1, warningLogAccount: 1 } });
    const order: string[] = [];
    rack.events.onWritten = (_, key) => order.push(rack.events.objects.get(key)?.reason ?? '');
    rack.hosts.onWritten = (what, key) => {
      rack.written.push(`${what} ${key}`);
      order.push('status');
    };
    expect(await next(async () => ({ kind: 'unhealthy', message: 'no route to host' }))).toEqual([`patchStatus ${nameOf(10)}`]);
    expect(rack.host(10)?.status).toMatchObject({ healthy: false, info: {} });
    expect(await next(async () => ({ kind: 'healthy', info, log }))).toEqual([`patchStatus ${nameOf(10)}`]);
    expect(rack.reasons.filter((one) => one === 'BMCLogEntry')).toHaveLength(1);
    expect(order.toSorted()).toEqual(['HostHealthy', 'HostUnhealthy', 'status', 'status']);
  });

  it('one poll without an answer changes nothing; a second one five seconds later does', async () => {
    const rack = new Rack();
    rack.leases = [lease(10)];
    let toMiss = 0;
    let missed = 0;
    rack.health = async () => {
      if (missed >= toMiss) return { kind: 'healthy', info: {}, log: [] };
      missed++;
      return { kind: 'unhealthy', message: 'timeout' };
    };
    rack.lead();
    await rack.clock.advance(2_000);
    expect(rack.host(10)?.status).toMatchObject({ healthy: true });
    for (const [misses, isHealthy] of [
      [1, true],
      [2, false],
    ] as const) {
      rack.written.length = 0;
      rack.polled.length = 0;
      [toMiss, missed] = [misses, 0];
      await rack.clock.advance(1.05 * MINUTE + 5_000);
      expect(missed).toBe(misses);
      expect(rack.polled.length, 'asked again soon').toBeGreaterThanOrEqual(2);
      expect(rack.host(10)?.status).toMatchObject({ healthy: isHealthy });
      expect(rack.written).toEqual(isHealthy ? [] : [`patchStatus ${nameOf(10)}`]);
    }
    expect(rack.reasons.filter((one) => one === 'HostUnhealthy')).toHaveLength(1);
  });

  it('a poll that the agent could not make changes nothing about a healthy host, however often', async () => {
    const rack = new Rack();
    rack.leases = [lease(10)];
    rack.lead();
    await rack.clock.advance(2_000);
    rack.written.length = 0;
    rack.polled.length = 0;
    rack.health = async () => ({ kind: 'not-read', message: 'no memory' });
    await rack.clock.advance(10 * MINUTE);
    expect(rack.polled.length).toBeGreaterThanOrEqual(9);
    expect(rack.host(10)?.status).toMatchObject({ healthy: true });
    expect([rack.written, rack.reasons.includes('HostUnhealthy')]).toEqual([[], false]);
    expect(rack.observed).toContainEqual({ kind: 'not-polled', name: nameOf(10), message: 'no memory' });
  });

  it('a new leader whose first poll of a host fails does not report it as unhealthy', async () => {
    const rack = new Rack();
    rack.leases = [lease(10)];
    const first = rack.lead();
    await rack.clock.advance(2_000);
    await first.stop();
    let calls = 0;
    rack.health = async () =>
      ++calls === 1 ? { kind: 'unhealthy', message: 'no route to host' } : { kind: 'healthy', info: {}, log: [] };
    rack.lead();
    await rack.clock.advance(2 * MINUTE);
    expect(calls).toBeGreaterThan(1);
    expect(rack.reasons).not.toContain('HostUnhealthy');
    expect(rack.host(10)?.status).toMatchObject({ healthy: true });
  });

  it('a host that never answers has one Event for each cause, and no write', async () => {
    const rack = new Rack();
    rack.leases = [lease(10)];
    rack.health = async () => ({ kind: 'unhealthy', message: 'certificate is not accepted' });
    rack.lead();
    await rack.clock.advance(20 * MINUTE);
    rack.written.length = 0;
    rack.health = async () => ({ kind: 'unhealthy', message: 'HTTP 401' });
    await rack.clock.advance(20 * MINUTE);
    const events = [...rack.events.objects.values()].filter(({ reason }) => reason === 'HostUnhealthy');
    expect(events.map(({ message, count }) => `${message}, ${count}`)).toEqual(['certificate is not accepted, 1', 'HTTP 401, 1']);
    expect(rack.written).toEqual([]);
  });

  it('each entry of a log has one Event, even if writes are lost, Events are limited and the agent restarts', async () => {
    const rack = new Rack();
    rack.leases = [lease(10)];
    const log = Array.from({ length: 200 }, (_, id) => ({ id: String(id), time: '', severity: 'OK', message: `entry ${id}` }));
    rack.health = async () => ({ kind: 'healthy', info: {}, log });
    let writes = 0;
    rack.hosts.writeFault = () => (++writes % 3 === 0 ? 'lost-answer' : writes % 5 === 0 ? 'lost-request' : 'none');
    rack.events.writeFault = () => (++writes % 7 === 0 ? 'lost-answer' : 'none');
    for (let run = 0; run < 4; run++) {
      const agent = rack.lead();
      await rack.clock.advance(8 * MINUTE);
      await agent.stop();
    }
    const messages = [...rack.events.objects.values()]
      .filter(({ reason }) => reason === 'BMCLogEntry')
      .map(({ message }) => message);
    expect(messages.length).toBe(200);
    expect(new Set(messages).size).toBe(200);
  });

  it('an entry whose Event cannot be written waits for the next poll', async () => {
    const rack = new Rack();
    rack.leases = [lease(10)];
    const log = [1, 2, 3].map((id) => ({ id: String(id), time: '', severity: 'OK', message: `entry ${id}` }));
    rack.health = async () => ({ kind: 'healthy', info: {}, log });
    rack.events.writeFault = () => 'lost-request';
    rack.lead();
    await rack.clock.advance(MINUTE / 2);
    expect(rack.host(10)?.status).toMatchObject({ healthy: true, log: { totalLogAccount: 3, reportedEntries: '' } });
    rack.events.writeFault = () => 'none';
    await rack.clock.advance(2 * MINUTE);
    expect(rack.reasons.filter((one) => one === 'BMCLogEntry')).toHaveLength(3);
    expect(rack.host(10)?.status).toMatchObject({ log: { reportedEntries: expect.stringMatching(/^.{24}$/) as string } });
  });

  it('a host that does not answer is polled less often, but at least every four intervals', async () => {
    const rack = new Rack();
    rack.leases = [lease(10)];
    rack.health = async () => ({ kind: 'unhealthy', message: 'no route to host' });
    rack.lead();
    await rack.clock.advance(30 * MINUTE);
    rack.polled.length = 0;
    await rack.clock.advance(40 * MINUTE);
    expect(rack.polled.length).toBeGreaterThanOrEqual(9);
    expect(rack.polled.length).toBeLessThanOrEqual(11);
  });

  it('if a third of 1,000 hosts hangs for ever, the others are polled in each interval, and stay healthy', async () => {
    const rack = new Rack();
    rack.seed(1_000);
    const hangs = (name: string) => Number(name.split('-').at(-1)) % 3 === 0;
    let [atOnce, most, number] = [0, 0, 0];
    rack.health = async ({ name }) => {
      if (hangs(name)) return unanswered();
      most = Math.max(most, ++atOnce);
      await new Promise<void>((resolve) => rack.clock.after(200, resolve));
      atOnce--;
      return { kind: 'healthy', info: {}, log: [] };
    };
    const agent = rack.lead({ random: () => (number++ % 997) / 997 });
    // Each was polled once, and those that hang have exceeded their time.
    await rack.clock.advance(1.6 * MINUTE);
    rack.polled.length = 0;
    await rack.clock.advance(1.1 * MINUTE);
    const polled = new Set(rack.polled.map((one) => one.split(' ')[0]));
    const names = [...rack.hosts.objects.keys()];
    expect(names.filter((name) => !hangs(name) && !polled.has(name))).toEqual([]);
    const healthy = [...rack.hosts.objects.values()]
      .filter((one) => readHost(one).isHealthy)
      .map(({ metadata }) => metadata.name);
    expect(healthy.toSorted()).toEqual(names.filter((name) => !hangs(name)).toSorted());
    expect(most).toBeLessThanOrEqual(64);
    await agent.stop();
    // Events in progress.
    await rack.clock.advance(1_000);
    expect(rack.clock.pending).toBe(0);
  });

  it('new hosts that all hang at once delay no host that answers', async () => {
    const rack = new Rack();
    rack.seed(40);
    const known = new Set(rack.hosts.objects.keys());
    rack.health = async ({ name }) => (known.has(name) ? { kind: 'healthy', info: {}, log: [] } : unanswered());
    const agent = rack.lead({ pollIntervalMs: 5_000 });
    await rack.clock.advance(10_000);
    rack.leases = many(600);
    agent.leasesChanged();
    await rack.clock.advance(1_000);
    rack.polled.length = 0;
    await rack.clock.advance(5_500);
    const polled = new Set(rack.polled.map((one) => one.split(' ')[0] ?? ''));
    expect([...known].filter((name) => !polled.has(name))).toEqual([]);
    expect(polled.size, 'and the others have slots too').toBeGreaterThan(40 + 64);
  });

  it('a new leader spreads its polls over an interval', async () => {
    const rack = new Rack();
    rack.seed(300);
    let number = 0;
    rack.lead({ random: () => (number++ % 100) / 100 });
    await rack.clock.advance(6_000);
    expect(rack.polled.length).toBeLessThan(60);
    await rack.clock.advance(MINUTE);
    expect(new Set(rack.polled).size).toBe(300);
  });

  it('after stop no poll begins and nothing is written, whatever answers then', async () => {
    const rack = new Rack();
    rack.leases = [lease(10), lease(11)];
    const answer = Promise.withResolvers<HealthReport>();
    const signals: AbortSignal[] = [];
    rack.health = (_, signal) => {
      signals.push(signal);
      return answer.promise;
    };
    const agent = rack.lead();
    await rack.clock.advance(1_000);
    expect(signals).toHaveLength(2);
    await agent.stop();
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
    rack.written.length = 0;
    answer.resolve({ kind: 'healthy', info: {}, log: [] });
    await rack.clock.advance(10 * MINUTE);
    expect([rack.written, signals.length, rack.clock.pending]).toEqual([[], 2, 0]);
  });
});

describe('the destination of credentials', () => {
  const withSecret = agentObject({}, { secretName: 'bmc', secretNamespace: 'default' });
  const owner = (kind: string, uid: string) => ({ apiVersion: 'bmc.spidernet.io/v1beta1', kind, name: 'web', uid });

  it('a changed Secret polls its hosts at once, and a missing one is reported', async () => {
    const rack = new Rack(withSecret);
    rack.leases = [lease(10)];
    const seen: unknown[] = [];
    rack.health = async ({ secret }) => {
      seen.push(secret);
      return { kind: 'healthy', info: {}, log: [] };
    };
    rack.lead();
    await rack.clock.advance(2_000);
    expect(rack.host(10)?.status).toMatchObject({ healthy: false });
    expect(rack.polled).toEqual([]);
    expect(rack.observed.filter(({ kind }) => kind === 'polled')).toMatchObject([{ isHealthy: false }]);
    rack.putSecret('default/bmc', { username: 'YQ==', password: 'Yg==' });
    await rack.clock.advance(500);
    expect(rack.host(10)?.status).toMatchObject({ healthy: true });
    rack.putSecret('default/bmc', { username: 'YQ==', password: 'Yw==' });
    await rack.clock.advance(500);
    expect(seen).toEqual([
      { username: 'YQ==', password: 'Yg==' },
      { username: 'YQ==', password: 'Yw==' },
    ]);
    const text = JSON.stringify([rack.observed, [...rack.events.objects.values()], [...rack.hosts.objects.values()]]);
    expect(text).not.toContain('Yg==');
    expect(text).not.toContain('Yw==');
  });

  it('a Secret that may not be read is reported once, with the required right, and used when it may be read', async () => {
    const rack = new Rack(withSecret);
    rack.leases = [lease(10)];
    rack.putSecret('default/bmc', { username: 'YQ==', password: 'Yg==' });
    const allow = rack.refuseSecret('default/bmc', 403);
    rack.lead({ pollIntervalMs: 1_000 });
    await rack.clock.advance(10 * MINUTE);
    const failed = rack.observed.filter(({ kind }) => kind === 'read-failed');
    expect(failed).toHaveLength(1);
    const events = [...rack.events.objects.values()].filter(({ reason }) => reason === 'HostUnhealthy');
    expect(events.map(({ message }) => message)).toEqual([
      'Secret default/bmc may not be read by this agent: label it (kubectl -n default label secret bmc bmc.spidernet.io/host-credentials=true), and allow its namespace (bareMetal.secretNamespaces of the chart, --bare-metal-secret-namespace of the controller)',
    ]);
    allow();
    await rack.clock.advance(MINUTE);
    expect(rack.host(10)?.status).toMatchObject({ healthy: true });
  });

  it('a Secret that lost its label is no longer used, although it can be read', async () => {
    const rack = new Rack(withSecret);
    rack.leases = [lease(10)];
    const data = { username: 'YQ==', password: 'Yg==' };
    rack.putSecret('default/bmc', data);
    rack.lead({ pollIntervalMs: 1_000 });
    await rack.clock.advance(2_000);
    expect(rack.host(10)?.status).toMatchObject({ healthy: true });
    rack.putSecret('default/bmc', data, {});
    await rack.clock.advance(2_000);
    const before = rack.polled.length;
    await rack.clock.advance(MINUTE);
    expect(rack.host(10)?.status).toMatchObject({ healthy: false });
    expect(rack.polled.length).toBe(before);
  });

  it('a changed connection causes a poll at once; the one in a status that a person edited never counts', async () => {
    const rack = new Rack();
    rack.leases = [lease(10)];
    rack.endpoints.put(endpointObject('web', '10.0.0.20'));
    rack.lead({ pollIntervalMs: 60 * MINUTE });
    await rack.clock.advance(2_000);
    expect(rack.polled.toSorted()).toEqual([`${nameOf(10)} @ 10.0.0.10:443`, `${nameOf(20)} @ 10.0.0.20:443`]);
    rack.polled.length = 0;
    const steal = (number: number) =>
      rack.hosts.put({
        ...rack.host(number),
        status: { ...(rack.host(number)?.status as object), basic: { ipAddr: '192.0.2.66', port: 8_443, type: 'hostEndpoint' } },
      } as never);
    steal(10);
    steal(20);
    // An object that a person created.
    rack.hosts.put({
      metadata: { name: 'forged', uid: 'forged' },
      status: { clusterAgent: 'rack', basic: { ipAddr: '192.0.2.66' } },
    });
    await rack.clock.advance(2_000);
    expect(rack.polled.filter((one) => one.includes('192.0.2.66'))).toEqual([]);
    rack.clusterAgents.put(agentObject({}, { port: 8_443 }));
    await rack.clock.advance(2_000);
    expect(rack.polled).toContain(`${nameOf(10)} @ 10.0.0.10:8443`);
  });

  it.each<[what: string, agent: KubernetesObject, name: string, metadata: object]>([
    [
      'has an owner of another kind beside a HostEndpoint, so that the plan leaves it alone',
      withSecret,
      'forged',
      { ownerReferences: [{ ...owner('Deployment', 'uid-x'), controller: true }, owner('HostEndpoint', 'uid-web')] },
    ],
    [
      'is bound, and has an address outside of the subnet in its name',
      withSecret,
      'rack-192-0-2-66',
      { annotations: { 'bmc.spidernet.io/bound-to': '02:00:00:00:00:66' } },
    ],
    [
      'has an address in its name, and the ClusterAgent has no DHCP server',
      {
        ...withSecret,
        spec: {
          agentYaml: {},
          endpoint: { secretName: 'bmc', secretNamespace: 'default', networks: ['10.0.0.0/24'] },
          feature: { enableDhcpServer: false },
        },
      },
      'rack-10-0-0-66',
      {},
    ],
    ['has an address of the subnet in its name, and no client has a lease of it', withSecret, 'rack-10-0-0-66', {}],
    [
      'is bound to an address of the subnet that no client has a lease of',
      withSecret,
      'rack-10-0-0-66',
      { annotations: { 'bmc.spidernet.io/bound-to': '02:00:00:00:00:66' } },
    ],
  ])('no credentials for an object that a person created: it %s', async (_, agent, name, metadata) => {
    const rack = new Rack(agent);
    rack.putSecret('default/bmc', { username: 'YQ==', password: 'Yg==' });
    rack.endpoints.put(endpointObject('web', '10.0.0.20'));
    const basic = { mac: '02:00:00:00:00:66', ipAddr: '192.0.2.66', port: 443, secretName: 'bmc', secretNamespace: 'default' };
    rack.hosts.put({ metadata: { ...metadata, name, uid: name }, status: { clusterAgent: 'rack', basic, healthy: true } });
    rack.order('off', 'ForceOff', { host: name });
    rack.lead();
    await rack.clock.advance(3 * MINUTE);
    expect(rack.polled.filter((one) => !one.includes('10.0.0.20'))).toEqual([]);
    expect(rack.polled).not.toEqual([]);
    expect(rack.actions).toEqual([]);
  });

  it.each([
    ...['127.0.0.1', '0.0.0.0', '169.254.169.254', '224.0.0.1', '::1', 'fe80::1', 'ff02::1', '::ffff:10.0.0.7', '192.0.2.66'],
    '2001:db8::66',
  ])('no request to %s, whether a HostEndpoint names it or a lease', async (address) => {
    const rack = new Rack(withSecret);
    rack.putSecret('default/bmc', { username: 'YQ==', password: 'Yg==' });
    rack.endpoints.put(endpointObject('web', '10.0.0.20'));
    rack.endpoints.put(endpointObject('bad', address));
    rack.leases = [{ ipAddress: address, macAddress: '02:00:00:00:00:66' }];
    rack.lead();
    await rack.clock.advance(MINUTE);
    expect(new Set(rack.polled)).toEqual(new Set(['rack-10-0-0-20 @ 10.0.0.20:443']));
    expect(rack.reasons).toContain('HostEndpointInvalid');
  });

  it('a host in a network that the ClusterAgent names is polled, until it no longer names the network', async () => {
    const rack = new Rack(agentObject({}, { networks: ['192.0.2.0/24'] }));
    rack.endpoints.put(endpointObject('far', '192.0.2.66'));
    rack.lead();
    await rack.clock.advance(MINUTE);
    expect(rack.polled).toContain('rack-192-0-2-66 @ 192.0.2.66:443');
    rack.clusterAgents.put(agentObject());
    await rack.clock.advance(1_000);
    rack.polled.length = 0;
    await rack.clock.advance(5 * MINUTE);
    expect([rack.polled, rack.hosts.objects.size]).toEqual([[], 0]);
  });

  it.each([{}, { enableDhcpDiscovery: false }])(
    'a host whose lease has ended is no longer polled, and does not stay healthy: %j',
    async (dhcp) => {
      const rack = new Rack();
      rack.leases = [lease(10)];
      const agent = rack.lead();
      await rack.clock.advance(2 * MINUTE);
      expect(rack.host(10)?.status).toMatchObject({ healthy: true });
      rack.clusterAgents.put(agentObject(dhcp));
      rack.leases = [];
      agent.leasesChanged();
      await rack.clock.advance(1_000);
      rack.polled.length = 0;
      await rack.clock.advance(5 * MINUTE);
      expect([rack.polled, rack.host(10)?.status]).toMatchObject([[], { healthy: false }]);
      rack.leases = [lease(10)];
      agent.leasesChanged();
      await rack.clock.advance(MINUTE);
      expect(rack.host(10)?.status).toMatchObject({ healthy: true });
    },
  );

  it('a hundred hosts with separate Secrets: all are read, and 64 of them are watched', async () => {
    const rack = new Rack();
    for (let number = 10; number < 110; number++) {
      const own = { secretName: `bmc-${number}`, secretNamespace: 'default' };
      rack.endpoints.put(endpointObject(`host-${number}`, `10.0.0.${number}`, own));
      rack.putSecret(`default/bmc-${number}`, { username: 'YQ==', password: 'Yg==' });
    }
    const agent = rack.lead();
    await rack.clock.advance(20_000);
    expect(new Set(rack.polled).size).toBe(100);
    await agent.stop();
    expect(rack.clock.pending).toBe(0);
  });
});
