/** Virtual machines get addresses and keep them, an agent dies, another one serves, a wrong pool is refused. */
import { join } from 'node:path';
import { type KubernetesObject, readConditions, readField, readList, readText } from '@vmdhcp/kube-runtime';
import {
  acquire,
  CLUSTER_EXAMPLES,
  type ClientName,
  endDhclient,
  ipPool,
  isInstalled,
  LabCluster,
  type Machine,
  type RealProgram,
  readYaml,
  runAgent,
  unifiedAgents,
  virtualMachine,
  waitFor,
} from '@vmdhcp/lab';
import { type AgentTopology, UNIFIED_GROUP } from '@vmdhcp/reconciler';
import colors from 'picocolors';
import type { LiveView } from './live-view.js';
import { parseLogLine } from './log-record.js';
import type { Stage, Story } from './story.js';

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

/** The story in a cluster with this topology. */
export function addressStory(topology: AgentTopology): Story {
  return async (stage) => {
    const { lab, view } = stage;
    const { group, meaning } = TOPOLOGIES[topology];
    view.step(`A cluster: API server (simulated) and controller; --topology ${topology}: ${meaning}`);
    for (const network of Object.values(NETWORKS)) lab.addNetwork(network);
    const machines = new Map(
      MACHINES.map(({ name, network, macAddress }) => [name, lab.addMachine(name, { network, macAddress })]),
    );
    const cluster = await LabCluster.start(lab, { networks: NETWORKS, onLine: (who, line) => showLine(stage, who, line) });
    stage.atEnd(() => cluster.stop());
    await cluster.startController('--agent-topology', topology);
    const story = new AddressStory({ view, cluster, machines, group });
    if (topology === 'unified') await story.apply(unifiedAgents());
    await story.play();
  };
}

interface AddressStoryParts {
  readonly view: LiveView;
  readonly cluster: LabCluster;
  /** By their names in `MACHINES`. */
  readonly machines: ReadonlyMap<string, Machine>;
  /** Of the agents of the first pool. */
  readonly group: string;
}

class AddressStory {
  readonly #view: LiveView;
  readonly #cluster: LabCluster;
  readonly #machines: ReadonlyMap<string, Machine>;
  readonly #group: string;

  constructor({ view, cluster, machines, group }: AddressStoryParts) {
    this.#view = view;
    this.#cluster = cluster;
    this.#machines = machines;
    this.#group = group;
  }

