// The index of MAC addresses in the DHCP controller: what one machine's change costs among 10,000, from the watch to the listener, and what it
// all needs of memory.

import { Resource } from '@vmdhcp/ippool-api/resources';
import { SharedCaches } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { cachedPartsWith, DhcpController, MachineAddresses } from '@vmdhcp/reconciler';
import { timedChanges } from './timed-changes.mjs';

const MACHINES = 10_000;
const CHANGES = 2_000;

const macOf = (index) =>
  (0x020000000000 + index)
    .toString(16)
    .padStart(12, '0')
    .replace(/(..)(?!$)/g, '$1:');

/** Two interfaces: on a Multus network with an address of its own, and on the pod network, where KubeVirt chooses one. */
function shapeOf(index) {
  return {
    domain: { devices: { interfaces: [{ name: 'nic', macAddress: macOf(index) }, { name: 'default' }] } },
    networks: [
      { name: 'nic', multus: { networkName: 'net-1' } },
      { name: 'default', pod: {} },
    ],
  };
}

function machine(index, mac = index) {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: {
      namespace: `team-${index % 50}`,
      name: `vm-${index}`,
      uid: `uid-of-vm-${index}`,
      labels: { wake: 'yes', tier: 'web' },
    },
    spec: { template: { spec: shapeOf(mac) } },
  };
}

function instance(index, chosen) {
  const { namespace, name, uid } = machine(index).metadata;
  return {
    metadata: { namespace, name, uid: `${uid}-instance`, ownerReferences: [{ kind: 'VirtualMachine', name, uid }] },
    spec: shapeOf(index),
    status: { phase: 'Running', interfaces: [{ name: 'default', mac: macOf(chosen), infoSource: 'domain' }] },
  };
}

/** @returns rows: what, measured, goal. @param collectGarbage - runs the garbage collector. */
export async function measureInventory(collectGarbage) {
  const clock = new FakeClock();
  const made = new Map();
  const resourceOf = ({ plural }) => made.get(plural) ?? made.set(plural, new MemoryResource(clock)).get(plural);
  const machines = resourceOf(Resource.virtualMachines);
  const instances = resourceOf(Resource.virtualMachineInstances);
  for (let index = 0; index < MACHINES; index++) {
    machines.put(machine(index));
    if (index % 2 === 0) instances.put(instance(index, index + 1_000_000));
  }
  const random = () => 0.5;
  const caches = new SharedCaches({
    open: resourceOf,
    clock,
    backOff: { firstMs: 100, mostMs: 30_000, random },
    trim: cachedPartsWith({ machineLabels: true }),
  });
  const controller = new DhcpController({
    caches,
    clientOf: resourceOf,
    clock,
    now: () => '2026-01-01T00:00:00Z',
    random,
    identity: 'bench',
    macAddressMemory: { namespace: 'vmdhcp-system' },
  });
  const { inventory } = controller;
  controller.start();
  await clock.advance(1_000);
  const learned = [];
  inventory.onChange((key) => learned.push(key));
  // Every second machine runs: its template counts for the next start only.
  const ofTemplates = await timed(machines, (change) => machine(((change * 14) % MACHINES) + 1, 2_000_000 + change));
  const ofInstances = await timed(instances, (change) => instance((change * 14) % MACHINES, 3_000_000 + change));
  if (learned.length !== 2 * CHANGES) throw new Error(`the listener learned of ${learned.length} changes of ${2 * CHANGES}`);
  collectGarbage();
  const heapBefore = process.memoryUsage().heapUsed;
  const again = new MachineAddresses({
    virtualMachines: controller.caches.virtualMachines,
    knowledgeOf: (virtualMachine) => controller.view.knowledgeOf(virtualMachine),
  });
  const builtAt = performance.now();
  again.complete();
  const builtMs = performance.now() - builtAt;
  collectGarbage();
  const megabytes = (process.memoryUsage().heapUsed - heapBefore) / 1e6;
  const stopping = controller.stop();
  await clock.advance(100);
  await stopping;
  const all = again.size.toLocaleString('en');
  return [
    [
      `inventory of ${all} machines, from the watch to the listener: a template changes: median, 99 %, longest`,
      ofTemplates,
      '5 ms',
    ],
    ['the same: an instance gets another address', ofInstances, '5 ms'],
    ['the inventory from what is cached: time, memory', `${builtMs.toFixed(0)} ms, ${megabytes.toFixed(1)} MB`, ''],
  ];
}

/** How long a change takes until everything that listens has taken note of it. */
async function timed(resource, changed) {
  // The stand-in of the API server keeps every change otherwise, and looks at all of them.
  return await timedChanges(
    CHANGES,
    (change) => resource.put(changed(change)),
    () => resource.compact(),
  );
}
