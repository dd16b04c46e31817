/**
 * npm run bench -- agents: what clients notice when agents die, are upgraded, or have no API server, and when pools come, pause and go. A simulated API server, the
 * controller and agents in pods, all real processes on this machine; clients in this one.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { type KubernetesObject, readText } from '@vmdhcp/kube-runtime';
import { ClientFleet, Lab, LabCluster, type LabPod, virtualMachine, waitFor } from '@vmdhcp/lab';
import { AGENT_TOPOLOGIES } from '@vmdhcp/reconciler';
import { Command } from 'commander';
import { measurePlan } from './measure-plan.js';
import { markdown } from './tables.js';
import { UpgradeClients } from './upgrade-clients.js';

interface Options {
  readonly rounds: string;
  readonly groups: string;
  readonly clients: string;
  readonly awaySeconds: string;
  readonly leaseSeconds: string;
  readonly atATime: string;
  readonly only?: string;
}

const options = new Command('npm run bench -- agents')
  .description(
    'Measures what clients notice when agents die, are upgraded, or have no API server, and when pools come, pause and go.',
  )
  .option('--rounds <n>', 'leaders that are killed, or pools that come and go, for each row', '5')
  .option('--groups <n>', 'groups of the rolling upgrade', '50')
  .option('--clients <n>', 'clients of each of them, each renewing every second', '20')
  .option('--away-seconds <n>', 'how long the API server is away', '60')
  .option('--lease-seconds <n>', 'of each group', '2.75')
  .option('--at-a-time <n>', 'groups that are upgraded at a time', '4')
  .option('--only <part>', 'plan, crash, upgrade, away or pools')
  .addHelpText('after', '\nExamples:\n  npm run bench -- agents\n  npm run bench -- agents --only upgrade --groups 10\n')
  .parse()
  .opts<Options>();

/** Clients of a pool that is paused or deleted ask so often, and so long in vain. */
const ASK_EVERY_MS = 20;
const SILENT_MS = 5_000;

const parts: Readonly<Record<string, (lab: Lab) => Promise<string>>> = { plan, crash, upgrade, away, pools };
for (const [name, measure] of Object.entries(parts)) {
  if (options.only !== undefined && options.only !== name) continue;
  const lab = new Lab();
  try {
    process.stdout.write(`\n${await measure(lab)}\n`);
  } finally {
    await lab.dispose();
  }
}
process.exit(0);

/** Looking again at everything when nothing has changed. */
async function plan(): Promise<string> {
  const rows = AGENT_TOPOLOGIES.map((topology) => {
    const { durationsMs, actions } = measurePlan(topology, 1_000);
    return [topology, '1,000', spread(durationsMs), String(actions)];
  });
  return markdown(['topology', 'pools', 'planned again in ms (least, median, most)', 'writes'], rows);
}

function macOf(group: number, client: number): string {
  return `02:00:5e:${[group >> 8, group & 0xff, client].map((octet) => octet.toString(16).padStart(2, '0')).join(':')}`;
}

/** A cluster with so many networks, each with a pool and virtual machines, and agents that serve them. */
async function open(lab: Lab, groups: number, clients: number): Promise<LabCluster> {
  const numbers = Array.from({ length: groups }, (_, index) => index + 1);
  for (const number of numbers) lab.addNetwork(`br${number}`);
  const networks = Object.fromEntries(numbers.map((number) => [`default/net-${number}`, `br${number}`]));
  const cluster = await LabCluster.start(lab, { networks });
  await cluster.startController(...flags());
  const objects = numbers.flatMap((number) => [
    networkObject(number),
    ...Array.from({ length: clients }, (_, client) =>
      virtualMachine(`default/vm-${number}-${client}`, macOf(number, client), `default/net-${number}`),
    ),
  ]);
  for (const object of objects) await cluster.access.create(object);
  // A few at a time: so many agents that start at once would have the processors for themselves for a minute.
  for (let at = 0; at < groups; at += 5) {
    const some = numbers.slice(at, at + 5);
    for (const number of some) await cluster.access.create(poolObject(number));
    await Promise.all(some.map((number) => cluster.agentReady(`default/pool-${number}`)));
    await Promise.all(some.map((number) => cluster.rolledOut(groupOf(number))));
    progress(`${Math.min(at + 5, groups)} of ${groups} groups serve`);
  }
  return cluster;
}

