/** npm run bench -- why: how long `kubectl vmdhcp why` takes as a process, and how many requests it makes, in a cluster of many pools and virtual machines. */
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toCustomResourceDefinition } from '@vmdhcp/ippool-api';
import { AUDIT_LABEL } from '@vmdhcp/ippool-api/agent';
import { bareMetalResources } from '@vmdhcp/ippool-api/bare-metal';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { CLUSTER_EXAMPLES, ClusterAccess, CONTROLLER_BIN, ipPool, PLUGIN_BIN, virtualMachine } from '@vmdhcp/lab';
import { AUDIT_SLOT_NAMES, AUDIT_STATE_NAME, formatAuditState } from '@vmdhcp/reconciler/audit';
import { Command } from 'commander';
import { markdown } from './tables.js';

const options = new Command('npm run bench -- why')
  .description('Measures kubectl vmdhcp why in a simulated cluster, from the start of the process to its end.')
  .option('--pools <n>', 'IPPools, each with a network', '1000')
  .option('--machines <n>', 'virtual machines, spread over the pools', '10000')
  .option('--rounds <n>', 'times that each question is asked', '7')
  .option('--records <n>', 'assignments that have ended, in the records', '28000')
  .option('--hosts <n>', 'bare-metal hosts of one ClusterAgent, 200 at most', '200')
  .addHelpText('after', '\nExample:\n  npm run bench -- why --pools 100 --machines 1000\n')
  .parse()
  .opts<{
    readonly pools: string;
    readonly machines: string;
    readonly rounds: string;
    readonly records: string;
    readonly hosts: string;
  }>();

const SIMULATOR = fileURLToPath(new URL('large-simulator.js', import.meta.url));
const AT_A_TIME = 32;
const CONDITIONS = ['CacheReady', 'Registered', 'AgentReady'].map((type) => ({ type, status: 'True' }));
const LEASE = 'vm-dhcp-agent-1';
const AGENTS = 'vm-dhcp-agents';
const BMC = 'bmc.spidernet.io/v1beta1';
/** A virtual machine whose guest operating system reports nothing: the leader is asked what it saw of it. */
const SILENT = 1;

const [pools, machines, rounds] = [options.pools, options.machines, options.rounds].map(Number) as [number, number, number];
const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-bench-why-'));
const kubeconfig = join(folder, 'kubeconfig');
const simulator = fork(SIMULATOR, [kubeconfig]);
try {
  await message(simulator);
  const access = await ClusterAccess.open(kubeconfig);
  await fill(access);
  access.close();
  process.stdout.write(`\n${measureAll()}\n`);
} finally {
  simulator.kill('SIGKILL');
  rmSync(folder, { recursive: true });
}

async function message(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', () => reject(new Error('the simulated API server has ended')));
  });
}

function networkOf(machine: number): number {
  return machine % pools;
}

function macAddressOf(machine: number): string {
  const octets = [2, 0, 0, (machine >> 16) & 255, (machine >> 8) & 255, machine & 255];
  return octets.map((octet) => octet.toString(16).padStart(2, '0')).join(':');
}

/** Each pool has a subnet of its own. */
function addressIn(pool: number, last: number): string {
  return `10.${pool >> 8}.${pool & 255}.${last}`;
}

function addressOf(machine: number): string {
  return addressIn(networkOf(machine), 10 + Math.floor(machine / pools));
}

/** As a controller and agents leave it, without them. */
async function fill(access: ClusterAccess): Promise<void> {
  await access.applyFile(join(CLUSTER_EXAMPLES, 'crds.yaml'));
  spawnSync(process.execPath, [CONTROLLER_BIN, 'crds', '--apply', '--kubeconfig', kubeconfig], { stdio: 'inherit' });
  for (const one of bareMetalResources) await access.create(toCustomResourceDefinition(one) as unknown as KubernetesObject);
  await access.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: AGENTS } });
  for (const one of [lease(LEASE), { ...lease('agent-rack-1'), metadata: { namespace: AGENTS, name: 'agent-rack-1' } }])
    await access.create(one);
  await addHosts(access);
  await addRecords(access);
  await each(pools, (pool) => addPool(access, pool));
  await each(machines, (machine) => addMachine(access, machine));
  await access.client('VirtualMachineInstance').patch({ key: `default/vm-${SILENT}` }, { status: { interfaces: null } });
  await addLeader(access);
}

