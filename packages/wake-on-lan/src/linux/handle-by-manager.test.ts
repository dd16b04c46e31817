import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type HeardPacket, PacketHearing } from '../listen/hear-packet.js';
import { encodeMagicPacket } from '../packet/encode-magic-packet.js';
import type { ReportOutcome, WakeReport, WakeStatus } from '../report/wake-report.js';
import { startWolServer } from '../server/wol-server.js';
import { handleByManager } from './handle-by-manager.js';
import type { WakeUpHandling } from './wake-up-handling.js';

const VM_A = '02:00:00:00:00:0a';
const VM_B = '02:00:00:00:00:0b';
const until = (condition: () => unknown) => vi.waitFor(() => expect(condition()).toBeTruthy(), { timeout: 20_000, interval: 5 });
const answered = (status: WakeStatus): ReportOutcome => ({
  kind: 'answered',
  answer: { status, message: 'm', wasDuplicate: false, processingTimeMs: 1 },
});

/** A manager that remembers what it started, as the real one does. */
class Manager {
  readonly reports: WakeReport[] = [];
  readonly started = new Set<string>();
  list: readonly string[] = [VM_A, VM_B];
  outcome: (report: WakeReport) => ReportOutcome | Promise<ReportOutcome> = ({ macAddress }) => {
    if (this.started.has(macAddress)) return answered('duplicate');
    this.started.add(macAddress);
    return answered('vm-start-initiated');
  };
  #listener = () => {};

  async serve(port = 0) {
    const server = await startWolServer({
      listen: { host: '127.0.0.1', port },
      tls: undefined,
      handler: {
        report: async (report) => {
          this.reports.push(report);
          return this.outcome(report);
        },
        isServing: () => true,
        leader: () => undefined,
        wakeable: {
          snapshot: () => this.list,
          onChange: (listener) => {
            this.#listener = listener;
            return () => {};
          },
        },
      },
      observe: () => {},
    });
    onTestFinished(() => server.stop());
    return server;
  }

  use(list: readonly string[]): void {
    this.list = list;
    this.#listener();
  }
}

/** An agent's hearing and handling. */
class Agent {
  readonly hearing = new PacketHearing({ machines: undefined, password: undefined, windowMs: 10_000 });
  readonly lines: { readonly event: string; readonly msg: string }[] = [];
  readonly handling: WakeUpHandling;

  constructor(port: number) {
    const logger = pino({ base: null }, { write: (line: string) => this.lines.push(JSON.parse(line)) });
    const settings = {
      manager: `127.0.0.1:${port}`,
      nodeName: 'node-1',
      passwordSecret: undefined,
      tlsDirectory: undefined,
      machines: undefined,
      udpPorts: [7, 9],
    };
    this.handling = handleByManager(settings, this.hearing, logger);
    onTestFinished(() => this.handling.stop());
  }

  /** Passes a packet on, as the listeners do. */
  receive(macAddress: string): HeardPacket {
    const payload = encodeMagicPacket({ macAddress });
    const heard = this.hearing.hear(payload, () => '192.0.2.7', performance.now());
    const sender = { address: '192.0.2.7', port: 40_000 };
    const place = { interfaceName: 'eth0', way: 'udp', port: 9 } as const;
    if (heard.kind === 'wake-up')
      this.handling.wake({
        sighting: heard.sighting,
        facts: { place, sender, packetSize: payload.length, heardAtMs: 1_700_000_000_000 },
      });
    return heard;
  }

  events(): string[] {
    return this.lines.map(({ event }) => event);
  }

  async metrics(): Promise<string> {
    const registry = new Registry();
    this.handling.registerMetrics(registry);
    return registry.metrics();
  }
}

async function connected() {
  const manager = new Manager();
  const server = await manager.serve();
  const agent = new Agent(server.port);
  await agent.handling.start();
  await until(() => agent.handling.unready().length === 0);
  return { manager, server, agent };
}

