/** `npm run demo -- --topology per-pool`. Runs inside namespaces of its own; nothing of the host is touched, and everything is gone at its end. */
import { join } from 'node:path';
import { type KubernetesObject, readConditions, readField, readList, readText } from '@vmdhcp/kube-runtime';
import {
  acquire,
  CLUSTER_EXAMPLES,
  type ClientName,
  endDhclient,
  ipPool,
  isInstalled,
  Lab,
  LabCluster,
  type Machine,
  type RealProgram,
  readYaml,
  runAgent,
  unifiedAgents,
  virtualMachine,
  waitFor,
} from '@vmdhcp/lab';
import { AGENT_TOPOLOGIES, type AgentTopology, UNIFIED_GROUP } from '@vmdhcp/reconciler';
import { Command, Option } from 'commander';
import colors from 'picocolors';
import { LiveView } from './live-view.js';

/** The virtual machines of `examples/cluster/virtual-machines.yaml`, by interface; one of our own asks where a real client is not installed. */
const MACHINES: readonly {
  readonly name: string;
  readonly virtualMachine: string;
  readonly network: string;
  readonly macAddress: string;
  readonly client: RealProgram & ClientName;
}[] = [
  { name: 'web', virtualMachine: 'web', network: 'br-48', macAddress: '02:00:5e:00:48:01', client: 'udhcpc' },
  { name: 'database', virtualMachine: 'database', network: 'br-48', macAddress: '02:00:5e:00:48:02', client: 'dhclient' },
  { name: 'gateway-front', virtualMachine: 'gateway', network: 'br-48', macAddress: '02:00:5e:00:48:03', client: 'dhcpcd' },
  { name: 'gateway-back', virtualMachine: 'gateway', network: 'br-49', macAddress: '02:00:5e:00:49:03', client: 'udhcpc' },
];
const NETWORKS = { 'default/vlan-48': 'br-48', 'default/vlan-49': 'br-49' };

/** The group of the first pool, and what the topology means for the two pools of the example. */
const TOPOLOGIES: Readonly<Record<AgentTopology, { readonly group: string; readonly meaning: string }>> = {
  'per-network': { group: 'vm-dhcp-agent-mgmt-1', meaning: 'both pools are on one cluster network, so two agents serve both' },
  'per-pool': { group: 'default-net-48-agent', meaning: 'each pool has two agents of its own' },
  unified: { group: UNIFIED_GROUP, meaning: 'a chart installed two agents, which serve all pools' },
};

const { topology } = new Command('npm run demo --')
  .description(
    'A cluster with two pools: virtual machines get addresses, an agent dies, another one serves, a wrong pool is refused.',
  )
  .addOption(new Option('--topology <topology>', 'which pools share agents').choices(AGENT_TOPOLOGIES).default('per-network'))
  .addHelpText('after', '\nExamples:\n  npm run demo\n  npm run demo -- --topology per-pool\n')
  .parse()
  .opts<{ readonly topology: AgentTopology }>();
const { group, meaning } = TOPOLOGIES[topology];
const view = new LiveView();
const lab = new Lab();
let cluster: LabCluster | undefined;
let ending = false;
process.once('SIGINT', () => void end(130));
process.once('SIGTERM', () => void end(143));
try {
  await demo();
  await end(0);
} catch (error) {
  // Ctrl-C ends the machines too: their messages about it are not shown.
  if (!ending) view.line(colors.red(error instanceof Error ? error.message : String(error)));
  await end(1);
}

