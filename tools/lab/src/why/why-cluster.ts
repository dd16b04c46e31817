/** A simulated cluster in which situations are made that `kubectl vmdhcp why` explains: what people, agents, kubelets and KubeVirt would write. */
import { PassThrough, Readable } from 'node:stream';
import { type KubernetesObject, readConditions, readField, readText } from '@vmdhcp/kube-runtime';
import { type ExecInPod, idlePod, type Pod, type PodProcess } from '@vmdhcp/kube-simulator';
import { ipPool, networkAttachment } from '../network-and-pool.js';
import { PrivateCluster } from '../private-cluster.js';
import { type MachineInterface, virtualMachineWith } from '../virtual-machine.js';

const PREFIX = 'network.harvesterhci.io';
/** The namespace of the agents. */
export const AGENTS = 'vm-dhcp-agents';
/** Cluster networks of which the agents have trouble of their own. No node has the label of `far`. */
const CLUSTER_NETWORKS = [
  'mgmt',
  'crash',
  'rolling',
  'image',
  'stuck',
  'idle',
  'nosa',
  'conflict',
  'selector',
  'rights',
  'pending',
  'large',
];
/** The cluster networks whose pods never become ready. */
const UNREADY = ['rolling', 'image', 'stuck'];
const LEADER = 'agent';

/** What a leader reports of one pool. */
const MGMT = 'vm-dhcp-agent-mgmt-1';
export type Report = Readonly<Record<string, unknown>>;

export interface PoolSettings {
  /** What differs from a subnet of the pool's own. */
  readonly ipv4Config?: Readonly<Record<string, unknown>>;
  readonly clusterNetwork?: string;
  readonly network?: string;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export class WhyCluster {
  readonly cluster: PrivateCluster;
  readonly #reports = new Map<string, Report>();
  readonly #traffic: Map<string, object>;
  #macAddresses = 0;
  #subnets = 19;

  private constructor(cluster: PrivateCluster, traffic: Map<string, object>) {
    this.cluster = cluster;
    this.#traffic = traffic;
  }

  static async start(): Promise<WhyCluster> {
    const traffic = new Map<string, object>();
    const cluster = await PrivateCluster.start(['controller', 'crds.yaml'], {
      nodes: CLUSTER_NETWORKS.map((name) => ({ name, labels: { [`${PREFIX}/${name}`]: 'true' } })),
      // Pods that crash all the time keep the controller and the API server at work for as long as the tests take.
      podBackOff: { firstMs: 10, longestMs: 2_000 },
      runPod,
      execInPod: printTraffic(traffic),
      onControllerError: warnOfOthers,
    });
    return new WhyCluster(cluster, traffic);
  }

  get admin(): PrivateCluster['admin'] {
    return this.cluster.admin;
  }

  macAddress(): string {
    const number = ++this.#macAddresses;
    return `02:00:00:00:${(number >> 8).toString(16).padStart(2, '0')}:${(number & 255).toString(16).padStart(2, '0')}`;
  }

  /** A network and a pool of this name, with a subnet that no other pool has: `10.N.0.0/16`. @returns the beginning of its addresses: `10.N`. */
  async addPool(name: string, { clusterNetwork = 'mgmt', ...settings }: PoolSettings = {}): Promise<string> {
    await this.addNetwork(name, clusterNetwork);
    return await this.addPoolOnly(`default/${name}`, settings);
  }

  async addNetwork(name: string, clusterNetwork?: string, config = '{}'): Promise<void> {
    await this.admin.create({ ...networkAttachment(`default/${name}`, clusterNetwork), spec: { config } });
  }

  async addPoolOnly(key: string, { ipv4Config = {}, ...settings }: PoolSettings = {}): Promise<string> {
    const start = ipv4Config['cidr'] === undefined ? `10.${++this.#subnets}` : '';
    await this.admin.create(ipPool(key, { ...settings, ipv4Config: { ...subnet(start), ...ipv4Config } }));
    return start;
  }

  /** A virtual machine with an interface on each of these networks. @returns their MAC addresses. */
  async machineOn(
    name: string,
    networks: readonly string[],
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<readonly string[]> {
    const interfaces = networks.map((network, index) => ({
      name: `nic${index}`,
      macAddress: this.macAddress(),
      network: network.includes('/') ? network : `default/${network}`,
    }));
    await this.machineWith(name, interfaces, annotations);
    return interfaces.map(({ macAddress }) => macAddress);
  }

  async machineWith(
    name: string,
    interfaces: readonly MachineInterface[],
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await this.admin.create(virtualMachineWith(`default/${name}`, interfaces, annotations));
  }

  /** A VirtualMachineNetworkConfig that a person wrote. */
  async configWith(name: string, networkConfigs: readonly object[]): Promise<void> {
    await this.admin.create({
      apiVersion: `${PREFIX}/v1alpha1`,
      kind: 'VirtualMachineNetworkConfig',
      metadata: { namespace: 'default', name },
      spec: { vmName: name, networkConfigs },
    } as KubernetesObject);
  }

  /** Waits until the virtual machine has its addresses. */
  async hasAddresses(name: string): Promise<void> {
    await this.admin.waitForObject('VirtualMachineNetworkConfig', `default/${name}`, ({ status }) =>
      readConditions(status).some((one) => one.type === 'Allocated' && one.status === 'True'),
    );
  }

  /** As KubeVirt reports a virtual machine that runs. @param reported - of each of its interfaces. */
  async run(name: string, reported: object): Promise<void> {
    const machine = await this.admin.get('VirtualMachine', `default/${name}`);
    const spec = readField(machine?.spec, 'template', 'spec');
    const interfaces = readField(spec, 'domain', 'devices', 'interfaces') as readonly MachineInterface[];
    await this.admin.create({
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      metadata: { namespace: 'default', name },
      spec,
      status: {
        phase: 'Running',
        phaseTransitionTimestamps: [{ phase: 'Running', phaseTransitionTimestamp: '2026-01-01T00:00:00Z' }],
        interfaces: interfaces.map((one) => ({ name: one.name, mac: one.macAddress, ...reported })),
      },
    } as KubernetesObject);
  }

  /** What the leader of the agents of `mgmt` reports of a pool, from `lead` on. */
  report(pool: string, report: Report): void {
    this.#reports.set(`default/${pool}`, report);
  }

  /** What the leader saw of a client. @param last - received, answer and reason of each of its last packets. */
  saw(macAddress: string, last: readonly (readonly [received: string, answer: string | null, reason?: string])[]): void {
    const packets = last.map(([received, answer, reason = null]) => ({
      received,
      answer,
      reason,
      from: '0.0.0.0',
      atMs: Date.now(),
    }));
    this.#traffic.set(macAddress, {
      mac: macAddress,
      messages: { DISCOVER: packets.length },
      lastAtMs: Date.now(),
      last: packets,
    });
  }