describe('an agent in a cluster', { timeout: 30_000 }, () => {
  it('reports a wake-up with its facts, and logs what tests of the predecessor look for', async () => {
    const { manager, agent } = await connected();
    agent.receive(VM_A);
    await until(() => agent.handling.counts().accepted === 1);
    // A report has its age only if a millisecond or more passed since the packet.
    const [{ ageMs = 0, ...report } = {}, ...more] = manager.reports;
    expect(more).toEqual([]);
    expect(ageMs).toBeGreaterThanOrEqual(0);
    expect(report).toEqual({
      macAddress: VM_A,
      nodeName: 'node-1',
      sender: '192.0.2.7',
      senderPort: 40_000,
      packetSize: 102,
      heardAtMs: 1_700_000_000_000,
    });
    expect(agent.lines.map(({ msg }) => msg)).toEqual([
      expect.stringContaining('connected to the manager'),
      expect.stringContaining('Valid WOL packet received'),
      expect.stringContaining('Event reported successfully'),
    ]);
    expect(agent.receive(VM_A)).toMatchObject({ kind: 'ignored', reason: 'repeated' });
  });

  it('keeps each wake-up once without a manager, and the first manager gets them at once', async () => {
    const { manager, server, agent } = await connected();
    const { port } = server;
    await server.stop();
    await until(() => agent.handling.unready().length > 0);
    agent.receive(VM_A);
    expect(agent.receive(VM_A)).toMatchObject({ kind: 'ignored', reason: 'in-progress' });
    await until(() => agent.events().includes('report-delayed'));
    const why = /^manager 127\.0\.0\.1:\d+: not connected for \d+ s: .*no manager listens there.*; wake-ups that wait: 1$/;
    await until(() => agent.handling.unready().some((line) => why.test(line)));
    expect(await agent.metrics()).toContain('vmdhcp_agent_wol_waiting 1');
    await manager.serve(port);
    await until(() => agent.handling.counts().accepted === 1);
    expect(manager.reports).toHaveLength(1);
    expect(agent.handling.unready()).toEqual([]);
  });

  it('reports a packet as a wake-up again when another manager is leader: the one before may have ended while it waited until the machine was down', async () => {
    const { server, agent } = await connected();
    const { port } = server;
    agent.receive(VM_A);
    await until(() => agent.handling.counts().accepted === 1);
    expect(agent.receive(VM_A)).toMatchObject({ kind: 'ignored', reason: 'repeated' });
    await server.stop();
    await until(() => agent.handling.unready().length > 0);
    const next = new Manager();
    await next.serve(port);
    await until(() => agent.handling.unready().length === 0);
    expect(agent.receive(VM_A).kind).toBe('wake-up');
    await until(() => next.started.has(VM_A));
  });

  it('reports again if the answer is lost after the machine was started, and the machine is started once', async () => {
    const { manager, agent } = await connected();
    const usual = manager.outcome;
    manager.outcome = (report) => {
      manager.outcome = usual;
      void usual(report);
      return { kind: 'unavailable', message: 'the connection ended' };
    };
    agent.receive(VM_A);
    await until(() => agent.handling.counts().accepted === 1);
    expect(manager.reports).toHaveLength(2);
    expect(manager.started).toEqual(new Set([VM_A]));
    expect(await agent.metrics()).toContain('vmdhcp_agent_wol_reports_total{outcome="duplicate"} 1');
    expect(await agent.metrics()).toContain('vmdhcp_agent_wol_report_failures_total 1');
  });

  it.each<WakeStatus>(['vm-not-found', 'error'])('reports the next packet again after %s', async (status) => {
    const { manager, agent } = await connected();
    manager.outcome = () => answered(status);
    agent.receive(VM_A);
    await until(() => agent.handling.counts().failed === 1);
    expect(agent.events()).toContain('report-refused');
    expect(agent.receive(VM_A).kind).toBe('wake-up');
    await until(() => agent.handling.counts().failed === 2);
  });

  it('hears the machines of the list, and others when the list changes', async () => {
    const { manager, agent } = await connected();
    expect(agent.receive('02:00:00:00:00:0c')).toMatchObject({ kind: 'ignored', reason: 'not-in-list' });
    expect(await agent.metrics()).toContain('vmdhcp_agent_wol_listed 2');
    manager.use([VM_A, '02:00:00:00:00:0c']);
    await until(() => agent.receive('02:00:00:00:00:0c').kind === 'wake-up');
    expect(agent.receive(VM_B)).toMatchObject({ kind: 'ignored', reason: 'not-in-list' });
  });

  it('ends after wake-ups in progress are answered', async () => {
    const { manager, agent } = await connected();
    const usual = manager.outcome;
    let answer = () => {};
    manager.outcome = (report) => new Promise((resolve) => (answer = () => resolve(usual(report))));
    agent.receive(VM_A);
    await until(() => manager.reports.length === 1);
    const stopped = agent.handling.stop();
    answer();
    await stopped;
    expect(agent.handling.counts().accepted).toBe(1);
    expect(agent.events()).not.toContain('wake-ups-lost');
  });

  it('names its node, its ports and its manager in the metrics of the predecessor', async () => {
    const { agent, server } = await connected();
    const text = await agent.metrics();
    for (const port of [7, 9])
      expect(text).toContain(`wol_agent_info{node="node-1",port="${port}",operator="127.0.0.1:${server.port}"} 1`);
    expect(text).toContain('wol_agent_dedupe_cache_size{node="node-1"} 0');
    expect(text).toContain('vmdhcp_agent_wol_manager_connected 1');
  });
});