  async play(): Promise<void> {
    await this.apply(readYaml(join(CLUSTER_EXAMPLES, 'pools.yaml')));

    this.#view.step('Virtual machines are created: kubectl apply -f examples/cluster/virtual-machines.yaml');
    this.#view.table('MACHINE', 'NETWORK', 'CLIENT', 'ADDRESS', '');
    for (const { name, network, client } of MACHINES) {
      this.#view.set(name, { NETWORK: network, CLIENT: isInstalled(client) ? client : 'vmdhcp-agent probe', ADDRESS: '-' });
    }
    await this.apply(readYaml(join(CLUSTER_EXAMPLES, 'virtual-machines.yaml')));
    for (const { metadata, status } of await allocated(this.#cluster, ['web', 'database', 'gateway'])) {
      const addresses = readList(status, 'networkConfigs').map((entry) => readText(entry, 'allocatedIPAddress'));
      this.#view.line(`${metadata.name}: ${addresses.join(', ')}`);
    }
    this.#view.line(colors.dim('waiting until the agents are rolled out with the networks of both pools'));
    for (const pool of ['net-48', 'net-49']) await this.#cluster.agentReady(`default/${pool}`);

    this.#view.step('The virtual machines boot and request their addresses');
    for (const machine of MACHINES) await this.#ask(machine.name, machine.client);

    await this.#recreate();
    // It starts while the other agent takes over, which is a time of waiting.
    const starting = this.#cluster.startWebhook();
    await this.#failOver();
    await (await starting).registered();
    await this.#refuse();
    await this.#exhaust();
    await this.#showTable();
  }

  async #recreate(): Promise<void> {
    this.#view.step('A virtual machine is deleted and created again: it keeps its address');
    await this.#cluster.access.delete('VirtualMachine', 'default/web');
    const [web] = readYaml(join(CLUSTER_EXAMPLES, 'virtual-machines.yaml'));
    const { metadata } = await this.#cluster.access.create(web as KubernetesObject);
    // The VirtualMachineNetworkConfig of the deleted machine may still be there.
    await this.#cluster.access.waitForObject(
      'VirtualMachineNetworkConfig',
      'default/web',
      (config) => isAllocated(config) && config.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) === true,
    );
    await this.#ask('web', 'udhcpc');
  }

  async #failOver(): Promise<void> {
    this.#view.step('The leader is killed (SIGKILL): the other agent takes over');
    const leader = await waitFor('a leader', () => this.#cluster.leader(this.#group));
    leader.process?.kill('SIGKILL');
    const killedAtMs = performance.now();
    this.#view.line(`${colors.red('killed')} ${leader.name}`);
    await waitFor('an answer', async () => (await probe(this.#machine('web'))) !== undefined, 15_000);
    const gapMs = performance.now() - killedAtMs;
    const next = await waitFor('another leader', () => this.#cluster.leader(this.#group));
    this.#view.line(`${colors.green('serving again')} after ${(gapMs / 1000).toFixed(1)} s: ${next.name}`);
  }

  async #refuse(): Promise<void> {
    this.#view.step('An IPPool with two mistakes is refused before it does harm: kubectl apply');
    const wrong = { cidr: '192.168.48.0/24', exclude: '192.168.49.7' };
    const key = 'default/net-50';
    this.#view.line(`IPPool ${key}: networkName default/vlan-48, cidr ${wrong.cidr}, exclude ${wrong.exclude}`);
    const object = ipPool(key, {
      network: 'default/vlan-48',
      ipv4Config: { cidr: wrong.cidr, serverIP: undefined, pool: { exclude: [wrong.exclude] } },
    });
    const result = await this.#cluster.access.client('IPPool').create(object);
    if (result.ok) throw new Error(`IPPool ${key} was accepted; look at the lines of the webhook above`);
    const [, reasons = result.message] = result.message.split('denied the request: ', 2);
    for (const reason of reasons.split('\n')) this.#view.line(`${colors.red('refused')} ${reason}`);
  }

  async #exhaust(): Promise<void> {
    this.#view.step('A pool of two addresses, and a third virtual machine: kubectl describe vm late-2');
    for (const name of ['late-1', 'late-2']) {
      await this.#cluster.access.create(virtualMachine(`default/${name}`, `02:00:5e:00:49:1${name.at(-1)}`, 'default/vlan-49'));
    }
    const event = await waitFor('an Event', async () => {
      const events = await this.#cluster.access.list('Event');
      return events.find(
        (one) => readText(one, 'involvedObject', 'kind') === 'VirtualMachine' && readText(one, 'reason') === 'PoolExhausted',
      );
    });
    this.#view.line(`${colors.yellow(`${readText(event, 'type')} ${readText(event, 'reason')}`)} ${readText(event, 'message')}`);
  }

  async #showTable(): Promise<void> {
    this.#view.step('The state of the cluster: kubectl get deployments,ippools,vmnetcfg');
    for (const { metadata, status } of await this.#cluster.access.list('Deployment')) {
      this.#view.line(`${metadata.name.padEnd(27)} ${Number(readField(status, 'readyReplicas') ?? 0)} agents ready`);
    }
    for (const { metadata, spec, status } of await this.#cluster.access.list('IPPool')) {
      const state = readConditions(status)
        .filter(({ status: is }) => is === 'True')
        .map(({ type }) => type);
      const [used, available] = ['used', 'available'].map((name) => readField(status, 'ipv4', name));
      this.#view.line(
        `${metadata.name.padEnd(10)} ${String(readText(spec, 'networkName')).padEnd(16)} used ${used}, available ${available}   ${state.join(' ')}   served by ${readText(status, 'servedBy') ?? 'no agent'}`,
      );
    }
    for (const { metadata, status } of await this.#cluster.access.list('VirtualMachineNetworkConfig')) {
      const entries = readList(status, 'networkConfigs').map(
        (entry) => `${readText(entry, 'macAddress')} ${readText(entry, 'allocatedIPAddress') ?? '-'}`,
      );
      const state = readConditions(status).find(({ type }) => type === 'Allocated');
      this.#view.line(
        `${metadata.name.padEnd(10)} ${entries.join(', ')}   Allocated=${state?.status}${state?.reason ? ` (${state.reason})` : ''}`,
      );
    }
  }

  async apply(objects: readonly KubernetesObject[]): Promise<void> {
    await this.#cluster.access.applyAll(objects, (object) => this.#view.line(describeCreated(object)));
  }

  async #ask(name: string, client: RealProgram & ClientName): Promise<void> {
    const machine = this.#machine(name);
    const startedAt = performance.now();
    const address = isInstalled(client) ? await askReal(client, machine) : await probe(machine);
    const tookMs = Math.round(performance.now() - startedAt);
    this.#view.set(name, { ADDRESS: address ?? 'none', '': `after ${tookMs} ms` });
  }

  #machine(name: string): Machine {
    return this.#machines.get(name) as Machine;
  }
}

/** The log of the controller and the agents, for people. */
function showLine({ view, isClosing }: Stage, who: string, line: string): void {
  if (isClosing()) return;
  const record = parseLogLine(line);
  if (record === undefined) {
    view.line(colors.dim(`${who}: ${line}`));
    return;
  }
  const { msg, event, mac, address, level } = record;
  const machine = MACHINES.find(({ macAddress }) => macAddress === mac)?.name ?? mac;
  if (event !== undefined) view.line(`${colors.green(shortName(who))}: ${event} ${machine} ${address ?? ''}`);
  else if (level !== 'debug') view.line(colors.dim(`${shortName(who)}: ${msg}`));
}

function describeCreated({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name} created`;
}

function allocated(inCluster: LabCluster, names: readonly string[]): Promise<KubernetesObject[]> {
  return Promise.all(
    names.map((name) => inCluster.access.waitForObject('VirtualMachineNetworkConfig', `default/${name}`, isAllocated)),
  );
}

function isAllocated({ status }: KubernetesObject): boolean {
  return readConditions(status).some(({ type, status: is }) => type === 'Allocated' && is === 'True');
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

/** `agent vx4kp` of `vm-dhcp-controller-agent-5d8f9c-vx4kp`. */
function shortName(who: string): string {
  return who === 'controller' || who === 'webhook' ? who : `agent ${who.split('-').at(-1)}`;
}
