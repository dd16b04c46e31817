// The controller part of Wake-on-LAN with 10,000 virtual machines, on an API in memory: how long the process is busy with one change.
import { SharedCaches } from '@vmdhcp/kube-runtime';
import { systemClock } from '@vmdhcp/kube-runtime/node';
import { MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { WakeOnLanController } from '@vmdhcp/wake-on-lan/controller';
import { timedChanges } from './timed-changes.mjs';

const CHANGES = 2_000;
const CONFIGS = 10;
const AGENTS = {
  namespace: 'bench',
  image: 'agent:1',
  imagePullSecrets: [],
  manager: 'manager:9090',
  tlsSecret: 'tls',
};

/** @param machines - as an inventory has them. @param changed - the machine at an index, after so many changes. */
export async function controllerRows(machines, changed) {
  const inventory = memoryInventory(machines);
  const [configs, daemonSets, events] = [1, 2, 3].map(() => new MemoryResource(systemClock));
  const clientOf = ({ plural }) => ({ wolconfigs: configs, daemonsets: daemonSets })[plural] ?? events;
  const statusMs = [];
  const controller = new WakeOnLanController({
    caches: new SharedCaches({ open: clientOf, clock: systemClock, backOff: { firstMs: 100, mostMs: 1_000, random: () => 0 } }),
    clientOf,
    inventory,
    agents: AGENTS,
    clock: systemClock,
    now: () => new Date().toISOString(),
    random: () => 0,
    identity: 'bench',
    observer: { onReconciled: (key, _, durationMs) => key === 'statuses' && statusMs.push(durationMs) },
  });
  for (let index = 0; index < CONFIGS; index++) configs.put(configAt(index));
  controller.start();
  controller.lead();
  await until(() => statusMs.length > 0);
  const written = [];
  configs.onWritten = (what) => written.push(what);
  const changes = await timedChanges(CHANGES, (change) => inventory.set(changed((change * 7) % machines.length, change)));
  const before = statusMs.length;
  await until(() => statusMs.length > before);
  const rebuiltAt = performance.now();
  configs.put(configAt(CONFIGS));
  controller.index.find('02:00:00:00:00:01');
  const rebuildMs = performance.now() - rebuiltAt;
  await controller.stop();
  return [
    [`controller, ${CONFIGS} WolConfigs: one machine changes: median, 99 %, longest (as above)`, changes, '5 ms'],
    [`controller: statuses written for ${CHANGES.toLocaleString('en')} changes`, `${written.length}`, `${CONFIGS}`],
    ['controller: a WolConfig is new, until the next wake-up is decided by it', `${rebuildMs.toFixed(0)} ms`, ''],
  ];
}

function configAt(index) {
  const spec = {
    discoveryMode: 'LabelSelector',
    vmSelector: { matchLabels: { wake: 'yes' } },
    namespaceSelectors: [`team-${index}`],
  };
  return { metadata: { name: `config-${index}`, uid: `uid-${index}`, generation: 1 }, spec };
}

function memoryInventory(machines) {
  const byKey = new Map(machines.map((one) => [`${one.namespace}/${one.name}`, one]));
  const listeners = new Set();
  return {
    synced: true,
    machines: () => byKey.values(),
    get: (key) => byKey.get(key),
    onSynced: (listener) => {
      listener();
      return () => undefined;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set: (one) => {
      const key = `${one.namespace}/${one.name}`;
      byKey.set(key, one);
      for (const listener of listeners) listener(key);
    },
  };
}

async function until(isTrue) {
  const giveUpAtMs = performance.now() + 30_000;
  while (!isTrue()) {
    if (performance.now() > giveUpAtMs) throw new Error('the controller does not come to an end');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
