/** Everything together: an API server, nodes, networks, the product that runs on them, machines and their guests. */

import { toWebhookConfigurations } from '@vmdhcp/admission/webhook';
import {
  ipPoolResource,
  NETWORK_RESOURCE_ANNOTATION,
  toCustomResourceDefinition,
  virtualMachineNetworkConfigResource,
  wolConfigResource,
} from '@vmdhcp/ippool-api';
import { clusterAgentResource, leaseSliceResource } from '@vmdhcp/ippool-api/bare-metal';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { type Random, randomFrom } from '@vmdhcp/kube-runtime/testing';
import {
  type CallWebhook,
  createFrontProxy,
  type JsonObject,
  type KubeSimulator,
  type Pod,
  type PodProcess,
  startKubeSimulator,
} from '@vmdhcp/kube-simulator';
import {
  CLUSTER_EXAMPLES,
  installedFor,
  installedForWakeOnLan,
  ipPool,
  networkAttachment,
  readYaml,
  unifiedAgents,
} from '@vmdhcp/lab';
import { AGENT_TOPOLOGIES, type AgentTopology } from '@vmdhcp/reconciler';
import type { ApiLink, Loss } from '../api/transport.js';
import { type Captured, type CapturedDhcpv6, Segment } from '../network/segment.js';
import type { PlantedFault } from '../planted-faults.js';
import { RACK_OBJECT, Rack } from '../rack/rack.js';
import { Scheduler } from '../time/scheduler.js';
import { liveIn } from '../time/virtual-process.js';
import { WakeAgentPod } from '../wake/wake-agent-pod.js';
import type { AgentPod } from './agent-pod.js';
import { AGENT_NAMESPACE, CONTROLLER_NAMESPACE, type ControllerRun } from './controller-run.js';
import { Machines, NAMESPACE, WAKE_LABELS } from './machines.js';
import { ipv6ConfigOf, markNode, type NodeMark, type PoolOfWorld, poolConfig, someMark } from './pool-of-world.js';
import { OWN_PROGRAMS, type Programs } from './programs.js';
import type { Surroundings } from './surroundings.js';
import { WEBHOOK, type WebhookRun } from './webhook-run.js';

const NODES = ['node-1', 'node-2', 'node-3'];
const WAKE_AGENT_APP = 'wol-agent';
const TOKEN_MS = 12 * 3_600_000;
const FOREIGN_DEFINITIONS = readYaml(`${CLUSTER_EXAMPLES}crds.yaml`);
const MANIFESTS = installedFor('controller');
const MANIFESTS_OF_WAKE_ON_LAN = installedForWakeOnLan();
const MANIFESTS_OF_WEBHOOK = installedFor('webhook').filter(({ kind }) => kind !== 'Namespace');
const REGISTRATION = toWebhookConfigurations({
  ...{ name: WEBHOOK, namespace: CONTROLLER_NAMESPACE, trusted: undefined, injectFrom: undefined },
  ...{ wakeOnLan: false, bareMetal: false },
});
const DEFINITIONS = [ipPoolResource, virtualMachineNetworkConfigResource, wolConfigResource].map((one) =>
  toCustomResourceDefinition(one),
);
const WOL_CONFIG = {
  apiVersion: 'wol.pillon.org/v1beta1',
  kind: 'WolConfig',
  metadata: { name: 'world' },
  spec: { discoveryMode: 'LabelSelector', vmSelector: { matchLabels: WAKE_LABELS } },
};
const UNIFIED = unifiedAgents();
/** Longer than an API server waits for webhooks, one after the other. */
const MOST_WAIT_MS = 120_000;
/** Created before any world begins, because it takes real time. */
const FRONT_PROXY = await createFrontProxy();

/** The initial state of a world. */
export interface WorldSettings {
  readonly seed: number;
  /** Addresses of each pool. */
  readonly poolSizes: readonly number[];
  readonly hasWakeOnLan: boolean;
  /** True for bare-metal hosts with agents of a ClusterAgent. */
  readonly hasRack: boolean;
  /** Where its agents keep leases: a disk that both can reach, or LeaseSlices. */
  readonly rackLeases: 'disk' | 'api';
  /** True for a cluster without Harvester, where each network is on some nodes, marked by resources or labels. */
  readonly isPlain: boolean;
  /** True if pools may have IPv6, and guests ask for it. */
  readonly hasIpv6: boolean;
  readonly fault: PlantedFault | undefined;
  /** The programs of another version: half of those that start are its. */
  readonly beside?: Programs | undefined;
}