function flags(): string[] {
  const { leaseSeconds, atATime } = options;
  const times = ['--agent-lease-seconds', leaseSeconds, '--max-groups-upgrading', atATime];
  return ['--agent-topology', 'per-pool', '--no-leader-election', ...times];
}

function groupOf(number: number): string {
  return `default-pool-${number}-agent`;
}

function networkObject(number: number): KubernetesObject {
  return {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace: 'default', name: `net-${number}` },
    spec: { config: '{}' },
  };
}

function poolObject(number: number): KubernetesObject {
  const prefix = `10.${(number >> 8) + 1}.${number & 0xff}`;
  const range = { start: `${prefix}.10`, end: `${prefix}.250` };
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { namespace: 'default', name: `pool-${number}` },
    spec: {
      networkName: `default/net-${number}`,
      ipv4Config: { cidr: `${prefix}.0/24`, serverIP: `${prefix}.2`, pool: range, leaseTime: 3600 },
    },
  };
}

/** What a leader's end costs: SIGKILL, and SIGTERM beside it. */
async function crash(lab: Lab): Promise<string> {
  const cluster = await open(lab, 1, 1);
  const fleet = new ClientFleet('br1');
  const macAddress = macOf(1, 0);
  const { address } = await firstAnswer(fleet, macAddress);
  const rows = new Map<string, { waitMs: number[]; asked: number[]; holderMs: number[] }>();
  for (let round = 1; round <= Number(options.rounds); round++) {
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await cluster.rolledOut(groupOf(1));
      const leader = await waitFor('a leader', () => cluster.leader(groupOf(1)), 30_000);
      await waitFor('its address', () => cluster.holders('default/pool-1').length === 1, 30_000);
      leader.process?.kill(signal);
      const killedAtMs = performance.now();
      const [answer, holderMs] = await Promise.all([
        askUntilAnswered(fleet, { macAddress, address }),
        newHolder(cluster, leader, killedAtMs),
      ]);
      const row = rows.get(signal) ?? { waitMs: [], asked: [], holderMs: [] };
      row.waitMs.push(answer.atMs - killedAtMs);
      row.asked.push(answer.asked);
      row.holderMs.push(holderMs);
      rows.set(signal, row);
      progress(
        `round ${round}: ${signal}: answered after ${Math.round(answer.atMs - killedAtMs)} ms, another has the address after ${Math.round(holderMs)} ms`,
      );
      await waitFor('its replacement', () => bothReady(cluster), 60_000);
    }
  }
  fleet.stop();
  await cluster.stop();
  return markdown(
    [
      'leader ended by',
      'first reply after ms (least, median, most)',
      'requests needed at most',
      'new leader complete after ms (least, median, most)',
    ],
    [...rows].map(([signal, { waitMs, asked, holderMs }]) => [
      signal,
      spread(waitMs),
      String(Math.max(...asked)),
      spread(holderMs),
    ]),
  );
}

async function bothReady(cluster: LabCluster): Promise<boolean> {
  const answers = [...cluster.pods.values()].map(({ url }) =>
    fetch(`${url}/readyz`)
      .then(({ ok }) => ok)
      .catch(() => false),
  );
  return answers.length === 2 && (await Promise.all(answers)).every((ok) => ok);
}

async function newHolder(cluster: LabCluster, leader: LabPod, killedAtMs: number): Promise<number> {
  await waitFor('another holder', () => cluster.holders('default/pool-1').some((pod) => pod !== leader), 30_000);
  return performance.now() - killedAtMs;
}

/** As a client does: again after 1, 2, 4 seconds. */
async function askUntilAnswered(
  fleet: ClientFleet,
  client: { readonly macAddress: string; readonly address: string },
): Promise<{ readonly atMs: number; readonly asked: number }> {
  const xid = nextXid();
  const begunAtMs = performance.now();
  for (let asked = 1; ; asked++) {
    fleet.ask({ ...client, xid, secs: Math.round((performance.now() - begunAtMs) / 1000) });
    const waitMs = Math.min(1000 * 2 ** (asked - 1), 8_000);
    const answer = await waitFor('an answer', () => fleet.answerTo(xid), waitMs).catch(() => undefined);
    if (answer !== undefined) return { atMs: answer.atMs, asked };
    if (asked > 10) throw new Error('asked ten times in vain');
  }
}

