import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BAD_PACKETS, Lab, LabAgent, type Machine, poolsYaml, waitFor } from '../src/index.js';

const SENDER = fileURLToPath(new URL('../dist/send-bad-packets.js', import.meta.url));
const FLOOD = fileURLToPath(new URL('../dist/send-flood.js', import.meta.url));
const POOLS = poolsYaml(
  [{ name: 'net-48', prefix: '192.168.48' }],
  [
    { name: 'vm-a', pool: 'net-48', macAddress: '02:00:00:00:48:01' },
    { name: 'vm-b', pool: 'net-48', macAddress: '02:00:00:00:48:02' },
  ],
);
const START = { pools: POOLS, interfaces: ['net-48=br48'] };

let lab: Lab;
let machine: Machine;

beforeEach(() => {
  lab = new Lab();
  lab.addNetwork('br48', '192.168.48.2/24');
  machine = lab.addMachine('vm-a', { network: 'br48', macAddress: '02:00:00:00:48:01' });
});

afterEach(() => lab.dispose());

/** The metric that counts an outcome. */
function metricOf(outcome: string): string {
  const [type, what, reason = ''] = outcome.split(' ');
  if (type === 'dropped') return `vmdhcp_agent_packets_dropped_total{reason="${what}"}`;
  return `vmdhcp_agent_messages_total{type="${type}",outcome="${what}",reason="${reason}"}`;
}

describe('every bad packet is counted correctly, and the next client gets its address', () => {
  it.each(['trace', 'debug', 'info', 'warn', 'error', 'silent'])('with --log-level %s', async (logLevel) => {
    const agent = await LabAgent.start(lab, { ...START, logLevel });
    const sender = machine.start(process.execPath, [SENDER]);
    await sender.ended();
    const results = sender.lines.map((line) => JSON.parse(line) as { name: string; answered: string; address?: string });
    expect(results).toEqual(BAD_PACKETS.map(({ name }) => ({ name, answered: 'ack', address: '192.168.48.10' })));

    const expected = new Map<string, number>();
    const count = (outcome: string, by = 1) => expected.set(metricOf(outcome), (expected.get(metricOf(outcome)) ?? 0) + by);
    for (const { outcome } of BAD_PACKETS) count(outcome);
    count('discover offer ', BAD_PACKETS.length);
    count('request ack ', BAD_PACKETS.length);
    const counted = new Map(
      await Promise.all([...expected.keys()].map(async (metric) => [metric, await agent.metric(metric)] as const)),
    );
    expect(counted).toEqual(expected);
    // Nothing from the wire reaches a terminal as it is.
    expect(agent.process.lines.join('\n')).not.toContain('\x1b');
    expect(agent.process.hasEnded).toBe(false);
  });
});

describe('a flood', () => {
  it('from 100,000 hardware addresses does not affect memory, log and good clients', async () => {
    const agent = await LabAgent.start(lab, START);
    const memory = () =>
      Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${agent.process.pid}/status`, 'utf8'))?.[1]) / 1024;
    const flood = (count: number) => machine.start(process.execPath, [FLOOD, String(count)]).ended();
    await flood(20_000);
    const [before, lines] = [memory(), agent.process.lines.length];
    await flood(100_000);
    const ignored = metricOf('discover ignored unknown-client');
    // The kernel drops what a busy machine does not read in time.
    while ((await agent.metric(ignored)) < 60_000) await flood(20_000);
    expect(memory() - before).toBeLessThan(30);
    expect(agent.process.lines.length).toBe(lines);
    const sender = machine.start(process.execPath, [SENDER]);
    await sender.ended();
    expect(sender.lines.every((line) => line.includes('"answered":"ack"'))).toBe(true);
  });

  it('with declines that the network does not confirm takes no address from the pool, and is checked a few times', async () => {
    const agent = await LabAgent.start(lab, START);
    const decliner = machine.start(process.execPath, [
      fileURLToPath(new URL('../dist/decline-everything.js', import.meta.url)),
      '8',
    ]);
    await decliner.ended();
    const ignored = async () => {
      const reasons = ['decline-unconfirmed', 'decline-being-checked', 'decline-limit'];
      return Promise.all(reasons.map((reason) => agent.metric(metricOf(`decline ignored ${reason}`))));
    };
    await waitFor('eight declines', async () => (await ignored()).reduce((sum, count) => sum + count) === 8);
    expect((await ignored())[0]).toBeLessThanOrEqual(3);
    expect(await agent.metric('vmdhcp_agent_pool_quarantined{pool="default/net-48"}')).toBe(0);
    expect(await agent.metric(metricOf('decline declined '))).toBe(0);
  });
});