/** A request to KubeVirt to start a virtual machine. */
export interface StartRequest {
  readonly name: string;
  /** False if KubeVirt refused it. */
  readonly isTaken: boolean;
}

/** A magic packet that at least one agent heard. */
export interface MagicPacketSent {
  readonly macAddress: string;
  /** The virtual machine that has the address. */
  readonly name: string;
}

/** The faults of the links to the API server. */
export interface ApiWeather {
  readonly mostLatencyMs: number;
  readonly mostWatchLagMs: number;
  /** In a thousand. */
  readonly lossPerMille: number;
  /** Events in a thousand that make their watch hang. */
  readonly hangsPerMille: number;
}

export const FAIR: ApiWeather = { mostLatencyMs: 8, mostWatchLagMs: 10, lossPerMille: 0, hangsPerMille: 0 };

export class World {
  readonly scheduler = new Scheduler();
  readonly random: Random;
  readonly nodes = NODES;
  readonly segments = new Map<string, Segment>();
  readonly pools: PoolOfWorld[] = [];
  readonly pods: AgentPod[] = [];
  readonly #wakeAgents: WakeAgentPod[] = [];
  readonly hasWakeOnLan: boolean;
  readonly isPlain: boolean;
  readonly hasIpv6: boolean;
  /** Undefined without bare-metal hosts. */
  rack: Rack | undefined;
  weather = FAIR;
  /** When a watch hung last. */
  lastHangMs = Number.NEGATIVE_INFINITY;
  /** Nodes that cannot reach the API server. */
  readonly cutNodes = new Set<string>();
  topology: AgentTopology = 'per-network';
  readonly #onApiStart: (() => void)[] = [];
  onCaptured: (captured: Captured) => void = () => undefined;
  onCapturedDhcpv6: (captured: CapturedDhcpv6) => void = () => undefined;
  onStartRequest: (request: StartRequest) => void = () => undefined;
  onMagicPacket: (packet: MagicPacketSent) => void = () => undefined;
  /** The webhook refused a valid change. */
  onDenied: (act: string, message: string) => void = () => undefined;
  /** Somebody tried to create a second pool on a network. */
  onSecondPool: (network: string, isAccepted: boolean) => void = () => undefined;
  /** How many programs of another version were started. */
  besideCount = 0;
  readonly #fault: PlantedFault | undefined;
  /** Called for each program that starts. */
  readonly #programs: () => Programs;
  #simulator: KubeSimulator | undefined;
  #machines: Machines | undefined;
  readonly #controllers = new Map<number, ControllerRun>();
  readonly #webhooks = new Map<number, WebhookRun>();