async function firstAnswer(fleet: ClientFleet, macAddress: string): Promise<{ readonly address: string }> {
  return await waitFor(
    'an answer',
    async () => {
      const xid = nextXid();
      fleet.ask({ macAddress, xid });
      return waitFor('an answer', () => fleet.answerTo(xid), 500).catch(() => undefined);
    },
    30_000,
  );
}

/** Another image for all groups while their clients renew every second. */
async function upgrade(lab: Lab): Promise<string> {
  const [groups, count] = [Number(options.groups), Number(options.clients)];
  const cluster = await open(lab, groups, count);
  const numbers = Array.from({ length: groups }, (_, index) => index + 1);
  const clients = await UpgradeClients.begin(
    numbers.map((number) => ({
      network: `br${number}`,
      serverAddress: serverOf(number),
      macAddresses: Array.from({ length: count }, (_, client) => macOf(number, client)),
    })),
  );
  await clients.report();
  await delay(10_000);
  const quiet = await clients.report();
  // What this process, which is the API server too, stood still for.
  const stood = monitorEventLoopDelay();
  stood.enable();
  const begunAtMs = performance.now();
  await cluster.restartController(...flags(), '--image', 'vmdhcp-agent:next');
  const isUpgraded = ({ spec, status, metadata }: KubernetesObject) =>
    JSON.stringify(spec).includes('vmdhcp-agent:next') && isRolledOut({ metadata, status, spec });
  await waitFor(
    'the upgrade',
    async () => {
      const done = (await cluster.access.list('Deployment')).filter(isUpgraded).length;
      progress(`${done} of ${groups} groups are upgraded`);
      await delay(2_000);
      return done === groups;
    },
    1_200_000,
  );
  const tookMs = performance.now() - begunAtMs;
  await delay(3_000);
  const after = await clients.report();
  await clients.stop();
  await cluster.stop();
  return markdown(
    [
      'groups',
      'clients',
      'took s',
      'renewals',
      'longest wait ms before',
      'longest wait ms',
      'groups where it exceeds 1 s',
      'other addresses',
      'server addresses seen twice',
      'API server stood still ms at most',
    ],
    [
      [
        String(groups),
        String(groups * count),
        (tookMs / 1000).toFixed(0),
        String(after.renewals),
        Math.max(...quiet.longestWaitsMs).toFixed(0),
        Math.max(...after.longestWaitsMs).toFixed(0),
        String(after.longestWaitsMs.filter((ms) => ms > 1_000).length),
        String(after.otherAddresses),
        String(after.doubles),
        (stood.max / 1e6).toFixed(0),
      ],
    ],
  );
}

function isRolledOut({ metadata, status, spec }: KubernetesObject): boolean {
  const counts = (status ?? {}) as Readonly<Record<string, number | undefined>>;
  const { replicas } = spec as { readonly replicas: number };
  return (
    counts['observedGeneration'] === metadata.generation &&
    ['replicas', 'updatedReplicas', 'readyReplicas'].every((name) => counts[name] === replicas)
  );
}

function serverOf(number: number): string {
  return readText(poolObject(number).spec, 'ipv4Config', 'serverIP') ?? '';
}

/** No API server: the leader loses the leadership, and all replicas answer from memory. */
async function away(lab: Lab): Promise<string> {
  const cluster = await open(lab, 1, 5);
  const fleet = new ClientFleet('br1');
  const { address } = await firstAnswer(fleet, macOf(1, 0));
  cluster.simulator.faults.inject({ effect: { kind: 'close', when: 'before' }, times: 0 });
  cluster.simulator.disturbWatches('break');
  await waitFor('the address to be gone', () => cluster.holders('default/pool-1').length === 0, 20_000);
  const waits: number[] = [];
  const asked: number[] = [];
  const endsAtMs = performance.now() + Number(options.awaySeconds) * 1000;
  while (performance.now() < endsAtMs) {
    const begunAtMs = performance.now();
    const answer = await askUntilAnswered(fleet, { macAddress: macOf(1, 0), address });
    waits.push(answer.atMs - begunAtMs);
    asked.push(answer.asked);
    progress(`${waits.length}: answered after ${Math.round(answer.atMs - begunAtMs)} ms`);
    // Longer than an exchange: the next one begins anew.
    await delay(11_000);
  }
  const given = new Set(fleet.answers.filter(({ macAddress }) => macAddress === macOf(1, 0)).map((answer) => answer.address));
  cluster.simulator.faults.clear();
  const backAtMs = performance.now();
  await waitFor('a holder', () => cluster.holders('default/pool-1').length === 1, 60_000);
  const backMs = performance.now() - backAtMs;
  fleet.stop();
  await cluster.stop();
  return markdown(
    [
      'API server away s',
      'exchanges',
      'first reply after ms (least, median, most)',
      'requests needed at most',
      'addresses offered',
      'back to normal after ms',
    ],
    [
      [
        options.awaySeconds,
        String(waits.length),
        spread(waits),
        String(Math.max(...asked)),
        [...given].join(', '),
        backMs.toFixed(0),
      ],
    ],
  );
}

