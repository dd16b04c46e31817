/** Virtual machines get addresses and keep them, an agent dies, another one serves, a wrong pool is refused. */
import { join } from 'node:path';
import { type KubernetesObject, readConditions, readList, readText } from '@vmdhcp/kube-runtime';
import {
  AGENT_NAMESPACE,
  CLUSTER_EXAMPLES,
  type ClientName,
  ipPool,
  isInstalled,
  KubectlPlugin,
  LabCluster,
  type LabPod,
  type Machine,
  type RealProgram,
  readYaml,
  unifiedAgents,
  virtualMachine,
  waitFor,
} from '@vmdhcp/lab';
import { type AgentTopology, UNIFIED_GROUP } from '@vmdhcp/reconciler';
import colors from 'picocolors';
import { askForAddress } from './ask-for-address.js';
import type { LiveView } from './live-view.js';
import { showLogLine } from './show-log-line.js';
import { addressesOf, showState } from './show-state.js';
import type { Story } from './story.js';
import { MACHINES } from './story-machines.js';

const NETWORKS = { 'default/vlan-48': 'br-48', 'default/vlan-49': 'br-49' };

/** What the topology means for the two pools of the example. */
const TOPOLOGIES: Readonly<Record<AgentTopology, string>> = {
  'per-network': 'both pools are on one cluster network, so two agents serve both',
  'per-pool': 'each pool has two agents of its own',
  unified: 'a chart installed two agents, which serve all pools',
};

/** Where networks and machines come from. */
export type Platform = 'harvester' | 'kubevirt';

const MACHINES_OF: Readonly<Record<Platform, string>> = { harvester: 'virtual-machines.yaml', kubevirt: 'plain-kubevirt.yaml' };

const UNIFIED_DEPLOYMENT = 'vm-dhcp-controller-agent';
const TAKE_OVER_TIMEOUT_MS = 60_000;

const NEXT_STEPS = `
What to try next:
  README.md, "In a cluster"              the same in your cluster: one command, two files
  docs/first-pool.md                     the first pool of your own, field by field
  npx vmdhcp-agent check FILE            what a file of pools means, and every mistake in it: examples/two-networks.yaml
  npm run demo -- --wake-on-lan          magic packets start virtual machines
  npm run demo -- --hosts                bare-metal hosts get addresses and power actions`;

/** The story in a cluster of this platform, with this topology. */
export function addressStory(topology: AgentTopology, platform: Platform): Story {
  return async (stage) => {
    const { lab, view } = stage;
    view.step('A cluster: API server (simulated), vmdhcp-controller run, two networks, and an IPPool for each of them');
    explain(view, 'the controller defines the kinds, becomes leader, and gives each pool its DHCP agents');
    if (platform === 'harvester') explain(view, `--topology ${topology}: ${TOPOLOGIES[topology]}`);
    else explain(view, '--kubevirt: no object of Harvester; agents run where bridge-marker found the bridge of the network');
    for (const network of Object.values(NETWORKS)) lab.addNetwork(network);
    const machines = new Map(
      MACHINES.map(({ name, network, macAddress }) => [name, lab.addMachine(name, { network, macAddress })]),
    );
    const cluster = await LabCluster.start(lab, { networks: NETWORKS, onLine: (who, line) => showLogLine(stage, who, line) });
    stage.atEnd(() => cluster.stop());
    view.line('the API server answers; the controller starts');
    await cluster.startController('--agent-topology', topology);
    view.line(`${colors.green('ready')}: the controller is leader`);
    if (platform === 'kubevirt') await markBridges(cluster);
    const story = new AddressStory({ view, cluster, machines, platform });
    if (topology === 'unified') await story.apply(unifiedAgents());
    await story.play();
    view.end();
    view.plain(NEXT_STEPS);
  };
}

interface AddressStoryParts {
  readonly view: LiveView;
  readonly cluster: LabCluster;
  /** By their names in `MACHINES`. */
  readonly machines: ReadonlyMap<string, Machine>;
  readonly platform: Platform;
}

class AddressStory {
  readonly #view: LiveView;
  readonly #cluster: LabCluster;
  readonly #machines: ReadonlyMap<string, Machine>;
  /** Networks of plain KubeVirt, and the virtual machines of either platform. */
  readonly #objects: { readonly file: string; readonly networks: KubernetesObject[]; readonly machines: KubernetesObject[] };
  /** What each machine got. */
  readonly #addresses = new Map<string, string>();