  private constructor({ seed, fault, hasWakeOnLan, isPlain, hasIpv6, beside = OWN_PROGRAMS }: WorldSettings) {
    this.random = randomFrom(seed);
    // A generator of its own keeps the story of a seed the same without another version.
    const version = randomFrom(seed);
    this.#programs = () => {
      if (version(2) === 0) return OWN_PROGRAMS;
      if (beside !== OWN_PROGRAMS) this.besideCount++;
      return beside;
    };
    this.#fault = fault;
    this.hasWakeOnLan = hasWakeOnLan;
    this.isPlain = isPlain;
    this.hasIpv6 = hasIpv6;
  }

  /** A cluster with these pools, in which nothing runs yet. */
  static async create(settings: WorldSettings): Promise<World> {
    const world = new World(settings);
    liveIn(world.scheduler, world.random);
    await world.#furnish(settings);
    return world;
  }

  get simulator(): KubeSimulator {
    if (this.#simulator === undefined) throw new Error('the world has no API server yet');
    return this.#simulator;
  }

  get machines(): Machines {
    if (this.#machines === undefined) throw new Error('the world has no machines yet');
    return this.#machines;
  }

  /** The Deployment of topology unified, which a chart installed, says nothing about nodes. */
  get topologies(): readonly AgentTopology[] {
    return this.isPlain ? ['per-network', 'per-pool'] : AGENT_TOPOLOGIES;
  }

  get controllers(): readonly ControllerRun[] {
    return [...this.#controllers.values()];
  }

  get webhooks(): readonly WebhookRun[] {
    return [...this.#webhooks.values()];
  }

  get livePods(): readonly AgentPod[] {
    return this.pods.filter(({ hasEnded }) => !hasEnded);
  }

  /** Agents for Wake-on-LAN. */
  get wakeAgents(): readonly WakeAgentPod[] {
    return this.#wakeAgents.filter(({ hasEnded }) => !hasEnded);
  }

  /** Starts replicas of the controller, after those that run are killed. */
  startControllers(topology: AgentTopology): void {
    for (const one of this.controllers) one.kill();
    this.topology = topology;
    for (const index of [0, 1]) this.#startController(index);
  }

  /** Kills a replica, and restarts its container. */
  restartController(index: number, afterMs: number): void {
    this.#controllers.get(index)?.kill();
    this.scheduler.after(afterMs, () => this.#startController(index));
  }

  /** Kills a replica of the webhook, and restarts its container. */
  restartWebhook(index: number, afterMs: number): void {
    this.#webhooks.get(index)?.kill();
    this.scheduler.after(afterMs, () => this.#startWebhook(index));
  }

  async restartApi(): Promise<void> {
    await this.simulator.restart();
    for (const begin of this.#onApiStart) begin();
  }

  /** Starts now, and again after each restart of the API server, because watches in this process end with it. */
  whileApiRuns(begin: () => void): void {
    this.#onApiStart.push(begin);
    begin();
  }

  /** Sends a magic packet for a virtual machine, which not every node receives. @returns how many agents heard it. */
  sendMagicPacket(name: string, macAddress: string): number {
    const hearing = this.wakeAgents.filter(({ process }) => !process.isFrozen);
    const sure = hearing[this.random(Math.max(1, hearing.length))];
    const heardBy = hearing.filter((agent) => agent === sure || this.random(2) === 0);
    for (const agent of heardBy) agent.hear(macAddress, '10.9.9.9');
    if (heardBy.length > 0) this.onMagicPacket({ name, macAddress });
    return heardBy.length;
  }

  /** Lets this much time pass. */
  async pass(ms: number): Promise<void> {
    await this.scheduler.pass(ms);
  }

  /** Waits for an operation that takes time in the world. */
  async during<Outcome>(doing: Promise<Outcome>): Promise<Outcome> {
    let isDone = false;
    const noted = doing.finally(() => {
      isDone = true;
    });
    noted.catch(() => undefined);
    for (let waitedMs = 0; !isDone; waitedMs++) {
      if (waitedMs > MOST_WAIT_MS) throw new Error(`the world waited for ${MOST_WAIT_MS} ms in vain`);
      await this.pass(1);
    }
    return await noted;
  }

  async stop(): Promise<void> {
    for (const one of [...this.controllers, ...this.webhooks]) one.kill();
    for (const pod of this.livePods) pod.stop(0);
    this.rack?.stop();
  }

  #startController(index: number): void {
    // A run that ended by itself may have been restarted meanwhile.
    this.#controllers.get(index)?.kill();
    const { ControllerRun } = this.#programs();
    const run = new ControllerRun({
      ...this.#surroundings(),
      node: NODES[index % NODES.length] as string,
      topology: this.topology,
      maxPoolsPerAgent: 24,
    });
    this.#controllers.set(index, run);
    run.onEnded(() => {
      if (this.#controllers.get(index) === run) this.#startController(index);
    });
  }

  #startWebhook(index: number): void {
    this.#webhooks.get(index)?.kill();
    const { WebhookRun } = this.#programs();
    this.#webhooks.set(index, new WebhookRun({ ...this.#surroundings(), node: NODES[index % NODES.length] as string }));
  }

  /** Asks one of the replicas that are ready, like the Service of the webhook. */
  readonly #callWebhook: CallWebhook = async ({ url, path }, review, timeoutMs) => {
    const ready = this.webhooks.filter(({ isReady, node }) => isReady && !this.cutNodes.has(node));
    const chosen = ready[this.random(Math.max(1, ready.length))];
    if (chosen === undefined) return { kind: 'failed', problem: `Post "${url}": connect: connection refused` };
    const late = this.scheduler.sleep(timeoutMs).then(() => ({ kind: 'failed', problem: `Post "${url}": deadline` }) as const);
    return await Promise.race([chosen.answer(path, review), late]);
  };

  async #furnish({ poolSizes: sizes, hasRack, rackLeases }: WorldSettings): Promise<void> {
    const started = startKubeSimulator({
      port: 'none',
      tls: false,
      adminToken: 'admin',
      frontProxy: FRONT_PROXY,
      nodes: NODES.map((name) => ({ name, labels: { 'network.harvesterhci.io/mgmt': 'true' } })),
      runPod: (pod) => this.#runPod(pod),
      callWebhook: this.#callWebhook,
      services: { [`${CONTROLLER_NAMESPACE}/${WEBHOOK}`]: { host: WEBHOOK, port: 443 } },
      onControllerError: () => undefined,
    });
    this.#simulator = await this.during(started);
    const manifests = this.hasWakeOnLan ? MANIFESTS_OF_WAKE_ON_LAN : MANIFESTS;
    const objects = [
      ...FOREIGN_DEFINITIONS,
      ...manifests,
      ...MANIFESTS_OF_WEBHOOK,
      ...DEFINITIONS,
      ...UNIFIED.filter(({ kind }) => kind !== 'Deployment'),
    ];
    for (const object of objects) await this.during(this.#create(object as unknown as KubernetesObject));
    for (const index of [0, 1]) this.#startWebhook(index);
    await this.pass(5_000);
    for (const object of REGISTRATION) await this.during(this.#create(object));
    if (this.hasWakeOnLan) await this.during(this.#create(WOL_CONFIG));
    for (const [index, size] of sizes.entries()) await this.#addPool(index, size);
    this.#machines = new Machines({
      ...this,
      simulator: this.#simulator,
      onStartRequest: (name, isTaken) => this.onStartRequest({ name, isTaken }),
    });
    if (hasRack) await this.#addRack(rackLeases === 'disk');
  }

  #runPod(pod: Pod): PodProcess {
    const { AgentPod } = this.#programs();
    const isWakeAgent = pod.metadata.labels?.['app'] === WAKE_AGENT_APP;
    const made = isWakeAgent ? new WakeAgentPod(pod, this.#surroundings()) : new AgentPod(pod, this.#surroundings());
    if (made instanceof WakeAgentPod) this.#wakeAgents.push(made);
    else this.pods.push(made);
    return made;
  }

  /** `…/namespaces/default/virtualmachines/NAME/start` */
  async #subresource(path: string): Promise<{ readonly status: number; readonly message: string }> {
    const [name = '', verb] = path.split('/').slice(-2);
    if (verb !== 'start') return { status: 404, message: `no subresource ${verb}` };
    return await this.machines.requestStart(name);
  }

  async #addRack(hasDisk: boolean): Promise<void> {
    for (const resource of hasDisk ? [clusterAgentResource] : [clusterAgentResource, leaseSliceResource])
      await this.during(this.#create(toCustomResourceDefinition(resource) as unknown as KubernetesObject));
    await this.pass(1_000);
    await this.during(this.#create(RACK_OBJECT));
    const surroundings = { ...this.#surroundings(), namespace: AGENT_NAMESPACE };
    this.rack = new Rack(surroundings, hasDisk, (captured) => this.onCaptured(captured));
    this.rack.start(NODES);
  }

  async #addPool(index: number, size: number): Promise<void> {
    const name = `net-${index}`;
    const key = `${NAMESPACE}/${name}`;
    const serverIP = `10.0.${index}.2`;
    const missing = this.isPlain ? this.nodes[this.random(this.nodes.length)] : undefined;
    const nodes = this.nodes.filter((node) => node !== missing);
    const mark: NodeMark = this.isPlain ? someMark(name, this.random) : {};
    const spec: JsonObject = {
      ...(mark.labels !== undefined && { agentNodeSelector: mark.labels }),
      ...(this.hasIpv6 && this.random(3) > 0 && { ipv6Config: ipv6ConfigOf(index, this.random) }),
    };
    const areNodesKnown = missing === undefined || mark.resource !== undefined || mark.labels !== undefined;
    this.pools.push({ name, key, serverIP, size, nodes, areNodesKnown, spec });
    this.segments.set(
      key,
      new Segment({
        scheduler: this.scheduler,
        random: this.random,
        name: key,
        relay: { address: `10.0.${index}.1`, server: serverIP },
        onCaptured: (captured) => this.onCaptured(captured),
        onCapturedDhcpv6: (captured) => this.onCapturedDhcpv6(captured),
        onIpv6Wire: this.#fault?.ipv6Wire,
        onWire: (octets, server) => (this.#fault?.wire === undefined ? octets : this.#fault.wire(octets, server)),
      }),
    );
    await this.during(this.#create(this.#networkOf({ name, key }, mark)));
    for (const node of nodes) await this.during(markNode(this.simulator, node, mark));
    await this.during(this.#create(ipPool(key, { ipv4Config: poolConfig(index, size), spec })));
  }

  #networkOf({ name, key }: Pick<PoolOfWorld, 'name' | 'key'>, mark: NodeMark): KubernetesObject {
    if (!this.isPlain) return networkAttachment(key, 'mgmt');
    const network = networkAttachment(key, undefined);
    const annotations = mark.resource === undefined ? {} : { [NETWORK_RESOURCE_ANNOTATION]: mark.resource };
    const config = JSON.stringify({ type: 'bridge', bridge: name });
    return { ...network, metadata: { ...network.metadata, annotations }, spec: { config } };
  }

  async #create(object: KubernetesObject): Promise<void> {
    const { apiVersion = '', kind = '', metadata } = object;
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion];
    const resource = pluralOf(kind);
    const path = {
      group: group ?? '',
      version: version ?? '',
      resource,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    };
    await this.simulator.client.create(path, object as unknown as JsonObject);
  }

  #surroundings(): Surroundings {
    return {
      scheduler: this.scheduler,
      random: this.random,
      simulator: this.simulator,
      segments: this.segments,
      segmentAt: (node, network) => this.#segmentAt(node, network),
      linkOf: (node) => this.#linkOf(node),
      tokenOf: (namespace, name) => this.#tokenOf(namespace, name),
      fault: this.#fault,
      hasWakeOnLan: this.hasWakeOnLan,
      subresource: (path) => this.#subresource(path),
      managers: () => this.controllers.flatMap(({ wakeManager }) => wakeManager ?? []),
    };
  }

  /** The network of a pod on this node. */
  #segmentAt(node: string, network: string): Segment | undefined {
    const segment = this.segments.get(network);
    const isThere = this.pools.some(({ key, nodes }) => key === network && nodes.includes(node));
    if (segment === undefined || isThere) return segment;
    const { scheduler, random } = this;
    const name = `an empty bridge on ${node}`;
    const relay = { address: '10.255.0.1', server: '10.255.0.2' };
    return new Segment({ scheduler, random, name, relay, onCaptured: () => undefined, onWire: (octets) => octets });
  }

  #linkOf(node: string): ApiLink {
    const some = (most: number) => (this.random(1_000) / 1_000) * most;
    return {
      isCut: () => this.cutNodes.has(node),
      latencyMs: () => 0.5 + some(this.weather.mostLatencyMs),
      watchLagMs: () => 0.5 + some(this.weather.mostWatchLagMs),
      hangs: () => {
        const hangs = this.weather.hangsPerMille > 0 && this.random(1_000) < this.weather.hangsPerMille;
        if (hangs) this.lastHangMs = this.scheduler.nowMs();
        return hangs;
      },
      loss: (): Loss => {
        if (this.random(1_000) >= this.weather.lossPerMille) return 'none';
        return this.random(2) === 0 ? 'request' : 'answer';
      },
    };
  }

  #tokenOf(namespace: string, name: string): () => string {
    let token = '';
    let untilMs = Number.NEGATIVE_INFINITY;
    return () => {
      if (this.scheduler.nowMs() < untilMs) return token;
      try {
        token = this.simulator.serviceAccountToken(namespace, name);
        untilMs = this.scheduler.nowMs() + TOKEN_MS;
      } catch {
        // It no longer exists: the process keeps its last token.
      }
      return token;
    };
  }

  /** The chart's Deployment of topology unified. */
  async installUnifiedAgents(): Promise<void> {
    for (const object of UNIFIED.filter(({ kind }) => kind === 'Deployment')) await this.during(this.#create(object));
  }
}

function pluralOf(kind: string): string {
  const name = kind.toLowerCase();
  if (name === 'networkattachmentdefinition') return 'network-attachment-definitions';
  if (name.endsWith('y')) return `${name.slice(0, -1)}ies`;
  return `${name}s`;
}
