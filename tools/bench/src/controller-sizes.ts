/** How long a controller takes to start, and how much memory it needs with so many virtual machines: in a pod, by its ServiceAccount. */
import { setTimeout as delay } from 'node:timers/promises';
import { readField } from '@vmdhcp/kube-runtime';
import { CONTROLLER_BIN, ipPool, LabProcess, networkAttachment, virtualMachine, waitFor } from '@vmdhcp/lab';
import type { MemorySize } from './agent-sizes.js';
import { type PodCluster, startPodCluster } from './pod-cluster.js';
import { usageOf } from './process-usage.js';
import { macOf } from './served-network.js';

const COUNTS = [1_000, 10_000];
const HTTP = '127.0.0.1:18099';
const REQUESTS_AT_ONCE = 16;
const LOOK_INTERVAL_MS = 1_000;
const IDLE_MS = 15_000;

export interface ControllerSize {
  readonly machines: number;
  /** From the start of the process until it is ready, in an empty cluster. */
  readonly startMs: number;
  /** The same in a cluster where all these virtual machines have their addresses. */
  readonly restartMs: number;
  /** Right after all virtual machines have their addresses. */
  readonly busy: MemorySize;
  readonly idle: MemorySize;
  /** After a restart. */
  readonly restarted: MemorySize;
}

export async function measureControllers(progress: (text: string) => void): Promise<ControllerSize[]> {
  const sizes: ControllerSize[] = [];
  for (const machines of COUNTS) {
    const cluster = await startPodCluster();
    try {
      sizes.push(await measure(cluster, machines));
    } finally {
      await cluster.stop();
    }
    progress(`${machines} virtual machines: ${JSON.stringify(sizes.at(-1))}`);
  }
  return sizes;
}

async function measure(cluster: PodCluster, machines: number): Promise<ControllerSize> {
  const first = await start(cluster);
  await createMachines(cluster, machines);
  const busy = usageOf(first.controller.pid);
  await delay(IDLE_MS);
  const idle = usageOf(first.controller.pid);
  await first.controller.stop();
  const second = await start(cluster);
  await delay(IDLE_MS);
  const restarted = usageOf(second.controller.pid);
  await second.controller.stop();
  return { machines, startMs: first.startMs, restartMs: second.startMs, busy, idle, restarted };
}

async function start({ env }: PodCluster): Promise<{ readonly controller: LabProcess; readonly startMs: number }> {
  const begunAtMs = performance.now();
  const run = ['run', '--no-agent', '--no-leader-election', '--http', HTTP, '--log-level', 'warn'];
  const controller = new LabProcess(process.execPath, [CONTROLLER_BIN, ...run], { env });
  const isReady = async () => {
    if (controller.hasEnded) throw new Error(controller.lines.join('\n'));
    return (await fetch(`http://${HTTP}/readyz`).catch(() => undefined))?.ok || undefined;
  };
  await waitFor('the controller', isReady, 30_000);
  return { controller, startMs: performance.now() - begunAtMs };
}

async function createMachines({ access }: PodCluster, machines: number): Promise<void> {
  await access.create(networkAttachment('default/net'));
  const range = { cidr: '10.0.0.0/16', serverIP: '10.0.0.2', pool: { start: '10.0.1.0', end: '10.0.99.255' } };
  await access.create(ipPool('default/pool', { network: 'default/net', ipv4Config: range }));
  let next = 0;
  const create = async () => {
    for (let index = next++; index < machines; index = next++)
      await access.create(virtualMachine(`default/vm-${index}`, macOf(index), 'default/net'));
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, create));
  const areAddressed = async () => {
    await delay(LOOK_INTERVAL_MS);
    return readField((await access.get('IPPool', 'default/pool'))?.status, 'ipv4', 'used') === machines || undefined;
  };
  await waitFor('all addresses', areAddressed, 300_000);
}