async function demo(): Promise<void> {
  view.step(`A cluster: API server (simulated) and controller; --topology ${topology}: ${meaning}`);
  for (const network of Object.values(NETWORKS)) lab.addNetwork(network);
  const machines = new Map(
    MACHINES.map(({ name, network, macAddress }) => [name, lab.addMachine(name, { network, macAddress })]),
  );
  cluster = await LabCluster.start(lab, { networks: NETWORKS, onLine: showLine });
  await cluster.startController('--agent-topology', topology);
  if (topology === 'unified') await cluster.access.applyAll(unifiedAgents(), showApplied);
  await apply(cluster, 'pools.yaml');

  view.step('Virtual machines are created: kubectl apply -f examples/cluster/virtual-machines.yaml');
  for (const { name, network, client } of MACHINES) {
    view.set({ machine: name, network, client: isInstalled(client) ? client : 'vmdhcp-agent probe', address: '-', note: '' });
  }
  await apply(cluster, 'virtual-machines.yaml');
  for (const { metadata, status } of await allocated(cluster, ['web', 'database', 'gateway'])) {
    const addresses = readList(status, 'networkConfigs').map((entry) => readText(entry, 'allocatedIPAddress'));
    view.line(`${metadata.name}: ${addresses.join(', ')}`);
  }
  view.line(colors.dim('waiting until the agents are rolled out with the networks of both pools'));
  for (const pool of ['net-48', 'net-49']) await cluster.agentReady(`default/${pool}`);

  view.step('The virtual machines boot and request their addresses');
  for (const machine of MACHINES) await ask(machine.name, machine.client, machines.get(machine.name) as Machine);

  await recreate(cluster, machines.get('web') as Machine);
  // It starts while the other agent takes over, which is a time of waiting.
  const starting = cluster.startWebhook();
  await failOver(cluster, machines.get('web') as Machine);
  await (await starting).registered();
  await refuse(cluster);
  await exhaust(cluster);
  await showTable(cluster);
}

async function recreate(inCluster: LabCluster, machine: Machine): Promise<void> {
  view.step('A virtual machine is deleted and created again: it keeps its address');
  await inCluster.access.delete('VirtualMachine', 'default/web');
  const [web] = readYaml(join(CLUSTER_EXAMPLES, 'virtual-machines.yaml'));
  const { metadata } = await inCluster.access.create(web as KubernetesObject);
  // The VirtualMachineNetworkConfig of the deleted machine may still be there.
  await inCluster.access.waitForObject(
    'VirtualMachineNetworkConfig',
    'default/web',
    (config) => isAllocated(config) && config.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) === true,
  );
  await ask('web', 'udhcpc', machine);
}

async function failOver(inCluster: LabCluster, machine: Machine): Promise<void> {
  view.step('The leader is killed (SIGKILL): the other agent takes over');
  const leader = await waitFor('a leader', () => inCluster.leader(group));
  leader.process?.kill('SIGKILL');
  const killedAtMs = performance.now();
  view.line(`${colors.red('killed')} ${leader.name}`);
  await waitFor('an answer', async () => (await probe(machine)) !== undefined, 15_000);
  const gapMs = performance.now() - killedAtMs;
  const next = await waitFor('another leader', () => inCluster.leader(group));
  view.line(`${colors.green('serving again')} after ${(gapMs / 1000).toFixed(1)} s: ${next.name}`);
}

async function refuse(inCluster: LabCluster): Promise<void> {
  view.step('An IPPool with two mistakes is refused before it does harm: kubectl apply');
  const wrong = { cidr: '192.168.48.0/24', exclude: '192.168.49.7' };
  const key = 'default/net-50';
  view.line(`IPPool ${key}: networkName default/vlan-48, cidr ${wrong.cidr}, exclude ${wrong.exclude}`);
  const object = ipPool(key, {
    network: 'default/vlan-48',
    ipv4Config: { cidr: wrong.cidr, serverIP: undefined, pool: { exclude: [wrong.exclude] } },
  });
  const result = await inCluster.access.client('IPPool').create(object);
  if (result.ok) throw new Error(`IPPool ${key} was accepted; look at the lines of the webhook above`);
  const [, reasons = result.message] = result.message.split('denied the request: ', 2);
  for (const reason of reasons.split('\n')) view.line(`${colors.red('refused')} ${reason}`);
}

async function exhaust(inCluster: LabCluster): Promise<void> {
  view.step('A pool of two addresses, and a third virtual machine: kubectl describe vm late-2');
  for (const name of ['late-1', 'late-2']) {
    await inCluster.access.create(virtualMachine(`default/${name}`, `02:00:5e:00:49:1${name.at(-1)}`, 'default/vlan-49'));
  }
  const event = await waitFor('an Event', async () => {
    const events = await inCluster.access.list('Event');
    return events.find(
      (one) => readText(one, 'involvedObject', 'kind') === 'VirtualMachine' && readText(one, 'reason') === 'PoolExhausted',
    );
  });
  view.line(`${colors.yellow(`${readText(event, 'type')} ${readText(event, 'reason')}`)} ${readText(event, 'message')}`);
}

