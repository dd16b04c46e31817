/** A simulated cluster for wake-ups: nodes with real agents on one network, two real controllers behind mutual TLS, and the stand-in for KubeVirt. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import {
  AGENT_BIN,
  API_HOST,
  CONTROLLER_BIN,
  type ContainerOfPod,
  freePort,
  KubeVirt,
  Lab,
  LabCluster,
  type LabProcess,
  MANAGEMENT_NETWORK,
  type Machine,
  type NodePod,
  startInPod,
  waitFor,
} from '@vmdhcp/lab';
import { FrameSocket } from '@vmdhcp/linux-sockets';
import { ETHERTYPE_WAKE_ON_LAN, encodeMagicPacket } from '@vmdhcp/wake-on-lan';

const NAMESPACE = 'vm-dhcp-system';
const NETWORK = 'br-lan';
const BROADCAST = '192.168.77.255';
const UDP_PORT = 9;
const OTHER_ADDRESS = '10.99.253.2';
/** What the container of an agent may do, and no more. */
const RIGHTS = ['--bounding-set=-all,+net_raw,+net_bind_service', '--inh-caps=-all'];
/** A controller that was killed is replaced after five seconds; in less, one that waits for a processor loses its leadership. */
const ELECTION = {
  CATTLE_ELECTION_LEASE_DURATION: '5s',
  CATTLE_ELECTION_RENEW_DEADLINE: '4s',
  CATTLE_ELECTION_RETRY_PERIOD: '500ms',
};
/** Ten agents and a controller start at once, on two processors that other programs may use. */
const START_MS = 180_000;
const FOR_EVER_MS = 2 ** 31 - 1;

export interface SleepingMachine {
  /** `namespace/name`. */
  readonly key: string;
  readonly mac: string;
}

export interface Controller {
  readonly process: LabProcess;
  /** The URL of its status server. */
  readonly url: string;
}

export type ControllerPlace = 'first' | 'other';
export type Way = 'udp' | 'frame';

export class WakeNodes {
  readonly kubevirt: KubeVirt;
  readonly machines: readonly SleepingMachine[];
  readonly #lab: Lab;
  readonly #controllers = new Set<Controller>();
  #isKept = false;
  readonly #cluster: LabCluster;
  readonly #hosts: Readonly<Record<ControllerPlace, { readonly place: Pick<Machine, 'start'>; readonly address: string }>>;
  readonly #udp = createSocket('udp4');
  readonly #frames = new FrameSocket({ interfaceName: NETWORK, etherType: ETHERTYPE_WAKE_ON_LAN });

