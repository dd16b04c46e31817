/**
 * npm run bench -- wake-on-lan --only cluster: ten nodes hear one packet. How long it takes from the packet to the request that starts the machine, and how many requests there are: as usual, with a
 * manager that is killed meanwhile, and without a manager for a minute.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { waitFor } from '@vmdhcp/lab';
import { type ProcessUsage, usageOf } from './process-usage.js';
import { markdown } from './tables.js';
import { type SleepingMachine, WakeNodes, type Way } from './wake-nodes.js';

const { values } = parseArgs({
  options: {
    'wake-ups': { type: 'string', default: '100' },
    kills: { type: 'string', default: '20' },
    'away-seconds': { type: 'string', default: '60' },
  },
});
const NODES = 10;
const WAKE_UPS = Number(values['wake-ups']);
const KILLS = Number(values.kills);
const AWAY_MS = Number(values['away-seconds']) * 1000;
/** How much later than in the round before the manager is killed after the packet. */
const KILL_STEP_MS = 4;
const SETTLE_MS = 3_000;
const PATIENCE_MS = 60_000;

const machines = WAKE_UPS + KILLS + 1;
const nodes = await WakeNodes.start(NODES, machines);
try {
  process.stdout.write(`\n${await measure()}\n`);
} finally {
  await nodes.stop();
}
process.exit(0);

async function measure(): Promise<string> {
  const without = await memoryWithout();
  void nodes.keepController('first');
  await nodes.leader();
  await nodes.addConfig(NODES);
  void nodes.keepController('other');
  await delay(SETTLE_MS);
  const leader = await nodes.leader();
  const idle = {
    controller: usageOf(leader.process.pid),
    agents: nodes.agents.map(({ process: agent }) => usageOf(agent?.pid ?? 0)),
  };
  const rest = nodes.machines.slice(WAKE_UPS);
  const woken = await wakeAll(nodes.machines.slice(0, WAKE_UPS));
  progress(`woken: ${[...woken.delays.values()].map(percentiles).join('; ')}`);
  const after = usageOf(leader.process.pid);
  const killed = await killManagers(rest.slice(0, KILLS));
  const away = await withoutManager(rest.slice(KILLS)[0] as SleepingMachine);
  // What is repeated late has had its time.
  await delay(SETTLE_MS);
  const [own, ofKilled] = [nodes.machines.slice(0, WAKE_UPS), rest.slice(0, KILLS)].map(startsOf);
  const agents = idle.agents.toSorted((one, other) => one.residentMegabytes - other.residentMegabytes);
  return markdown(
    [`${NODES} nodes hear one packet`, 'measured', 'goal'],
    [
      ...(['udp', 'frame'] as const).map((way) => [
        `from the ${way === 'udp' ? 'datagram' : 'frame'} to the request that starts the machine: lowest, median, 95 %, highest`,
        percentiles(woken.delays.get(way) ?? []),
        '100 ms',
      ]),
      [`requests to start, for each of ${WAKE_UPS} wake-ups`, own ?? '', '1'],
      ['reports of agents for each of them', range(woken.reports), ''],
      [
        `manager killed ${KILLS} times while agents report: requests to start that were accepted, for each wake-up`,
        ofKilled ?? '',
        '1',
      ],
      ['in these: from the packet to the accepted request', percentiles(killed.delays), ''],
      ['in these: the machine had been started before the manager was killed', `${killed.before} of ${KILLS}`, ''],
      [`no manager for ${AWAY_MS / 1000} s: requests to start`, startsOf(away.machines), '1'],
      ['from the start of the manager to that request; from its leadership', `${ms(away.afterStart)}, ${ms(away.afterLead)}`, ''],
      ['agent, idle: RSS, private (of ten the median)', memory(agents[Math.floor(agents.length / 2)] as ProcessUsage), ''],
      [`controller, ${machines} machines, without --wake-on-lan: RSS, private`, memory(without), ''],
      ['the same with --wake-on-lan and ten agents', memory(idle.controller), ''],
      [`the same after ${WAKE_UPS} wake-ups`, memory(after), ''],
    ],
  );
}

async function memoryWithout(): Promise<ProcessUsage> {
  const controller = await nodes.startController('first', { wakeOnLan: false });
  await delay(2 * SETTLE_MS);
  const usage = usageOf(controller.process.pid);
  await controller.process.stop();
  return usage;
}