/** A pool is created, paused, resumed and deleted beside one that is served: how long until clients are answered, or are not any more. */
async function pools(lab: Lab): Promise<string> {
  for (const number of [1, 2]) lab.addNetwork(`br${number}`);
  const cluster = await LabCluster.start(lab, { networks: { 'default/net-1': 'br1', 'default/net-2': 'br2' } });
  const rows: string[][] = [];
  for (const topology of ['per-network', 'per-pool'] as const) {
    await cluster.restartController('--agent-topology', topology, '--no-leader-election');
    if (rows.length === 0) {
      for (const number of [1, 2]) {
        await cluster.access.create(networkObject(number));
        await cluster.access.create(virtualMachine(`default/vm-${number}`, macOf(number, 0), `default/net-${number}`));
      }
      await cluster.access.create(poolObject(1));
    }
    await cluster.agentReady('default/pool-1');
    const measured = await measurePools(cluster);
    rows.push(...[...measured].map(([what, durationsMs]) => [topology, what, spread(durationsMs)]));
  }
  await cluster.stop();
  return markdown(['topology', 'a pool is', 'clients notice after ms (least, median, most)'], rows);
}

async function measurePools({ access }: LabCluster): Promise<ReadonlyMap<string, readonly number[]>> {
  const fleet = new ClientFleet('br2');
  const macAddress = macOf(2, 0);
  const paused = (isPaused: boolean) => access.patch('IPPool', 'default/pool-2', { spec: { paused: isPaused } });
  const steps = {
    created: { act: () => access.create(poolObject(2)), isServed: true },
    paused: { act: () => paused(true), isServed: false },
    resumed: { act: () => paused(false), isServed: true },
    deleted: { act: () => access.delete('IPPool', 'default/pool-2'), isServed: false },
  };
  const measured = new Map<string, number[]>();
  for (let round = 1; round <= Number(options.rounds); round++) {
    for (const [what, { act, isServed }] of Object.entries(steps)) {
      const begunAtMs = performance.now();
      await act();
      const atMs = isServed ? await firstAnswerAt(fleet, macAddress) : await lastAnswerAt(fleet, macAddress);
      measured.set(what, [...(measured.get(what) ?? []), Math.max(0, atMs - begunAtMs)]);
      progress(`round ${round}: ${what}: noticed after ${Math.round(atMs - begunAtMs)} ms`);
    }
    await waitFor('the pool to go', async () => (await access.get('IPPool', 'default/pool-2')) === undefined, 60_000);
  }
  fleet.stop();
  return measured;
}

async function firstAnswerAt(fleet: ClientFleet, macAddress: string): Promise<number> {
  const before = fleet.answers.length;
  return await waitFor(
    'an answer',
    () => {
      fleet.ask({ macAddress, xid: nextXid() });
      return fleet.answers[before]?.atMs;
    },
    120_000,
  );
}

/** Asks until nothing has been answered for so long that a standby would have answered too. */
async function lastAnswerAt(fleet: ClientFleet, macAddress: string): Promise<number> {
  let lastMs = performance.now();
  let seen = fleet.answers.length;
  while (performance.now() - lastMs < SILENT_MS) {
    fleet.ask({ macAddress, xid: nextXid() });
    await delay(ASK_EVERY_MS);
    const answer = fleet.answers.at(-1);
    if (fleet.answers.length > seen && answer !== undefined) lastMs = answer.atMs;
    seen = fleet.answers.length;
  }
  return lastMs;
}

function nextXid(): number {
  return Math.floor(Math.random() * 2 ** 31);
}

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((one, other) => one - other);
  return [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map((value) => (value ?? 0).toFixed(0)).join(', ');
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}