async function showTable(inCluster: LabCluster): Promise<void> {
  view.step('The state of the cluster: kubectl get deployments,ippools,vmnetcfg');
  for (const { metadata, status } of await inCluster.access.list('Deployment')) {
    view.line(`${metadata.name.padEnd(27)} ${Number(readField(status, 'readyReplicas') ?? 0)} agents ready`);
  }
  for (const { metadata, spec, status } of await inCluster.access.list('IPPool')) {
    const state = readConditions(status)
      .filter(({ status: is }) => is === 'True')
      .map(({ type }) => type);
    const [used, available] = ['used', 'available'].map((name) => readField(status, 'ipv4', name));
    view.line(
      `${metadata.name.padEnd(10)} ${String(readText(spec, 'networkName')).padEnd(16)} used ${used}, available ${available}   ${state.join(' ')}   served by ${readText(status, 'servedBy') ?? 'no agent'}`,
    );
  }
  for (const { metadata, status } of await inCluster.access.list('VirtualMachineNetworkConfig')) {
    const entries = readList(status, 'networkConfigs').map(
      (entry) => `${readText(entry, 'macAddress')} ${readText(entry, 'allocatedIPAddress') ?? '-'}`,
    );
    const state = readConditions(status).find(({ type }) => type === 'Allocated');
    view.line(
      `${metadata.name.padEnd(10)} ${entries.join(', ')}   Allocated=${state?.status}${state?.reason ? ` (${state.reason})` : ''}`,
    );
  }
}

async function apply(inCluster: LabCluster, file: string): Promise<void> {
  await inCluster.access.applyFile(join(CLUSTER_EXAMPLES, file), showApplied);
}

function showApplied({ kind, metadata }: KubernetesObject): void {
  view.line(`${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name} created`);
}

function allocated(inCluster: LabCluster, names: readonly string[]): Promise<KubernetesObject[]> {
  return Promise.all(
    names.map((name) => inCluster.access.waitForObject('VirtualMachineNetworkConfig', `default/${name}`, isAllocated)),
  );
}

function isAllocated({ status }: KubernetesObject): boolean {
  return readConditions(status).some(({ type, status: is }) => type === 'Allocated' && is === 'True');
}

async function ask(name: string, client: RealProgram & ClientName, machine: Machine): Promise<void> {
  const startedAt = performance.now();
  const address = isInstalled(client) ? await askReal(client, machine) : await probe(machine);
  const tookMs = Math.round(performance.now() - startedAt);
  view.update(name, { address: address ?? 'none', note: `after ${tookMs} ms` });
}

async function askReal(client: ClientName, machine: Machine): Promise<string | undefined> {
  const { address } = await acquire(client, machine);
  await endDhclient(machine);
  return address;
}

/** The agent's own probe as a client. */
async function probe(machine: Machine): Promise<string | undefined> {
  const { output } = await runAgent(machine, 'probe', '--interface', 'eth0', '--request', '--json', '--timeout', '0.3');
  const { answers } = JSON.parse(output) as { answers: { type: string; address: string }[] };
  return answers.findLast(({ type }) => type === 'ack')?.address;
}

/** The log of the controller and the agents, for people. */
function showLine(who: string, line: string): void {
  if (ending) return;
  const record = parse(line);
  if (record === undefined) {
    view.line(colors.dim(`${who}: ${line}`));
    return;
  }
  const { msg, event, mac, address, level } = record;
  const machine = MACHINES.find(({ macAddress }) => macAddress === mac)?.name ?? mac;
  if (event !== undefined) view.line(`${colors.green(shortName(who))}: ${event} ${machine} ${address ?? ''}`);
  else if (level !== 'debug') view.line(colors.dim(`${shortName(who)}: ${msg}`));
}

function parse(line: string): Readonly<Record<string, string | undefined>> | undefined {
  try {
    return JSON.parse(line) as Record<string, string>;
  } catch {
    return undefined;
  }
}

/** `agent vx4kp` of `vm-dhcp-controller-agent-5d8f9c-vx4kp`. */
function shortName(who: string): string {
  return who === 'controller' || who === 'webhook' ? who : `agent ${who.split('-').at(-1)}`;
}

async function end(exitCode: number): Promise<void> {
  if (ending) return;
  ending = true;
  view.end();
  await cluster?.stop();
  await lab.dispose();
  process.exit(exitCode);
}
