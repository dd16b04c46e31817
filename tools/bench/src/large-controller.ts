/** One row of `npm run bench -- control`: a cluster is filled, then small things happen in it. */
import { setTimeout as delay } from 'node:timers/promises';
import { readConditions } from '@vmdhcp/kube-runtime';
import { ipPool, networkAttachment, virtualMachine } from '@vmdhcp/lab';
import { LargeCluster, type Used } from './large-cluster.js';
import { macOf, poolConfig } from './large-objects.js';

export interface LargeSettings {
  readonly machines: number;
  readonly perPool: number;
  /** The number of single creations and deletions: the median counts. */
  readonly rounds: number;
  readonly onProgress: (text: string) => void;
}

export interface LargeRow {
  readonly machines: number;
  readonly pools: number;
  readonly createdAfterMs: number;
  readonly filled: Used;
  readonly poolPatches: number;
  /** Before the first virtual machine, and after the last one. */
  readonly emptyMegabytes: number;
  readonly megabytes: number;
  readonly oneMore: Used;
  readonly oneLess: Used;
  readonly relisted: Used;
  readonly restarted: Used;
  readonly scraped: { readonly ms: number; readonly megabytes: number };
  readonly scrapedMegabytes: number;
}

/** Requests at a time, as a busy platform makes them. */
const REQUESTS_AT_ONCE = 16;
const PROGRESS_EVERY = 500;

export async function measureLarge(settings: LargeSettings): Promise<LargeRow> {
  const { machines, perPool } = settings;
  const cluster = await LargeCluster.start();
  try {
    const pools = Number.isFinite(perPool) ? Math.ceil(machines / perPool) : 1;
    await createPools(cluster, pools);
    await cluster.idle();
    const emptyMegabytes = cluster.controllerMegabytes();
    const { createdAfterMs, filled } = await fill(cluster, settings, pools);
    await cluster.idle();
    const megabytes = cluster.controllerMegabytes();
    const singles = await measureSingles(cluster, settings);
    settings.onProgress('all are listed again');
    const relisted = await measureRelist(cluster);
    settings.onProgress('a page of metrics');
    const { poolPatches, ...scraped } = await cluster.scrape();
    const scrapedMegabytes = cluster.controllerMegabytes();
    settings.onProgress('a new controller');
    const restarted = await measureRestart(cluster, machines + settings.rounds);
    return {
      machines,
      pools,
      createdAfterMs,
      filled,
      poolPatches,
      emptyMegabytes,
      megabytes,
      ...singles,
      relisted,
      restarted,
      scraped,
      scrapedMegabytes,
    };
  } finally {
    await cluster.stop();
  }
}

async function createPools(cluster: LargeCluster, pools: number): Promise<void> {
  await each(pools, async (index) => {
    await cluster.access.create(networkAttachment(`default/net-${index}`));
    await cluster.access.create(ipPool(`default/net-${index}`, { ipv4Config: poolConfig(index, pools) }));
  });
  const last = `default/net-${pools - 1}`;
  await cluster.access.waitForObject('IPPool', last, ({ status }) => readConditions(status).length > 0);
}

async function fill(
  cluster: LargeCluster,
  { machines, onProgress }: LargeSettings,
  pools: number,
): Promise<Pick<LargeRow, 'createdAfterMs' | 'filled'>> {
  let createdAfterMs = 0;
  const filled = await cluster.measure(async () => {
    const begunAtMs = performance.now();
    const addressed = cluster.addressed(machines);
    await each(machines, async (index) => {
      await createMachine(cluster, index, pools);
      if (index % PROGRESS_EVERY === 0) onProgress(`${index} created`);
    });
    createdAfterMs = performance.now() - begunAtMs;
    onProgress('all created');
    await addressed;
  });
  return { createdAfterMs, filled };
}

/** One after the other: each is created and, when the controller is idle again, deleted. */
async function measureSingles(
  cluster: LargeCluster,
  { machines, rounds, onProgress }: LargeSettings,
): Promise<Pick<LargeRow, 'oneMore' | 'oneLess'>> {
  const created: Used[] = [];
  const deleted: Used[] = [];
  for (let round = 0; round < rounds; round++) {
    onProgress(`one more, ${round + 1} of ${rounds}`);
    created.push(await measureOneMore(cluster, machines + round));
    deleted.push(await measureOneLess(cluster, machines + round));
  }
  return { oneMore: median(created), oneLess: median(deleted) };
}

async function measureOneMore(cluster: LargeCluster, index: number): Promise<Used> {
  const addressed = cluster.addressed(1);
  return await measureSingle(cluster, addressed, () => createMachine(cluster, index, 1));
}

async function measureOneLess(cluster: LargeCluster, index: number): Promise<Used> {
  const released = cluster.released(`default/vm-${index}`);
  return await measureSingle(cluster, released, () => cluster.access.delete('VirtualMachine', `default/vm-${index}`));
}

/** The time until it is done; the processors until everything that follows from it is. */
async function measureSingle(cluster: LargeCluster, done: Promise<void>, act: () => Promise<void>): Promise<Used> {
  // The watch is there by then.
  await delay(100);
  let elapsedMs = 0;
  const used = await cluster.measure(async () => {
    const begunAtMs = performance.now();
    await act();
    await done;
    elapsedMs = performance.now() - begunAtMs;
    await cluster.idle();
  });
  return { ...used, elapsedMs };
}

async function measureRelist(cluster: LargeCluster): Promise<Used> {
  return await cluster.measure(async () => {
    await cluster.expireWatches();
    await cluster.idle();
  });
}

/** From the start of the process until one more virtual machine has its address, which was created while there was no controller. */
async function measureRestart(cluster: LargeCluster, index: number): Promise<Used> {
  await cluster.stopController();
  const addressed = cluster.addressed(1);
  await createMachine(cluster, index, 1);
  return await cluster.measure(async () => {
    await cluster.startController();
    await addressed;
  });
}

async function createMachine(cluster: LargeCluster, index: number, pools: number): Promise<void> {
  const network = `default/net-${index % pools}`;
  await cluster.access.create(virtualMachine(`default/vm-${index}`, macOf(index), network));
}

/** So many requests, some at a time. */
async function each(count: number, request: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await request(next++);
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
}

function median(all: readonly Used[]): Used {
  const sorted = all.toSorted((one, other) => one.elapsedMs - other.elapsedMs);
  return sorted[Math.floor(sorted.length / 2)] as Used;
}