  /** Makes the nodes, and machines that sleep; starts no controller. */
  static async start(nodes: number, machines: number): Promise<WakeNodes> {
    const lab = new Lab();
    lab.addNetwork(NETWORK, '192.168.77.1/24');
    const names = Array.from({ length: nodes }, (_, index) => `node-${index + 1}`);
    const cluster = await LabCluster.start(lab, {
      networks: {},
      nodes: names,
      nodeCards: { eth1: NETWORK },
      hosts: { [`vmdhcp-wake-on-lan.${NAMESPACE}.svc`]: API_HOST },
      startContainer: startAgent,
    });
    for (const [index, name] of names.entries())
      cluster.nodes.get(name)?.machine.ip('address', 'add', `192.168.77.${index + 2}/24`, 'dev', 'eth1');
    const kubevirt = await KubeVirt.start(cluster.simulator);
    const other = await lab.createMachine('manager-2', {
      network: MANAGEMENT_NETWORK,
      macAddress: '02:00:00:99:ff:02',
      address: `${OTHER_ADDRESS}/16`,
      interfaces: new Map(),
    });
    const sleeping = await Promise.all(Array.from({ length: machines }, (_, index) => addMachine(cluster, kubevirt, index)));
    const made = new WakeNodes({ lab, cluster, kubevirt }, other, sleeping);
    made.#udp.bind(0);
    await once(made.#udp, 'listening');
    made.#udp.setBroadcast(true);
    return made;
  }

  private constructor(
    { lab, cluster, kubevirt }: { readonly lab: Lab; readonly cluster: LabCluster; readonly kubevirt: KubeVirt },
    other: Machine,
    machines: readonly SleepingMachine[],
  ) {
    this.#lab = lab;
    this.#cluster = cluster;
    this.kubevirt = kubevirt;
    this.machines = machines;
    this.#hosts = { first: { place: lab, address: API_HOST }, other: { place: other, address: OTHER_ADDRESS } };
  }

  /** Agents that run. */
  get agents(): readonly NodePod[] {
    return [...this.#cluster.nodePods.values()];
  }

  /** Starts a controller; without Wake-on-LAN it is ready then. The address that agents have leads to `first`. */
  async startController(where: ControllerPlace, { wakeOnLan = true } = {}): Promise<Controller> {
    const { place, address } = this.#hosts[where];
    const http = `${address}:${await freePort()}`;
    const flags = ['--kubeconfig', this.#cluster.kubeconfigPath, '--no-agent', '--image', 'vmdhcp-agent:lab'];
    const parameters = ['run', ...flags, '--namespace', NAMESPACE, '--http', http, ...(wakeOnLan ? ['--wake-on-lan'] : [])];
    const started = place.start(process.execPath, [CONTROLLER_BIN, ...parameters], {
      env: { ...ELECTION, POD_IP: address, POD_NAMESPACE: NAMESPACE },
    });
    const url = `http://${http}`;
    const controller = { process: started, url };
    this.#controllers.add(controller);
    void started.ended(FOR_EVER_MS).then(() => this.#controllers.delete(controller));
    if (!wakeOnLan) await waitFor('a controller', () => isReady(url, started), START_MS);
    return controller;
  }

  /** Starts a controller, and another one as soon as it has ended, as a kubelet does. */
  async keepController(where: ControllerPlace): Promise<void> {
    this.#isKept = true;
    while (this.#isKept) {
      const { process: started } = await this.startController(where);
      await started.ended(FOR_EVER_MS);
    }
  }

  /** Kills all controllers; none is started again. */
  async killControllers(): Promise<void> {
    this.#isKept = false;
    for (const { process: started } of this.#controllers) started.kill('SIGKILL');
    await waitFor('the end of the controllers', () => this.#controllers.size === 0);
  }

  /** The controller that decides, once there is one. @param former - another one than this. */
  async leader(former?: Controller): Promise<Controller> {
    const leads = (one: Controller) =>
      one !== former && one.process.lines.some((line) => line.includes('deciding about wake-ups'));
    return await waitFor('a controller that leads', () => [...this.#controllers].find(leads), START_MS);
  }

  /** All machines may be woken from now on. Resolves when each of so many agents has all of them in its list. */
  async addConfig(agents: number): Promise<void> {
    await this.#cluster.access.create({
      apiVersion: 'wol.pillon.org/v1beta1',
      kind: 'WolConfig',
      metadata: { name: 'office' },
      spec: { discoveryMode: 'All', namespaceSelectors: ['default'], wolPorts: [UDP_PORT] },
    } as KubernetesObject);
    await this.untilListed(agents);
  }

  async untilListed(agents: number): Promise<void> {
    const isListed = async () => {
      const lists = await Promise.all(this.agents.map((agent) => sumAt(urlOf(agent), 'vmdhcp_agent_wol_listed')));
      return lists.length === agents && lists.every((length) => length === this.machines.length);
    };
    await waitFor(`${agents} agents with a list of ${this.machines.length}`, isListed, START_MS);
  }

  /** Wake-ups of all agents whose report has ended, and those that still wait. */
  async reports(): Promise<{ readonly ended: number; readonly waiting: number }> {
    const sum = async (name: string) =>
      (await Promise.all(this.agents.map((agent) => sumAt(urlOf(agent), name)))).reduce((all, one) => all + one, 0);
    return { ended: await sum('vmdhcp_agent_wol_reports_total'), waiting: await sum('vmdhcp_agent_wol_waiting') };
  }

  /** Sends one broadcast to all nodes. @returns when, in milliseconds since 1970. */
  async wake({ mac }: SleepingMachine, way: Way): Promise<number> {
    const packet = encodeMagicPacket({ macAddress: mac });
    const sentAtMs = performance.timeOrigin + performance.now();
    if (way === 'frame') this.#frames.send(packet);
    else await new Promise((resolve) => this.#udp.send(packet, UDP_PORT, BROADCAST, resolve));
    return sentAtMs;
  }

  async stop(): Promise<void> {
    this.#isKept = false;
    this.#udp.close();
    this.#frames.close();
    await this.kubevirt.stop();
    await this.#cluster.stop();
    await this.#lab.dispose();
  }
}

/** The sum of a metric over all its labels; NaN while the program does not listen. */
async function sumAt(url: string, name: string): Promise<number> {
  const text = await fetch(`${url}/metrics`).then(
    (page) => page.text(),
    () => undefined,
  );
  if (text === undefined) return Number.NaN;
  const values = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** The first port of status servers of agents. */
const urlOf = ({ node }: NodePod): string => `http://${node.address}:18420`;

function startAgent(container: ContainerOfPod): LabProcess {
  return startInPod(container, ['setpriv', ...RIGHTS, process.execPath, AGENT_BIN, ...container.args]);
}

async function isReady(url: string, started: LabProcess): Promise<boolean> {
  if (started.hasEnded) throw new Error(started.lines.join('\n'));
  return await fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function addMachine(cluster: LabCluster, kubevirt: KubeVirt, index: number): Promise<SleepingMachine> {
  const octets = [index >> 8, index & 0xff].map((octet) => octet.toString(16).padStart(2, '0'));
  const [name, mac] = [`vm-${index + 1}`, `02:00:5e:00:${octets.join(':')}`];
  const devices = { interfaces: [{ name: 'default', macAddress: mac, bridge: {} }] };
  const template = { spec: { domain: { devices }, networks: [{ name: 'default', pod: {} }] } };
  await cluster.access.create({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace: 'default', name },
    spec: { runStrategy: 'Manual', template },
  } as KubernetesObject);
  const key = `default/${name}`;
  await kubevirt.untilStatus(key, 'Stopped');
  return { key, mac };
}
