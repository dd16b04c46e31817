/** How long until a change in the cluster is in the replies, and until another agent serves. */
import { join } from 'node:path';
import type { ServerAnswer } from '@vmdhcp/dhcp-agent';
import { CLUSTER_EXAMPLES, Lab, LabCluster, openProbe, unifiedAgents, virtualMachine, waitFor } from '@vmdhcp/lab';
import { markdown } from './tables.js';

const ROUNDS = 5;
/** The interval at which a client asks again. */
const PROBE_TIMEOUT_MS = 20;
const GIVE_UP_MS = 30_000;
const NETWORK = 'br48';
/** What changes, the goal, and how many milliseconds it takes. */
const CHANGES: readonly (readonly [string, string, (cluster: LabCluster, round: number) => Promise<number>])[] = [
  ['a new virtual machine gets a reply', '1 s', newMachine],
  ['a changed option is in the reply', '1 s', optionEdit],
  ['hand-over: the leader is stopped (SIGTERM)', '1 s', (cluster) => withoutLeader(cluster, 'SIGTERM')],
  ['failover: the leader is killed (SIGKILL)', '6 s', (cluster) => withoutLeader(cluster, 'SIGKILL')],
];

/** A row for each change. */
export async function measureWire(): Promise<string> {
  const lab = new Lab();
  lab.addNetwork(NETWORK);
  lab.addNetwork('br49');
  const cluster = await LabCluster.start(lab, { networks: { 'default/vlan-48': NETWORK, 'default/vlan-49': 'br49' } });
  try {
    await cluster.startController('--log-level', 'warn', '--agent-topology', 'unified');
    await cluster.access.applyAll(unifiedAgents());
    for (const file of ['pools.yaml', 'virtual-machines.yaml']) await cluster.access.applyFile(join(CLUSTER_EXAMPLES, file));
    await settled(cluster);
    const rows: string[][] = [];
    for (const [what, bound, measure] of CHANGES) {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        times.push(await measure(cluster, round));
        await settled(cluster);
      }
      times.sort((one, other) => one - other);
      const shown = [0, Math.floor(ROUNDS / 2), ROUNDS - 1].map((at) => times[at]?.toFixed(0) ?? '');
      rows.push([what, ...shown, bound]);
    }
    return markdown([`until ..., ${ROUNDS} rounds`, 'lowest ms', 'median ms', 'highest ms', 'goal'], rows);
  } finally {
    await cluster.stop();
    await lab.dispose();
  }
}

/** Asks until `isIt` accepts an answer; returns how long that took from now. */
async function untilAnswered(macAddress: string, isIt: (answer: ServerAnswer) => boolean = () => true): Promise<number> {
  const begunAtMs = performance.now();
  while (performance.now() - begunAtMs < GIVE_UP_MS) {
    const probe = openProbe({ interfaceName: NETWORK, macAddress, timeoutMs: PROBE_TIMEOUT_MS });
    const answers = await probe.discover(true).finally(() => probe.close());
    if (answers.some(isIt)) return performance.now() - begunAtMs;
  }
  throw new Error(`${macAddress} was not answered within ${GIVE_UP_MS} ms`);
}

async function newMachine({ access }: LabCluster, round: number): Promise<number> {
  const macAddress = `02:00:5e:00:aa:0${round}`;
  const answered = untilAnswered(macAddress);
  await access.create(virtualMachine(`default/new-${round}`, macAddress, 'default/vlan-48'));
  return answered;
}

async function optionEdit({ access }: LabCluster, round: number): Promise<number> {
  const leaseTime = 1_000 + round;
  const answered = untilAnswered('02:00:5e:00:48:01', ({ leaseTimeSeconds }) => leaseTimeSeconds === leaseTime);
  await access.patch('IPPool', 'default/net-48', { spec: { ipv4Config: { leaseTime } } });
  return answered;
}

/** The longest time without an answer, from the moment the leader is stopped. */
async function withoutLeader(cluster: LabCluster, signal: 'SIGTERM' | 'SIGKILL'): Promise<number> {
  const leader = await waitFor('a leader', () => cluster.leader());
  leader.process?.kill(signal);
  const begunAtMs = performance.now();
  let lastAnswerMs = begunAtMs;
  let longestMs = 0;
  // Until another agent is leader, and has answered for a while.
  for (;;) {
    await untilAnswered('02:00:5e:00:48:01');
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastAnswerMs);
    lastAnswerMs = nowMs;
    const next = await cluster.leader();
    if (next !== undefined && next !== leader && nowMs - begunAtMs > longestMs + 1_000) return longestMs;
    if (nowMs - begunAtMs > GIVE_UP_MS) throw new Error('no other agent is leader');
  }
}

/** Both replicas run, one is leader, and both pools are served. */
async function settled(cluster: LabCluster): Promise<void> {
  for (const pool of ['net-48', 'net-49']) await cluster.agentReady(`default/${pool}`);
  await cluster.rolledOut();
}
