/** npm run bench -- hosts: an agent of bare-metal hosts, with a simulated API server over HTTPS and management controllers that are a function: how long until hosts have objects, what polls cost, and what hosts that hang cost others. */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { HealthReport, HostLease } from '@vmdhcp/bare-metal';
import { HostAgent, type HostAgentEvent, type HostTarget } from '@vmdhcp/bare-metal/agent';
import { toCustomResourceDefinition } from '@vmdhcp/ippool-api';
import { bareMetalResources } from '@vmdhcp/ippool-api/bare-metal';
import {
  type ApiResource,
  type EventObject,
  EventRecorder,
  formatTime,
  type KubernetesObject,
  SharedCaches,
} from '@vmdhcp/kube-runtime';
import { ApiObjectClient, systemClock } from '@vmdhcp/kube-runtime/node';
import { ClusterAccess, waitFor } from '@vmdhcp/lab';
import { Command } from 'commander';
import { markdown } from './tables.js';

const options = new Command('npm run bench -- hosts')
  .description(
    'Measures the agent of bare-metal hosts: new hosts, polls, single changes, hosts that hang, and a change of the leader.',
  )
  .option('--hosts <n>', 'hosts of one ClusterAgent, at most 60000', '1000')
  .option('--interval <seconds>', 'from one poll of a host to the next', '10')
  .option('--rounds <n>', 'single changes', '20')
  .addHelpText('after', '\nExample:\n  npm run bench -- hosts --hosts 100 --interval 5\n')
  .parse()
  .opts<{ readonly hosts: string; readonly interval: string; readonly rounds: string }>();

const SIMULATOR = fileURLToPath(new URL('large-simulator.js', import.meta.url));
/** A management controller answers after so many milliseconds. */
const ANSWER_MS = 50;
const [hosts, intervalSeconds, rounds] = [options.hosts, options.interval, options.rounds].map(Number) as [
  number,
  number,
  number,
];
const intervalMs = intervalSeconds * 1_000;

const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-bench-hosts-'));
const kubeconfig = join(folder, 'kubeconfig');
const simulator = fork(SIMULATOR, [kubeconfig]);
const seen = {
  writes: 0,
  objects: new Set<string>(),
  healthy: 0,
  polls: [] as { name: string; atMs: number; durationMs: number }[],
};
/** Observes one write. */
let onWritten: (event: Extract<HostAgentEvent, { kind: 'written' }>) => void = () => undefined;
/** The agent knows which addresses are bound. */
let onBindings: () => void = () => undefined;
let hangs: (target: HostTarget) => boolean = () => false;
let leases: HostLease[] = Array.from({ length: hosts }, (_, index) => leaseOf(index));
const rows: string[][] = [];

try {
  await message(simulator);
  const access = await ClusterAccess.open(kubeconfig);
  await prepare(access);
  await measure(access);
  access.close();
  process.stdout.write(`\n${markdown(['what', 'result', 'writes', 'processor s'], rows)}\n`);
} finally {
  simulator.kill('SIGKILL');
  rmSync(folder, { recursive: true });
}

async function message(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', () => reject(new Error('the simulated API server has ended')));
  });
}

function leaseOf(index: number): HostLease {
  const [high, low] = [(index + 10) >> 8, (index + 10) & 255];
  const octets = [2, 0, 0, 0, high, low].map((octet) => octet.toString(16).padStart(2, '0'));
  return { ipAddress: `10.0.${high}.${low}`, macAddress: octets.join(':') };
}

async function prepare(access: ClusterAccess): Promise<void> {
  for (const one of bareMetalResources) await access.create(toCustomResourceDefinition(one) as unknown as KubernetesObject);
  const agents = clientOf(access, resourceOf('clusteragents'));
  await waitFor('the kinds to be served', async () => (await agents.list({ limit: 1 }).catch(() => undefined)) !== undefined);
  const dhcpServerConfig = {
    dhcpServerInterface: 'net1',
    subnet: '10.0.0.0/16',
    ipRange: '10.0.0.10-10.0.255.250',
    gateway: '10.0.0.1',
  };
  const spec = { agentYaml: { underlayInterface: 'bmc' }, feature: { dhcpServerConfig } };
  await agents.create({ apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'ClusterAgent', metadata: { name: 'rack' }, spec });
}

function resourceOf(plural: string): ApiResource {
  return { group: 'bmc.spidernet.io', version: 'v1beta1', plural, namespaced: false };
}

function clientOf(access: ClusterAccess, resource: ApiResource): ApiObjectClient<KubernetesObject> {
  return new ApiObjectClient(access.connection, resource);
}