  /** As the leader of a group of agents does, in a pod of its own. Default: those of the cluster network `mgmt`. */
  async lead(group = MGMT): Promise<void> {
    const spec = { containers: [{ name: 'agent', image: 'agent' }] };
    const metadata = { namespace: AGENTS, name: LEADER };
    await this.admin.create({ apiVersion: 'v1', kind: 'Pod', metadata, spec } as KubernetesObject);
    await this.admin.waitForObject('Pod', `${AGENTS}/${LEADER}`, ({ status }) => JSON.stringify(status).includes('"running"'));
    await this.renew(group);
  }

  async renew(group = MGMT): Promise<void> {
    const annotations = {
      [`${PREFIX}/agent-report`]: JSON.stringify(Object.fromEntries(this.#reports)),
      [`${PREFIX}/lease-duration-ms`]: null,
    };
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const lease = { holderIdentity: `${LEADER}_x`, leaseDurationSeconds: 3_600, renewTime };
    const key = `${AGENTS}/${group}`;
    await this.admin.waitForObject('Lease', key, () => true);
    await this.admin.patch('Lease', key, { metadata: { annotations }, spec: lease });
  }

  /** The first pod of the agents of a cluster network. */
  async podOf(clusterNetwork: string): Promise<KubernetesObject> {
    const name = `vm-dhcp-agent-${clusterNetwork}-1`;
    await this.admin.waitForObject('Deployment', `${AGENTS}/${name}`, ({ status }) => Number(readField(status, 'replicas')) > 0);
    const pods = await this.admin.list('Pod');
    const found = pods.find((pod) => readText(pod, 'metadata', 'labels', `${PREFIX}/agent-group`) === name);
    if (found === undefined) throw new Error(`there is no pod of ${name}`);
    return found;
  }

  async patchStatus(kind: string, key: string, status: object): Promise<void> {
    const result = await this.admin.client(kind).patchStatus({ key }, { status });
    if (!result.ok) throw new Error(`${kind} ${key}: ${result.message}`);
  }

  async close(): Promise<void> {
    await this.cluster.close();
  }
}

function subnet(start: string): Readonly<Record<string, unknown>> {
  return {
    cidr: `${start}.0.0/16`,
    serverIP: `${start}.0.2`,
    pool: { start: `${start}.0.10`, end: `${start}.9.0` },
  };
}

/** Agents of the cluster network `crash` end at once. */
function runPod(pod: Pod): PodProcess {
  const text = JSON.stringify([pod.metadata.labels, pod.spec]);
  const isOf = (name: string): boolean => text.includes(`"${PREFIX}/${name}"`) || text.includes(`"${name}"`);
  const ready = new Promise(() => {});
  if (isOf('crash')) return { ready, exited: Promise.resolve(1), stop: () => {} };
  return UNREADY.some(isOf) ? { ...idlePod(pod), ready } : idlePod(pod);
}

/** Pods of `nosa` are not to be created. */
function warnOfOthers(error: unknown): void {
  if (!String(error).includes('vm-dhcp-agent-nosa-1')) process.emitWarning(String(error));
}

/** `vmdhcp-agent clients --json --pool POOL --mac MAC` in a pod. */
function printTraffic(traffic: ReadonlyMap<string, object>): ExecInPod {
  return ({ command }) => {
    const client = traffic.get(command.at(-1) ?? '');
    const printed = { agent: LEADER, sinceMs: Date.now() - 60_000, clients: client === undefined ? [] : [client] };
    const stdout = Readable.from([Buffer.from(JSON.stringify(printed))]);
    return { stdin: new PassThrough(), stdout, stderr: Readable.from([]), exited: Promise.resolve(0), kill: () => undefined };
  };
}
