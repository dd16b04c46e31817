/** npm run bench -- control, second part: how long until a change in the cluster is in the replies, and until another agent serves. */
import { join } from 'node:path';
import type { ServerAnswer } from '@vmdhcp/dhcp-agent';
import { CLUSTER_EXAMPLES, Lab, LabCluster, openProbe, unifiedAgents, virtualMachine, waitFor } from '@vmdhcp/lab';
import { markdown } from './tables.js';

const ROUNDS = 5;
/** The interval at which a client asks again. */
const PROBE_TIMEOUT_MS = 20;
const GIVE_UP_MS = 30_000;
const NETWORK = 'br48';

const lab = new Lab();
lab.addNetwork(NETWORK);
lab.addNetwork('br49');
const cluster = await LabCluster.start(lab, { networks: { 'default/vlan-48': NETWORK, 'default/vlan-49': 'br49' } });
try {
  await cluster.startController('--log-level', 'warn', '--agent-topology', 'unified');
  await cluster.access.applyAll(unifiedAgents());
  for (const file of ['pools.yaml', 'virtual-machines.yaml']) await cluster.access.applyFile(join(CLUSTER_EXAMPLES, file));
  await settled();
  const rows = [
    ['a new virtual machine gets a reply', await repeat('new virtual machine', newMachine), '1 s'],
    ['a changed option is in the reply', await repeat('option edit', optionEdit), '1 s'],
    ['hand-over: the leader is stopped (SIGTERM)', await repeat('hand-over', () => withoutLeader('SIGTERM')), '1 s'],
    ['failover: the leader is killed (SIGKILL)', await repeat('failover', () => withoutLeader('SIGKILL')), '6 s'],
  ] as const;
  process.stdout.write(
    `${markdown(
      [`until ..., ${ROUNDS} rounds`, 'lowest ms', 'median ms', 'highest ms', 'goal'],
      rows.map(([what, times, bound]) => [
        what,
        ...[0, Math.floor(ROUNDS / 2), ROUNDS - 1].map((at) => times[at]?.toFixed(0) ?? ''),
        bound,
      ]),
    )}\n`,
  );
} finally {
  await cluster.stop();
  await lab.dispose();
}
process.exit(0);

/** Sorted milliseconds. */
async function repeat(what: string, measure: (round: number) => Promise<number>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    times.push(await measure(round));
    process.stderr.write(`${what}: ${times.at(-1)?.toFixed(0)} ms\n`);
    await settled();
  }
  return times.toSorted((one, other) => one - other);
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

async function newMachine(round: number): Promise<number> {
  const macAddress = `02:00:5e:00:aa:0${round}`;
  const answered = untilAnswered(macAddress);
  await cluster.access.create(virtualMachine(`default/new-${round}`, macAddress, 'default/vlan-48'));
  return answered;
}

async function optionEdit(round: number): Promise<number> {
  const leaseTime = 1_000 + round;
  const answered = untilAnswered('02:00:5e:00:48:01', ({ leaseTimeSeconds }) => leaseTimeSeconds === leaseTime);
  await cluster.access.patch('IPPool', 'default/net-48', { spec: { ipv4Config: { leaseTime } } });
  return answered;
}

/** The longest time without an answer, from the moment the leader is stopped. */
async function withoutLeader(signal: 'SIGTERM' | 'SIGKILL'): Promise<number> {
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
async function settled(): Promise<void> {
  for (const pool of ['net-48', 'net-49']) await cluster.agentReady(`default/${pool}`);
  await cluster.rolledOut();
}
