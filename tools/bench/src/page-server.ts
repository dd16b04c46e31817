/**
 * The server of the page in a process of its own, for `npm run bench -- page`: one pool of a /16, whose leases change all the time. Versions of the pool are made at the start, so that what
 * is measured is the page.
 */
import type { CacheListener, CacheSubscription, KubernetesObject } from '@vmdhcp/kube-runtime';
import { systemClock } from '@vmdhcp/kube-runtime/node';
import { accessForAll, createClusterSource, loadAssets, PageServer, type Section } from '@vmdhcp/status-page';
import type { PageServerAnswer, PageServerRequest } from './page-measurement.js';

const [addresses, changesPerSecond] = process.argv.slice(2).map(Number) as [number, number];
const UPDATES_PER_SECOND = 5;
const VERSIONS = 50;
const POOL = 'default/net-1';
/** Between two versions so many addresses are freed, and as many assigned. */
const BLOCK = Math.max(1, Math.round(changesPerSecond / UPDATES_PER_SECOND / 2));

const versions = Array.from({ length: VERSIONS }, (_, version) => poolWithout(version));
let at = 0;
const listeners = new Set<CacheListener>();
const source = createClusterSource({
  caches: { subscribe },
  instance: 'bench',
  onlyNamespace: undefined,
  agentsNamespace: undefined,
  hasWakeOnLan: false,
  hostStatuses: undefined,
  events: async () => [],
  isLeading: () => true,
  wallTimeMs: Date.now,
  onError: (_, error) => {
    throw error;
  },
});
const server = await PageServer.start({
  ...{ source, access: accessForAll(new Set<Section>(['pools', 'machines'])), assets: loadAssets() },
  ...{ clock: systemClock, wallTimeMs: Date.now, instance: 'bench', version: 'bench', servedBy: 'bench' },
  ...{ onlyLoopbackNames: true, listen: { host: '127.0.0.1', port: 0 }, certificate: undefined },
  onError: (error) => {
    throw error;
  },
});

process.on('message', (request: PageServerRequest) => {
  // Asked for once.
  if (request === 'change') setInterval(update, 1_000 / UPDATES_PER_SECOND);
  const { user, system } = process.cpuUsage();
  send({ kind: 'cpu', cpuMs: (user + system) / 1_000, megabytes: process.memoryUsage.rss() / 1e6 });
});
send({ kind: 'listening', port: server.port });

function send(answer: PageServerAnswer): void {
  process.send?.(answer);
}

function update(): void {
  at = (at + 1) % VERSIONS;
  for (const listener of listeners) listener.onChange(POOL, false);
}

/** Pools alone have objects. */
function subscribe({ plural }: { readonly plural: string }, listener: CacheListener): CacheSubscription {
  const isOfPools = plural === 'ippools';
  if (isOfPools) listeners.add(listener);
  const current = () => versions[at] as KubernetesObject;
  return {
    synced: true,
    size: 1,
    get: (key) => (isOfPools && key === POOL ? current() : undefined),
    *values() {
      if (isOfPools) yield current();
    },
    wrote: () => undefined,
    start: () => undefined,
    refresh: async () => undefined,
    stop: () => undefined,
  };
}

function poolWithout(version: number): KubernetesObject {
  const allocated: Record<string, string> = {};
  for (let index = 0; index < addresses; index++) {
    // Freed addresses are spread: the map has many runs.
    if (Math.floor(index / 7) % VERSIONS === version && index < 7 * VERSIONS * BLOCK && index % 7 === 0) continue;
    const address = 10 + index;
    allocated[`10.1.${address >> 8}.${address & 255}`] = macAddressOf(index);
  }
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { namespace: 'default', name: 'net-1', uid: 'net-1', generation: 1, resourceVersion: String(version) },
    spec: {
      networkName: POOL,
      ipv4Config: { cidr: '10.1.0.0/16', serverIP: '10.1.0.2', pool: { start: '10.1.0.10', end: '10.1.255.250' } },
    },
    status: { ipv4: { allocated, used: addresses, available: 0 }, conditions: [{ type: 'AgentReady', status: 'True' }] },
  };
}

function macAddressOf(index: number): string {
  const octets = [2, 0, 0, (index >> 16) & 255, (index >> 8) & 255, index & 255];
  return octets.map((octet) => octet.toString(16).padStart(2, '0')).join(':');
}
