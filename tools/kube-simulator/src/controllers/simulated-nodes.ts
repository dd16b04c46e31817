/**
 * The Nodes that the simulator itself runs: each a Node object with a stand-in kubelet behind it. They outlive a restart of the API
 * server, and so do their processes.
 */
import type { ApiClient } from '../api/api-client.js';
import type { JsonObject } from '../api-object.js';
import { isConflict, isMissing } from './api-outcome.js';
import { Kubelet } from './kubelet.js';
import type { BackOff } from './pod-run.js';
import type { RunPod } from './run-pod.js';
import { updateObject } from './update-object.js';
import { type Condition, type Node, type Pod, type StringMap, type Taint, toTime } from './workload-kinds.js';

export interface NodeDescription {
  readonly name: string;
  readonly labels?: StringMap;
  readonly taints?: readonly Taint[];
  /** Address of the Node and of its Pods with `hostNetwork`; by default, nothing answers at it. */
  readonly address?: string;
}

export interface SimulatedNodesOptions {
  readonly onError: (error: unknown) => void;
  readonly runPod: RunPod;
  readonly backOff?: BackOff;
  /** A Node counts as lost after this time without a report from its kubelet. */
  readonly monitorGraceMs: number;
}

interface SimulatedNode {
  readonly kubelet: Kubelet;
  readonly address: string;
  /** Neither cut off nor without power. */
  isUp: boolean;
  timer?: NodeJS.Timeout;
}

const nodeKind = { resource: 'nodes' };

export class SimulatedNodes {
  readonly #options: SimulatedNodesOptions;
  readonly #nodes = new Map<string, SimulatedNode>();
  #client: ApiClient | undefined;
  #onFirstNode: () => void = () => undefined;
  #lastPod = 1;

  constructor(options: SimulatedNodesOptions) {
    this.#options = options;
  }