/** A pod that the leader of the agents may be asked in. */
async function addLeader(access: ClusterAccess): Promise<void> {
  const metadata = { namespace: 'default', name: 'agent-1' };
  const spec = { nodeName: 'node-1', containers: [{ name: 'agent', image: 'agent' }] };
  await access.create({ apiVersion: 'v1', kind: 'Pod', metadata, spec } as KubernetesObject);
  const status = { name: 'agent', ready: true, restartCount: 0, image: 'agent', imageID: '', state: { running: {} } };
  await access.client('Pod').patchStatus({ key: 'default/agent-1' }, { status: { containerStatuses: [status] } });
}

async function each(count: number, act: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async () => {
    for (let index = next++; index < count; index = next++) await act(index);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
}

async function addPool(access: ClusterAccess, pool: number): Promise<void> {
  const labels = { 'network.harvesterhci.io/ippool-namespace': 'default', 'network.harvesterhci.io/ippool-name': `pool-${pool}` };
  await access.create({
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace: 'default', name: `net-${pool}`, labels },
    spec: { config: '{}' },
  });
  const range = { start: addressIn(pool, 10), end: addressIn(pool, 250) };
  const ipv4Config = { cidr: `${addressIn(pool, 0)}/24`, serverIP: addressIn(pool, 2), pool: range };
  await access.create(ipPool(`default/pool-${pool}`, { network: `default/net-${pool}`, ipv4Config }));
  const own = Array.from({ length: Math.ceil((machines - pool) / pools) }, (_, index) => pool + index * pools);
  const allocated = Object.fromEntries(own.map((machine) => [addressOf(machine), macAddressOf(machine)]));
  const status = {
    ipv4: { allocated, used: own.length, available: 241 - own.length },
    agentDeploymentRef: { namespace: 'default', name: LEASE },
    conditions: CONDITIONS,
  };
  await access.client('IPPool').patchStatus({ key: `default/pool-${pool}` }, { status });
}

async function addMachine(access: ClusterAccess, machine: number): Promise<void> {
  const [name, networkName, macAddress] = [`vm-${machine}`, `default/net-${networkOf(machine)}`, macAddressOf(machine)];
  const object = virtualMachine(`default/${name}`, macAddress, networkName);
  await access.create(object);
  const { spec } = (object.spec as { readonly template: { readonly spec: object } }).template;
  await access.create({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { namespace: 'default', name },
    spec,
    status: {
      phase: 'Running',
      interfaces: [{ name: 'default', mac: macAddress, ipAddress: addressOf(machine), infoSource: 'guest-agent' }],
    },
  });
  await access.create({
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'VirtualMachineNetworkConfig',
    metadata: { namespace: 'default', name },
    spec: { vmName: name, networkConfigs: [{ networkName, macAddress }] },
  });
  const entry = { networkName, macAddress, allocatedIPAddress: addressOf(machine), state: 'Allocated' };
  const status = { networkConfigs: [entry], conditions: [{ type: 'Allocated', status: 'True' }] };
  await access.client('VirtualMachineNetworkConfig').patchStatus({ key: `default/${name}` }, { status });
}

/** As many slots as there are, with records of the first pool. */
async function addRecords(access: ClusterAccess): Promise<void> {
  const labels = { [AUDIT_LABEL]: 'true' };
  const object = (name: string, data: Readonly<Record<string, string>>) =>
    ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: AGENTS, name, labels }, data }) as KubernetesObject;
  const completeUntilMs = Date.now() + 86_400_000;
  await access.create(object(AUDIT_STATE_NAME, { state: formatAuditState({ completeUntilMs, gaps: [] }) }));
  const inSlot = Math.ceil(Number(options.records) / AUDIT_SLOT_NAMES.length);
  await each(AUDIT_SLOT_NAMES.length, async (slot) => {
    const lines = Array.from({ length: inSlot }, (_, index) => recordLine(1 + slot * inSlot + index));
    await access.create(
      object(AUDIT_SLOT_NAMES[slot] ?? '', { '000000000001': ['{"pool":"default/pool-0"}', ...lines].join('\n') }),
    );
  });
}