function lead(access: ClusterAccess): HostAgent {
  const settings = { clock: systemClock, random: Math.random };
  const events = new ApiObjectClient<EventObject>(access.connection, {
    group: '',
    version: 'v1',
    plural: 'events',
    namespaced: true,
  });
  const agent = new HostAgent({
    ...settings,
    clusterAgentName: 'rack',
    runId: `bench-${performance.now()}`,
    pollIntervalMs: intervalMs,
    wallTimeMs: Date.now,
    caches: new SharedCaches({
      clock: systemClock,
      backOff: { firstMs: 50, mostMs: 1_000, random: Math.random },
      open: (resource) => clientOf(access, resource),
    }),
    isLeading: () => true,
    hostStatuses: clientOf(access, resourceOf('hoststatuses')),
    hostOperations: clientOf(access, resourceOf('hostoperations')),
    events: new EventRecorder({
      ...settings,
      client: events,
      now: () => formatTime(Date.now()),
      component: 'bench',
      instance: 'bench',
    }),
    leases: () => leases,
    onBindings: () => onBindings(),
    managementControllers: { read, operate: async () => ({ isSuccess: true, message: '' }) },
    observer: { observe },
  });
  agent.start();
  return agent;
}

async function read(target: HostTarget): Promise<HealthReport> {
  if (hangs(target)) return Promise.withResolvers<never>().promise;
  await delay(ANSWER_MS);
  return { kind: 'healthy', info: { PowerState: 'On', BiosVersion: '1.0', Model: 'bench' }, log: [] };
}

function observe(event: HostAgentEvent): void {
  if (event.kind === 'written') {
    seen.writes++;
    seen.objects.add(event.name);
    onWritten(event);
  } else if (event.kind === 'polled')
    seen.polls.push({ name: event.name, atMs: performance.now(), durationMs: event.durationMs });
  else if (event.kind === 'hosts') seen.healthy = event.healthy;
  else if (event.kind === 'unexpected-error') throw event.error;
}

/** Adds a row: what a part took, its writes, and the time of this process's processor. */
async function row(what: string, part: () => Promise<string>): Promise<void> {
  seen.writes = 0;
  seen.polls.length = 0;
  const before = process.cpuUsage();
  const result = await part();
  const { user, system } = process.cpuUsage(before);
  rows.push([what, result, String(seen.writes), ((user + system) / 1e6).toFixed(2)]);
}

async function measure(access: ClusterAccess): Promise<void> {
  let agent = lead(access);
  await row(`${hosts} hosts are new: until each has its object and is healthy`, async () => {
    const beganAtMs = performance.now();
    await waitFor('all hosts to be healthy', () => seen.healthy === hosts, 200_000);
    return `${seconds(performance.now() - beganAtMs)} s`;
  });
  await delay(intervalMs);
  await row(`polls of two intervals of ${intervalSeconds} s`, async () => {
    await delay(2 * intervalMs);
    return `${(seen.polls.length / (2 * intervalSeconds)).toFixed(0)} a second, ${median(seen.polls.map(({ durationMs }) => durationMs)).toFixed(0)} ms each`;
  });
  await row(`${rounds} leases end, one after the other: until the status has it`, async () => {
    const took: number[] = [];
    for (let round = 0; round < rounds; round++) took.push(await endLease(agent));
    return `median ${median(took).toFixed(0)} ms, most ${Math.max(...took).toFixed(0)} ms`;
  });
  await row('the leader changes: until it has polled each host', async () => {
    await agent.stop();
    const beganAtMs = performance.now();
    agent = lead(access);
    const polled = () => new Set(seen.polls.map(({ name }) => name)).size;
    await waitFor('each host to be polled', () => polled() >= hosts, 200_000);
    return `${seconds(performance.now() - beganAtMs)} s`;
  });
  await row('the leader changes, five times: until it knows which addresses are bound, so that it answers clients', async () => {
    const took: number[] = [];
    for (let count = 0; count < 5; count++) {
      await agent.stop();
      const known = new Promise<void>((resolve) => {
        onBindings = resolve;
      });
      const beganAtMs = performance.now();
      agent = lead(access);
      await known;
      took.push(performance.now() - beganAtMs);
    }
    return `median ${median(took).toFixed(0)} ms, most ${Math.max(...took).toFixed(0)} ms`;
  });
  hangs = ({ address }) => Number(address.split('.').at(-1)) % 3 === 0;
  await delay(30_000 + 2 * intervalMs);
  await row('a third of them hangs: longest time between two polls of another host', async () => {
    await delay(3 * intervalMs);
    return `${seconds(longestGap())} s`;
  });
  await agent.stop();
}

async function endLease(agent: HostAgent): Promise<number> {
  const beganAtMs = performance.now();
  const written = new Promise<void>((resolve) => {
    onWritten = ({ write }) => {
      if (write === 'patch-status') resolve();
    };
  });
  leases = leases.slice(1);
  agent.leasesChanged();
  await written;
  return performance.now() - beganAtMs;
}

/** In milliseconds. */
function longestGap(): number {
  const byHost = Map.groupBy(seen.polls, ({ name }) => name);
  const gaps = [...byHost]
    .filter(([name]) => Number(name.split('-').at(-1)) % 3 !== 0)
    .flatMap(([, polls]) => polls.slice(1).map(({ atMs }, index) => atMs - (polls[index]?.atMs ?? atMs)));
  return Math.max(...gaps);
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
