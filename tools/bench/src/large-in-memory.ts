/** The controller alone, with an API in memory in its own process: what a large cluster costs it, without a server, HTTP or JSON. */
import { setTimeout as delay } from 'node:timers/promises';
import { type ApiResource, type KubernetesObject, type ObjectClient, readConditions, SharedCaches } from '@vmdhcp/kube-runtime';
import { systemClock } from '@vmdhcp/kube-runtime/node';
import { MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { ipPool, networkAttachment, virtualMachine } from '@vmdhcp/lab';
import { cachedParts, DhcpController } from '@vmdhcp/reconciler';
import { macOf, poolConfig } from './large-objects.js';

export interface InMemoryRow {
  readonly machines: number;
  readonly pools: number;
  readonly addressedAfterMs: number;
  readonly cpuMs: number;
  readonly writes: number;
  readonly heapMegabytes: number;
  readonly oneMoreMs: number;
  readonly relistCpuMs: number;
  readonly relistWrites: number;
  readonly restartMs: number;
}

/** Changes that the API remembers, as its watches look through all of them. */
const REMEMBERED_WRITES = 256;
/** Virtual machines that are created before others have their addresses. */
const MOST_WAITING = 2_000;
const AT_ONCE = 64;
const LOOK_MS = 20;
const IDLE_LOOKS = 15;

export async function measureInMemory(machines: number, perPool: number, rounds: number): Promise<InMemoryRow> {
  const api = new MemoryApi();
  const pools = Math.ceil(machines / perPool);
  for (let index = 0; index < pools; index++) {
    api.of('network-attachment-definitions').put(networkAttachment(`default/net-${index}`));
    await api.of('ippools').create(ipPool(`default/net-${index}`, { ipv4Config: poolConfig(index, pools) }));
  }
  let controller = start(api);
  await api.idle();
  const before = api.reading();
  for (let first = 0; first < machines; first += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, machines - first) }, (_, index) =>
      createMachine(api, first + index, pools),
    );
    await Promise.all(some);
    while (first - api.addressed > MOST_WAITING) await delay(LOOK_MS);
  }
  await api.allAddressed(machines);
  const filled = api.since(before);
  await api.idle();
  const heapMegabytes = process.memoryUsage().heapUsed / 1e6;
  const singles: number[] = [];
  for (let round = 0; round < rounds; round++) singles.push(await oneMore(api, machines + round));
  await api.idle();
  const beforeRelist = api.reading();
  api.expireWatches();
  await api.idle();
  const relisted = api.since(beforeRelist);
  await controller.stop();
  const beforeRestart = performance.now();
  controller = start(api);
  await oneMore(api, machines + rounds);
  const restartMs = performance.now() - beforeRestart;
  await controller.stop();
  return {
    machines,
    pools,
    addressedAfterMs: filled.elapsedMs,
    cpuMs: filled.cpuMs,
    writes: filled.writes,
    heapMegabytes,
    oneMoreMs: singles.toSorted((one, other) => one - other)[Math.floor(rounds / 2)] ?? 0,
    relistCpuMs: relisted.cpuMs,
    relistWrites: relisted.writes,
    restartMs,
  };
}

function start(api: MemoryApi): DhcpController {
  const clientOf = <Kind extends KubernetesObject = KubernetesObject>({ plural }: ApiResource) =>
    api.of(plural) as unknown as ObjectClient<Kind>;
  const backOff = { firstMs: 100, mostMs: 30_000, random: Math.random };
  const caches = new SharedCaches({ open: ({ plural }) => api.of(plural), clock: systemClock, backOff, trim: cachedParts });
  const now = () => `${new Date().toISOString().slice(0, 19)}Z`;
  const controller = new DhcpController({ caches, clientOf, clock: systemClock, now, random: Math.random, identity: 'bench' });
  controller.lead();
  return controller;
}

async function createMachine(api: MemoryApi, index: number, pools: number): Promise<void> {
  await api.of('virtualmachines').create(virtualMachine(`default/vm-${index}`, macOf(index), `default/net-${index % pools}`));
}

/** Milliseconds. */
async function oneMore(api: MemoryApi, index: number): Promise<number> {
  const begunAtMs = performance.now();
  await createMachine(api, index, 1);
  await api.allAddressed(index + 1);
  return performance.now() - begunAtMs;
}

interface Reading {
  readonly atMs: number;
  readonly cpuMs: number;
  readonly writes: number;
}

class MemoryApi {
  /** Configs with an address. */
  addressed = 0;
  #sinceCompaction = 0;
  readonly #resources = new Map<string, MemoryResource<KubernetesObject>>();
  readonly #hasAddress = new Set<string>();
  #writes = 0;
  #onAddressed: () => void = () => undefined;

  of(plural: string): MemoryResource<KubernetesObject> {
    const known = this.#resources.get(plural);
    if (known !== undefined) return known;
    const resource = new MemoryResource<KubernetesObject>(systemClock);
    resource.onWritten = (_, key) => this.#onWritten(resource, plural, key);
    this.#resources.set(plural, resource);
    return resource;
  }

  async allAddressed(count: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onAddressed = () => {
        if (this.addressed >= count) resolve();
      };
      this.#onAddressed();
    });
  }

  expireWatches(): void {
    for (const resource of this.#resources.values()) {
      resource.compact();
      resource.closeWatches('expired');
    }
  }

  /** Resolves when nothing is written and little is computed for a while. */
  async idle(): Promise<void> {
    for (let looks = 0; looks < IDLE_LOOKS; looks++) {
      const before = this.reading();
      await delay(LOOK_MS);
      const { writes, cpuMs } = this.since(before);
      if (writes > 0 || cpuMs > LOOK_MS / 2) looks = 0;
    }
  }

  reading(): Reading {
    const { user, system } = process.cpuUsage();
    return { atMs: performance.now(), cpuMs: (user + system) / 1000, writes: this.#writes };
  }

  since({ atMs, cpuMs, writes }: Reading): { readonly elapsedMs: number; readonly cpuMs: number; readonly writes: number } {
    const now = this.reading();
    return { elapsedMs: now.atMs - atMs, cpuMs: now.cpuMs - cpuMs, writes: now.writes - writes };
  }

  #onWritten(resource: MemoryResource<KubernetesObject>, plural: string, key: string): void {
    if (plural !== 'virtualmachines') this.#writes++;
    if (++this.#sinceCompaction % REMEMBERED_WRITES === 0) for (const one of this.#resources.values()) one.compact();
    if (plural !== 'virtualmachinenetworkconfigs' || this.#hasAddress.has(key)) return;
    const isAllocated = readConditions(resource.objects.get(key)?.status).some(
      ({ type, status }) => type === 'Allocated' && status === 'True',
    );
    if (!isAllocated) return;
    this.#hasAddress.add(key);
    this.addressed++;
    this.#onAddressed();
  }
}