  /** The API server has (re)started. Calls `onFirstNode` as soon as there is a Node. */
  async attach(api: ApiClient, onFirstNode: () => void): Promise<void> {
    this.#client = api;
    this.#onFirstNode = onFirstNode;
    if (this.#nodes.size > 0) onFirstNode();
    for (const [name, node] of this.#nodes) if (node.isUp) await this.#connect(name, node);
  }

  /** The API server stops. */
  detach(): void {
    for (const { kubelet } of this.#nodes.values()) kubelet.disconnect();
    this.#client = undefined;
  }

  get names(): readonly string[] {
    return [...this.#nodes.keys()];
  }

  /** Adds a Node that runs Pods. A Node that is in the cluster already (after a restart) is taken over. */
  async add(description: NodeDescription): Promise<void> {
    const { name } = description;
    if (this.#nodes.has(name)) throw new Error(`node ${name} exists already; give another name`);
    // Out of a range for documentation.
    const { address = `192.0.2.${this.#nodes.size + 1}` } = description;
    await this.#createNode(description);
    const { runPod, backOff, onError } = this.#options;
    const addresses = ({ spec }: Pod) => ({ hostIp: address, podIp: spec.hostNetwork ? address : this.#nextPodAddress() });
    const kubelet = new Kubelet({
      api: () => this.#api,
      nodeName: name,
      runPod,
      addresses,
      onError,
      ...(backOff ? { backOff } : {}),
    });
    const node = { kubelet, address, isUp: true };
    this.#nodes.set(name, node);
    if (this.#nodes.size === 1) this.#onFirstNode();
    await this.#connect(name, node);
  }

  get #api(): ApiClient {
    if (this.#client === undefined) throw new Error('the API server is not running; start it before its nodes change');
    return this.#client;
  }

  async #connect(name: string, node: SimulatedNode): Promise<void> {
    clearTimeout(node.timer);
    await this.#report(name, readyCondition);
    node.kubelet.connect();
  }

  /** Disconnects the Node from the API; its processes continue. */
  disconnect(name: string): void {
    const node = this.#find(name);
    node.kubelet.disconnect();
    this.#expectLoss(node, name);
  }

  /** Powers the Node off: its processes end at once, without any report. Resolves when they have ended. */
  async powerOff(name: string): Promise<void> {
    const node = this.#find(name);
    this.#expectLoss(node, name);
    await node.kubelet.kill();
  }

  /** Brings back a Node that was cut off or without power. */
  async reconnect(name: string): Promise<void> {
    const node = this.#find(name);
    node.isUp = true;
    await this.#connect(name, node);
  }

  /** Removes the Node from the cluster with everything that it runs. */
  async remove(name: string): Promise<void> {
    const node = this.#find(name);
    clearTimeout(node.timer);
    this.#nodes.delete(name);
    await node.kubelet.kill();
    await this.#api.delete({ ...nodeKind, name }).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  }

  /** Ends all processes at once; the Node objects stay. Resolves when they have ended. */
  async stop(): Promise<void> {
    const nodes = [...this.#nodes.values()];
    this.#nodes.clear();
    for (const { timer } of nodes) clearTimeout(timer);
    await Promise.all(nodes.map(({ kubelet }) => kubelet.kill()));
  }

  #find(name: string): SimulatedNode {
    const node = this.#nodes.get(name);
    if (node === undefined) throw new Error(`no node ${name}; there are: ${this.names.join(', ') || 'none'}`);
    return node;
  }

  #expectLoss(node: SimulatedNode, name: string): void {
    node.isUp = false;
    clearTimeout(node.timer);
    node.timer = setTimeout(() => {
      this.#report(name, lostCondition).catch(this.#options.onError);
    }, this.#options.monitorGraceMs);
    node.timer.unref();
  }

  async #createNode({ name, labels, taints }: NodeDescription): Promise<void> {
    const own = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };
    const spec = taints === undefined ? {} : { spec: { taints } };
    try {
      await this.#api.create(nodeKind, { metadata: { name, labels: { ...own, ...labels } }, ...spec });
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }

  async #report(name: string, ready: ReadyStatement): Promise<void> {
    const { address } = this.#find(name);
    await updateObject<Node>(this.#api, { ...nodeKind, name, subresource: 'status' }, (live) => {
      return {
        ...live,
        status: { ...live.status, ...capacityOf(live), ...aboutNode(name, address), conditions: withReady(live, ready) },
      };
    });
  }

  /** From a range for documentation: nothing answers there. */
  #nextPodAddress(): string {
    this.#lastPod += 1;
    return `198.18.${(this.#lastPod >> 8) & 255}.${this.#lastPod & 255}`;
  }
}

type ReadyStatement = Pick<Condition, 'status'> & { readonly reason: string; readonly message: string };

const readyCondition: ReadyStatement = { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' };
const lostCondition: ReadyStatement = {
  status: 'Unknown',
  reason: 'NodeStatusUnknown',
  message: 'Kubelet stopped posting node status.',
};

const withReady = (node: Node, { status, reason, message }: ReadyStatement): readonly Condition[] => {
  const before = node.status?.conditions ?? [];
  const current = before.find(({ type }) => type === 'Ready');
  const now = toTime(new Date());
  const lastTransitionTime = current?.status === status ? (current.lastTransitionTime ?? now) : now;
  const lastHeartbeatTime = status === 'True' ? now : (current?.['lastHeartbeatTime'] ?? now);
  return [
    ...before.filter(({ type }) => type !== 'Ready'),
    { type: 'Ready', status, lastHeartbeatTime, lastTransitionTime, reason, message },
  ];
};

const resources = { cpu: '8', memory: '16Gi', pods: '110' };
/** Keeps what others added, as a real kubelet does. */
const capacityOf = ({ status }: Node): JsonObject => ({
  capacity: { ...status?.capacity, ...resources },
  allocatable: { ...status?.allocatable, ...resources },
});

const aboutNode = (name: string, address: string): JsonObject => ({
  addresses: [
    { type: 'InternalIP', address },
    { type: 'Hostname', address: name },
  ],
  nodeInfo: {
    machineID: name,
    systemUUID: name,
    bootID: name,
    kernelVersion: 'simulated',
    osImage: 'simulated',
    containerRuntimeVersion: 'simulator://1',
    kubeletVersion: 'v1.36.2',
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: 'amd64',
  },
});