function recordLine(serial: number): string {
  return JSON.stringify({
    serial,
    address: addressIn(0, 200 + (serial % 50)),
    macAddress: macAddressOf(serial),
    virtualMachine: `default/short-${serial}`,
    uid: `6f1c2a74-7d0e-4f0e-9a51-${String(serial).padStart(12, '0')}`,
    interface: 'default',
    network: 'default/net-0',
    from: '2026-01-01T00:00:00Z',
    began: 'assigned',
    to: new Date(Date.UTC(2026, 1, 1) + serial * 1_000).toISOString().replace('.000Z', 'Z'),
    ended: 'vm-deleted',
  });
}

async function addHosts(access: ClusterAccess): Promise<void> {
  const dhcpServerConfig = {
    dhcpServerInterface: 'net1',
    subnet: '192.168.0.0/24',
    ipRange: '192.168.0.10-192.168.0.250',
    gateway: '192.168.0.1',
    selfIp: '192.168.0.2/24',
  };
  const spec = { agentYaml: { underlayInterface: 'bmc' }, feature: { dhcpServerConfig } };
  await access.create({ apiVersion: BMC, kind: 'ClusterAgent', metadata: { name: 'rack-1' }, spec } as KubernetesObject);
  await each(Number(options.hosts), async (host) => {
    const [name, ipAddr] = [`rack-1-192-168-0-${10 + host}`, `192.168.0.${10 + host}`];
    const labels = { 'bmc.spidernet.io/ipAddr': ipAddr };
    await access.create({ apiVersion: BMC, kind: 'HostStatus', metadata: { name, labels } });
    const basic = { type: 'dhcp', ipAddr, mac: hostMacAddress(host), activeDhcpClient: true, https: true, port: 443 };
    await access.client('HostStatus').patchStatus({ key: name }, { status: { clusterAgent: 'rack-1', healthy: true, basic } });
  });
}

function hostMacAddress(host: number): string {
  return `02:00:5e:00:60:${host.toString(16).padStart(2, '0')}`;
}

function lease(name: string): KubernetesObject {
  const report = Object.fromEntries(
    Array.from({ length: pools }, (_, pool) => [`default/pool-${pool}`, { serving: true, version: '1' }]),
  );
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      namespace: 'default',
      name,
      annotations: { 'network.harvesterhci.io/agent-report': JSON.stringify(report) },
    },
    // The bench outlasts a Lease that no agent renews.
    spec: { holderIdentity: 'agent-1_x', leaseDurationSeconds: 3_600, renewTime: new Date().toISOString().replace('Z', '000Z') },
  };
}

function measureAll(): string {
  const middle = Math.floor(machines / 2);
  const questions = [
    ['a virtual machine', `vm-${middle}`],
    ['a virtual machine without a guest agent: the leader is asked in its pod', `vm-${SILENT}`],
    ['a virtual machine that does not exist', 'vm-none'],
    ['an address', addressOf(middle)],
    ['a MAC address', macAddressOf(machines - 1)],
    ['a free address that others had', addressIn(0, 220)],
    ['the address of a bare-metal host', '192.168.0.50'],
    ['the MAC address of a bare-metal host', hostMacAddress(Number(options.hosts) - 1)],
  ] as const;
  const title = `why: ${pools.toLocaleString('en')} pools, ${machines.toLocaleString('en')} virtual machines`;
  return markdown(
    [title, 'ms: median', 'most', 'requests', 'exit code'],
    questions.map(([what, subject]) => [what, ...measure(subject)]),
  );
}

function measure(subject: string): string[] {
  const asked = Array.from({ length: rounds }, () => ask(subject));
  const times = asked.map(({ ms }) => ms).toSorted((one, other) => one - other);
  const [first] = asked;
  return [times[Math.floor(rounds / 2)], times.at(-1)]
    .map((ms) => (ms ?? 0).toFixed(0))
    .concat([String(first?.requests), String(first?.code)]);
}

function ask(subject: string): { readonly ms: number; readonly requests: number; readonly code: number | null } {
  const begunAtMs = performance.now();
  const words = [PLUGIN_BIN, 'why', subject, '--kubeconfig', kubeconfig, '-o', 'json'];
  const { stdout, status } = spawnSync(process.execPath, words, { encoding: 'utf8', maxBuffer: 1 << 26 });
  const ms = performance.now() - begunAtMs;
  return { ms, requests: (JSON.parse(stdout) as { readonly requests: number }).requests, code: status };
}