/** Each machine by one packet, datagrams and frames in turn. */
async function wakeAll(sleeping: readonly SleepingMachine[]) {
  const delays = new Map<Way, number[]>([
    ['udp', []],
    ['frame', []],
  ]);
  const reports: number[] = [];
  for (const [index, machine] of sleeping.entries()) {
    const way = index % 2 === 0 ? 'udp' : 'frame';
    const before = await nodes.reports();
    const sentAtMs = await nodes.wake(machine, way);
    delays.get(way)?.push((await firstStart(machine)) - sentAtMs);
    reports.push((await untilReported(before.ended)) - before.ended);
  }
  return { delays, reports };
}

/** For each machine the manager that leads is killed a little later. Half of the agents report to it, the others only to the next one. */
async function killManagers(sleeping: readonly SleepingMachine[]) {
  let before = 0;
  const delays: number[] = [];
  for (const [index, machine] of sleeping.entries()) {
    const leader = await nodes.leader();
    await nodes.untilListed(NODES);
    const { ended } = await nodes.reports();
    // In every second round the request stays in the VirtualMachine, as with a virt-controller that is slow.
    const unblock = index % 2 === 0 ? nodes.kubevirt.block(machine.key, 'request') : () => undefined;
    const late = nodes.agents.slice(NODES / 2);
    for (const { process: agent } of late) agent?.kill('SIGSTOP');
    const [sentAtMs] = await Promise.all([
      nodes.wake(machine, 'udp'),
      delay(index * KILL_STEP_MS).then(() => leader.process.kill('SIGKILL')),
    ]);
    before += Math.min(1, nodes.kubevirt.acceptedStartsOf(machine.key));
    await nodes.leader(leader);
    for (const { process: agent } of late) agent?.kill('SIGCONT');
    await untilReported(ended);
    unblock();
    delays.push((await firstStart(machine)) - sentAtMs);
    progress(`manager killed ${index + 1} of ${sleeping.length} times`);
  }
  return { before, delays };
}

/** Both are killed, and one is started again later. */
async function withoutManager(machine: SleepingMachine) {
  await nodes.untilListed(NODES);
  const { ended } = await nodes.reports();
  await nodes.killControllers();
  await nodes.wake(machine, 'udp');
  await delay(AWAY_MS);
  if (nodes.kubevirt.startsOf(machine.key).length > 0) throw new Error(`${machine.key} was started without a manager`);
  const startedAtMs = performance.timeOrigin + performance.now();
  void nodes.keepController('first');
  await nodes.leader();
  const ledAtMs = performance.timeOrigin + performance.now();
  const startAtMs = await firstStart(machine);
  await untilReported(ended);
  return { machines: [machine], afterStart: startAtMs - startedAtMs, afterLead: startAtMs - ledAtMs };
}

/** Resolves when each agent has an answer for one more wake-up. @returns how many have been answered. */
async function untilReported(before: number): Promise<number> {
  const look = async () => {
    const { ended, waiting } = await nodes.reports();
    return ended >= before + NODES && waiting === 0 ? ended : undefined;
  };
  return await waitFor('the reports of all agents', look, PATIENCE_MS);
}

/** When the first request that was accepted came, in milliseconds since 1970. */
async function firstStart({ key }: SleepingMachine): Promise<number> {
  const accepted = () => nodes.kubevirt.startsOf(key).find(({ answered }) => answered === 202)?.receivedAtMs;
  return await waitFor(`a start of ${key}`, accepted, PATIENCE_MS);
}

/** Requests, and how many of them were accepted: the fewest and the most for one machine. */
function startsOf(started: readonly SleepingMachine[]): string {
  const accepted = started.map(({ key }) => nodes.kubevirt.acceptedStartsOf(key));
  const refused =
    started.reduce((sum, { key }) => sum + nodes.kubevirt.startsOf(key).length, 0) - accepted.reduce((sum, one) => sum + one, 0);
  return refused === 0 ? range(accepted) : `${range(accepted)}; KubeVirt refused ${refused} more`;
}

function range(counts: readonly number[]): string {
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? String(least) : `${least} to ${most}`;
}

function percentiles(delays: readonly number[]): string {
  const sorted = delays.toSorted((one, other) => one - other);
  return [0, 0.5, 0.95, 1].map((part) => ms(sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN)).join(', ');
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

function ms(duration: number): string {
  return Math.abs(duration) < 1000 ? `${duration.toFixed(0)} ms` : `${(duration / 1000).toFixed(1)} s`;
}

function memory({ residentMegabytes, privateMegabytes }: ProcessUsage): string {
  return `${residentMegabytes.toFixed(0)} MB, ${privateMegabytes.toFixed(0)} MB`;
}
