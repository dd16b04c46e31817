/** npm run bench -- admission: how long a decision takes, with 1,000 pools and 10,000 virtual machines, and whether memory grows. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import {
  type AdmissionRequest,
  defaultIpPool,
  factsOfObjects,
  reviewIpPool,
  reviewNetworkConfig,
  reviewVirtualMachine,
} from '@vmdhcp/reconciler';

const POOLS = 1_000;
const MACHINES_OF_A_POOL = 10;
const DECISIONS = 5_000;

const subnet = (pool: number) => `10.${pool >> 8}.${pool & 255}`;
const macAddress = (pool: number, machine: number) => {
  const number = pool * MACHINES_OF_A_POOL + machine;
  return `02:00:00:${[number >> 16, number >> 8, number].map((octet) => (octet & 255).toString(16).padStart(2, '0')).join(':')}`;
};
const named = (name: string, more: object = {}) => ({ namespace: 'default', name, resourceVersion: '1', ...more });

function network(pool: number): KubernetesObject {
  const config = JSON.stringify({ type: 'bridge', bridge: 'mgmt-br', vlan: (pool % 4_000) + 1 });
  return {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: named(`net-${pool}`),
    spec: { config },
  };
}

function ipPool(pool: number, settings: object = {}, name = `pool-${pool}`): KubernetesObject {
  const at = subnet(pool);
  const ipv4Config = {
    cidr: `${at}.0/24`,
    serverIP: `${at}.2`,
    pool: { start: `${at}.10`, end: `${at}.200` },
    leaseTime: 300,
    ...settings,
  };
  const machines = Array.from({ length: MACHINES_OF_A_POOL }, (_, index) => index);
  const allocated = Object.fromEntries(machines.map((machine) => [`${at}.${10 + machine}`, macAddress(pool, machine)]));
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: named(name),
    spec: { networkName: `default/net-${pool}`, ipv4Config },
    status: { ipv4: { used: MACHINES_OF_A_POOL, available: 181, allocated } },
  };
}

function networkConfig(pool: number, machine: number, ipAddress?: string): KubernetesObject {
  const entry = { networkName: `default/net-${pool}`, macAddress: macAddress(pool, machine), ipAddress };
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'VirtualMachineNetworkConfig',
    metadata: named(`vm-${pool}-${machine}`),
    spec: { vmName: `vm-${pool}-${machine}`, networkConfigs: [entry] },
  };
}

function virtualMachine(pool: number, machine: number, pinned?: string): KubernetesObject {
  const interfaces = [{ name: 'nic', macAddress: macAddress(pool, machine) }];
  const annotations = pinned === undefined ? {} : { 'static-ip.harvesterhci.io/nic': pinned };
  const networks = [{ name: 'nic', multus: { networkName: `net-${pool}` } }];
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: named(`vm-${pool}-${machine}`, { annotations }),
    spec: { template: { spec: { domain: { devices: { interfaces } }, networks } } },
  };
}

function request(object: KubernetesObject | undefined, oldObject?: KubernetesObject): AdmissionRequest {
  const operation = object === undefined ? 'DELETE' : oldObject === undefined ? 'CREATE' : 'UPDATE';
  return { operation, object, oldObject, namespace: 'default', name: (object ?? oldObject)?.metadata.name ?? '' };
}

const pools = Array.from({ length: POOLS }, (_, pool) => pool);
const machines = Array.from({ length: MACHINES_OF_A_POOL }, (_, machine) => machine);
const facts = factsOfObjects(
  pools.flatMap((pool) => [
    network(pool),
    ipPool(pool),
    ...machines.flatMap((machine) => [networkConfig(pool, machine), virtualMachine(pool, machine)]),
  ]),
);

/** By what is decided; each is given the number of a pool. */
const decisions: Readonly<Record<string, (pool: number) => unknown>> = {
  'defaults of an IPPool': (pool) => defaultIpPool(request(ipPool(pool, { serverIP: '', pool: {} })), facts),
  'a second IPPool of a network': (pool) => reviewIpPool(request(ipPool(pool, {}, 'new')), facts),
  'a change of an IPPool': (pool) => reviewIpPool(request(ipPool(pool, { dns: ['1.1.1.1'] }), ipPool(pool)), facts),
  'the deletion of an IPPool': (pool) => reviewIpPool(request(undefined, ipPool(pool)), facts),
  'a config with a pinned address': (pool) =>
    reviewNetworkConfig(request(networkConfig(pool, MACHINES_OF_A_POOL, `${subnet(pool)}.50`)), facts),
  'a virtual machine that pins an address': (pool) =>
    reviewVirtualMachine(request(virtualMachine(pool, 3, `${subnet(pool)}.50`), virtualMachine(pool, 3)), facts),
};

process.stdout.write('| decision | p50 ms | p99 ms | a second, one core |\n| --- | --- | --- | --- |\n');
for (const [name, decide] of Object.entries(decisions)) {
  for (let round = 0; round < DECISIONS; round++) decide(round % POOLS);
  const times = Array.from({ length: DECISIONS }, (_, round) => {
    const begin = performance.now();
    decide(round % POOLS);
    return performance.now() - begin;
  }).toSorted((one, other) => one - other);
  const sum = times.reduce((total, one) => total + one, 0);
  const [p50, p99] = [times[DECISIONS / 2] ?? 0, times[DECISIONS * 0.99] ?? 0];
  const perSecond = Math.round((DECISIONS * 1_000) / sum).toLocaleString('en');
  process.stdout.write(`| ${name} | ${p50.toFixed(3)} | ${p99.toFixed(3)} | ${perSecond} |\n`);
}

if (globalThis.gc !== undefined) {
  globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  for (let round = 0; round < 100_000; round++) decisions['a change of an IPPool']?.(round % POOLS);
  globalThis.gc();
  const grown = (process.memoryUsage().heapUsed - before) / 1_024;
  process.stdout.write(`\nheap after 100,000 more decisions: ${Math.max(0, grown).toFixed(0)} KiB larger\n`);
}