  constructor({ view, cluster, machines, platform }: AddressStoryParts) {
    this.#view = view;
    this.#cluster = cluster;
    this.#machines = machines;
    const file = MACHINES_OF[platform];
    const objects = readYaml(join(CLUSTER_EXAMPLES, file));
    const isMachine = ({ kind }: KubernetesObject) => kind === 'VirtualMachine';
    this.#objects = { file, networks: objects.filter((one) => !isMachine(one)), machines: objects.filter(isMachine) };
  }

  async play(): Promise<void> {
    const { networks } = this.#objects;
    const pools = readYaml(join(CLUSTER_EXAMPLES, 'pools.yaml'));
    await this.apply(networks.length === 0 ? pools : [...networks, ...pools.filter(({ kind }) => kind === 'IPPool')]);
    await this.#create();
    // It starts while clients wait for their replies.
    const starting = this.#cluster.startWebhook();
    await this.#boot();
    this.#explain(
      'meanwhile vmdhcp-controller webhook starts: it issues its certificate, and registers itself at the API server',
    );
    await (await starting).registered();
    this.#view.line(`${colors.green('ready')}: the webhook`);
    await this.#recreate();
    await this.#failOver();
    await this.#refuse();
    await this.#exhaust();
    this.#view.step('The state of the cluster: kubectl get deployments,ippools,vmnetcfg');
    await showState(this.#view, this.#cluster.access);
  }

  async #create(): Promise<void> {
    this.#view.step(`Virtual machines are created: kubectl apply -f examples/cluster/${this.#objects.file}`);
    this.#explain('each interface has its address before the machine boots: the controller records it in the IPPool');
    this.#view.table('MACHINE', 'NETWORK', 'CLIENT', 'ADDRESS', '');
    for (const { name, network, client } of MACHINES) {
      this.#view.set(name, { NETWORK: network, CLIENT: isInstalled(client) ? client : 'vmdhcp-agent probe', ADDRESS: '-' });
    }
    const createdAtMs = performance.now();
    await this.apply(this.#objects.machines);
    const configs = await allocated(this.#cluster, ['web', 'database', 'gateway']);
    this.#measure(`all have their addresses ${secondsSince(createdAtMs)} s after the first one was created`, 'within a second');
    for (const { metadata, status } of configs) {
      const addresses = readList(status, 'networkConfigs').flatMap(addressesOf);
      this.#view.line(`${metadata.name}: ${addresses.join(', ')}`);
    }
    this.#explain(
      'meanwhile Kubernetes starts the agents; one of them becomes leader and has the server addresses, the other stands by',
    );
    for (const pool of ['net-48', 'net-49']) await this.#cluster.agentReady(`default/${pool}`);
    const leader = await this.#leader();
    this.#view.line(`${colors.green('ready')}: ${leader.name} is leader`);
  }

