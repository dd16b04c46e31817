/** How long an agent takes to start, and how much memory it needs: as a program on a host, and in a pod. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AGENT_BIN, ipPool, LabProcess } from '@vmdhcp/lab';
import { startPodCluster } from './pod-cluster.js';
import { usageOf } from './process-usage.js';
import { addressOf, macOf } from './served-network.js';
import { machineYaml, poolYaml } from './servers.js';
import type { TestBed } from './test-bed.js';

const POOLS = 24;
const LEASES = 10_000;
const STARTS = 3;
/** The pages that only the start used are returned ten seconds after it. */
const IDLE_MS = 15_000;
const LOAD_SECONDS = 5;
/** The pair of interfaces for the agent in a pod, which adds the server address itself. */
const POD_PAIR = POOLS;

export interface AgentSize {
  readonly what: string;
  /** From the start of the process to the first reply: the median of some starts. */
  readonly startMs: number;
  readonly idle: MemorySize;
  readonly underLoad: MemorySize;
  readonly exchangesPerSecond: number;
}

export interface MemorySize {
  /** Everything that is mapped, pages of Node's file included. */
  readonly residentMegabytes: number;
  /** The private part of that memory. */
  readonly privateMegabytes: number;
}

interface Case {
  readonly what: string;
  /** The clients' ends. */
  readonly interfaces: readonly string[];
  readonly clients: number;
  readonly start: () => LabProcess;
}

/** @param bed - empty; this adds what it needs. */
export async function measureAgents(bed: TestBed, progress: (text: string) => void): Promise<AgentSize[]> {
  for (let index = 0; index < POOLS; index++) bed.addPair(index, `10.${100 + index}.0.1`);
  bed.addPair(POD_PAIR, '10.200.0.1');
  const cluster = await startPodCluster();
  try {
    await createPool(cluster);
    const sizes: AgentSize[] = [];
    for (const one of [onHost(bed, 1, 1), onHost(bed, POOLS, LEASES), onHost(bed, 1, LEASES), inPod(cluster.env)]) {
      sizes.push(await measure(bed, one));
      progress(`${one.what}: ${JSON.stringify(sizes.at(-1))}`);
    }
    return sizes;
  } finally {
    await cluster.stop();
  }
}

async function measure(bed: TestBed, { what, interfaces, clients, start }: Case): Promise<AgentSize> {
  const starts: number[] = [];
  for (let round = 1; ; round++) {
    const begunAtMs = Date.now();
    const agent = start();
    starts.push((await bed.firstReply(interfaces[0] ?? '', macOf(0), agent)) - begunAtMs);
    if (round < STARTS) {
      await agent.stop();
      continue;
    }
    await delay(IDLE_MS);
    const idle = usageOf(agent.pid);
    const { exchangesPerSecond } = await bed.measure(agent, {
      ...{ mode: 'direct', interfaces, window: 64, seconds: LOAD_SECONDS, clients },
    });
    const underLoad = usageOf(agent.pid);
    await agent.stop();
    return { what, startMs: starts.toSorted((one, other) => one - other)[1] ?? 0, idle, underLoad, exchangesPerSecond };
  }
}

/** An agent on a bare host. Clients are on all pools in turn. */
function onHost(bed: TestBed, pools: number, clients: number): Case {
  const folder = bed.folder();
  const path = join(folder, 'pools.yaml');
  const indexes = Array.from({ length: pools }, (_, index) => index);
  const prefix = (index: number) => `10.${100 + index}`;
  const objects = indexes.map((index) =>
    poolYaml(`net-${index}`, prefix(index), [`${prefix(index)}.0.1`, `${prefix(index)}.0.10`, `${prefix(index)}.255.250`]),
  );
  for (let client = 0; client < clients; client++) objects.push(machineYaml(`net-${client % pools}`, client));
  writeFileSync(path, objects.join('---\n'));
  const serve = ['serve', '--pools', path, '--state', join(folder, 'state'), '--http', '127.0.0.1:8080'];
  const interfaces = indexes.flatMap((index) => ['--interface', `net-${index}=srv${index}`]);
  return {
    what: `${pools === 1 ? 'one pool' : `${pools} pools`}, ${clients.toLocaleString('en')} machines in its file`,
    interfaces: indexes.map((index) => `cli${index}`),
    clients,
    start: () => new LabProcess(process.execPath, [AGENT_BIN, ...serve, ...interfaces]),
  };
}

const POD_POOL = { cidr: '10.77.0.0/16', serverIP: '10.77.0.1' };

/** An agent as in a pod: by a ServiceAccount, over HTTPS, with a Lease. */
function inPod(env: Readonly<Record<string, string>>): Case {
  const config = {
    interfaceName: `srv${POD_PAIR}`,
    ...POD_POOL,
    ipPoolName: 'default/net',
    ipPoolRef: 'default/net',
    nadName: 'default/net',
  };
  const variables = { ...env, POD_NAMESPACE: 'default', AGENT_NETWORK_CONFIGS: JSON.stringify([config]) };
  return {
    what: `in a pod: one pool, ${LEASES.toLocaleString('en')} leases`,
    interfaces: [`cli${POD_PAIR}`],
    clients: LEASES,
    start: () => new LabProcess(process.execPath, [AGENT_BIN, 'serve', '--http', '127.0.0.1:8080'], { env: variables }),
  };
}

/** With an address for each client, as the controller records them. */
async function createPool({ access }: Awaited<ReturnType<typeof startPodCluster>>): Promise<void> {
  const pool = { start: '10.77.0.10', end: '10.77.255.250' };
  await access.create(
    ipPool('default/net', { ipv4Config: { ...POD_POOL, router: '10.77.0.2', pool }, spec: { conflictProbe: 'Disabled' } }),
  );
  const allocated = Object.fromEntries(Array.from({ length: LEASES }, (_, client) => [addressOf(client), macOf(client)]));
  const status = { ipv4: { allocated, used: LEASES, available: 50_000 } };
  const result = await access.client('IPPool').patchStatus({ key: 'default/net' }, { status });
  if (!result.ok) throw new Error(result.message);
}