  async #boot(): Promise<void> {
    this.#view.step('The virtual machines boot: real DHCP clients ask for addresses');
    this.#explain('an agent acknowledges what is recorded, and nothing else; unknown clients get no reply');
    for (const machine of MACHINES) await this.#ask(machine.name, machine.client);
  }

  async #recreate(): Promise<void> {
    this.#view.step('Virtual machine web is deleted and created again');
    this.#explain('an address belongs to a MAC address: the new machine has the same one, and so it keeps the address');
    await this.#cluster.access.delete('VirtualMachine', 'default/web');
    const [web] = this.#objects.machines;
    const { metadata } = await this.#cluster.access.create(web as KubernetesObject);
    // The VirtualMachineNetworkConfig of the deleted machine may still be there.
    await this.#cluster.access.waitForObject(
      'VirtualMachineNetworkConfig',
      'default/web',
      (config) => isAllocated(config) && config.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) === true,
    );
    await this.#ask('web', 'udhcpc');
    this.#view.line(`web has ${this.#addresses.get('web')} again`);
  }

  async #failOver(): Promise<void> {
    this.#view.step('The leader is killed (SIGKILL) while web asks for its address');
    this.#explain(
      'the standby answers a client that asks again without a reply, and is leader when the Lease of the dead one ends',
    );
    this.#explain('Kubernetes starts the dead agent again: it is the standby then');
    const leader = await this.#leader();
    const holder = await this.#holder();
    leader.process?.kill('SIGKILL');
    const killedAtMs = performance.now();
    const seconds = () => secondsSince(killedAtMs);
    this.#view.line(`${colors.red('killed')} ${leader.name}`);
    const hasAnotherLeader = async () => (await this.#holder()) !== holder;
    const [, taken] = await Promise.all([
      this.#ask('web', 'udhcpc').then(() =>
        this.#view.line(`${colors.green('measured')}: web has its reply ${seconds()} s after the kill`),
      ),
      waitFor('another leader', hasAnotherLeader, TAKE_OVER_TIMEOUT_MS).then(seconds),
    ]);
    const { name } = await this.#leader();
    this.#measure(`${name} is leader, with the server addresses, ${taken} s after the kill`, 'within three seconds');
  }

  async #refuse(): Promise<void> {
    this.#view.step('An IPPool with two mistakes: kubectl apply');
    this.#explain('the webhook, vmdhcp-controller webhook, refuses it before it does harm, with every mistake and what to do');
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
    this.#view.step('A pool of two addresses gets a third client: kubectl vmdhcp why late-2');
    this.#explain(
      'no machine loses its address; the one without an address has an Event, and the plugin of kubectl shows where its way ends',
    );
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
    const plugin = new KubectlPlugin({ hasColour: colors.isColorSupported });
    const { stdout } = await plugin.run(this.#cluster.kubeconfigPath, ['why', 'late-2']).finally(() => plugin.close());
    for (const line of stdout.trimEnd().split('\n')) this.#view.plain(`          ${line}`);
  }

  async apply(objects: readonly KubernetesObject[]): Promise<void> {
    await this.#cluster.access.applyAll(objects, (object) => this.#view.line(describeCreated(object)));
  }

  async #ask(name: string, client: RealProgram & ClientName): Promise<void> {
    const machine = this.#machine(name);
    const before = this.#addresses.get(name);
    const startedAt = performance.now();
    const address = await askForAddress(client, machine);
    const tookMs = Math.round(performance.now() - startedAt);
    if (address === undefined || (before ?? address) !== address)
      throw new Error(`${name} had ${before ?? 'no address'}, and has ${address ?? 'none'} now`);
    this.#addresses.set(name, address);
    this.#view.set(name, { ADDRESS: address, '': `after ${tookMs} ms` });
  }

  #leader(): Promise<LabPod> {
    return waitFor('a leader', async () => this.#cluster.leader(await this.#group()), TAKE_OVER_TIMEOUT_MS);
  }

  /** The agents of the first pool; a Deployment that a chart installed has another name than its group. */
  async #group(): Promise<string> {
    const { status } = (await this.#cluster.access.get('IPPool', 'default/net-48')) ?? {};
    const deployment = readText(status, 'agentDeploymentRef', 'name') ?? '';
    return deployment === UNIFIED_DEPLOYMENT ? UNIFIED_GROUP : deployment;
  }

  /** A run of an agent: another one of the same pod is not the same. */
  async #holder(): Promise<string | undefined> {
    const lease = await this.#cluster.access.get('Lease', `${AGENT_NAMESPACE}/${await this.#group()}`);
    return readText(lease?.spec, 'holderIdentity') || undefined;
  }

  #explain(text: string): void {
    explain(this.#view, text);
  }

  /** @param promised - what README.md states, for a machine that has time. */
  #measure(text: string, promised: string): void {
    this.#view.line(`${colors.green('measured')}: ${text}`);
    this.#explain(`README.md: ${promised}; a busy machine needs longer`);
  }

  #machine(name: string): Machine {
    return this.#machines.get(name) as Machine;
  }
}

/** As bridge-marker does for the bridges of each node. */
async function markBridges({ access }: LabCluster): Promise<void> {
  const resources = Object.fromEntries(Object.values(NETWORKS).map((bridge) => [`bridge.network.kubevirt.io/${bridge}`, '1k']));
  for (const { metadata } of await access.list('Node'))
    await access.client('Node').patchStatus({ key: metadata.name }, { status: { capacity: resources, allocatable: resources } });
}

function secondsSince(startedAtMs: number): string {
  return ((performance.now() - startedAtMs) / 1000).toFixed(1);
}

function explain(view: LiveView, text: string): void {
  view.line(colors.dim(text));
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
