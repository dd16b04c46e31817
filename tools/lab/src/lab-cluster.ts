/** A cluster in a lab: a simulated API server, and pods that are real agents on the networks of the lab. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GROUP } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readConditions } from '@vmdhcp/kube-runtime';
import { type KubeSimulator, type Pod, type PodProcess, startKubeSimulator } from '@vmdhcp/kube-simulator';
import { agentInterfaceName, UNIFIED_GROUP } from '@vmdhcp/reconciler';
import { AdmissionWebhook } from './admission-webhook.js';
import { ClusterAccess } from './cluster-access.js';
import { CLUSTER_EXAMPLES } from './cluster-examples.js';
import { controllerReady } from './controller-readiness.js';
import { type ExecInContainer, execInLabPod } from './exec-in-lab-pod.js';
import { CONTROLLER_NAMESPACE, installedFor } from './installed-objects.js';
import type { InstalledPlace } from './installed-program.js';
import type { Lab } from './lab.js';
import { createLabNode, type LabNode, nodeAddress } from './lab-node.js';
import { LabPod, type PodEnvironment, type StartContainer } from './lab-pod.js';
import type { LabProcess } from './lab-process.js';
import { NodePod } from './node-pod.js';
import { CONTROLLER_BIN } from './programs.js';
import { serviceAccountToken } from './service-account-token.js';

/** The network of the API server, the nodes and the pods. */
export const MANAGEMENT_NETWORK = 'br-mgmt';
/** The address of the API server on this network. */
export const API_HOST = '10.99.255.1';
export const AGENT_NAMESPACE = 'vm-dhcp-agents';
/** Pods of the lab run the agent of this checkout, whatever their image is called. */
export const AGENT_IMAGE = 'vmdhcp-agent:lab';
/** Every node is attached to the cluster network of the examples. */
const NODE_LABELS = { [`${GROUP}/mgmt`]: 'true' };
let lastPort = 18_200;

export interface LabClusterSettings {
  /** `namespace/name` of a NetworkAttachmentDefinition to the network of the lab that it means. */
  readonly networks: Readonly<Record<string, string>>;
  readonly nodes?: readonly string[];
  /** By node: the networks that its pods are attached to instead, as where a bridge is missing, and made empty by the CNI plugin. */
  readonly networksOfNodes?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Network cards of each node besides `eth0`, and the network of the lab of each. With them, pods may have `hostNetwork`. */
  readonly nodeCards?: Readonly<Record<string, string>>;
  /** Names that pods with `hostNetwork` resolve, to addresses: there is no DNS. */
  readonly hosts?: Readonly<Record<string, string>>;
  /** Kernel settings that pods begin with, by names below `/proc/sys/net`. */
  readonly podSysctls?: Readonly<Record<string, string>>;
  /** `on`: the webhook decides about what is written, from the first controller on, which defines its kinds. `off` by default. */
  readonly admission?: 'on' | 'off';
  /** The program of a pod; by default every pod is an agent. @param runAgent - starts an agent with the arguments and the environment of the pod. */
  readonly runPod?: (pod: Pod, runAgent: (pod: Pod) => PodProcess) => PodProcess;
  /** The output of pods and the controller, line by line. */
  readonly onLine?: (who: string, line: string) => void;
  /** False to apply nothing of `manifests/`, for tests that install it themselves. */
  readonly isInstalled?: boolean;
  /** How pods run; default: the agent of this checkout. */
  readonly startContainer?: StartContainer;
  /** How commands run beside the program of a pod; default: those of the agent of this checkout. */
  readonly execInContainer?: ExecInContainer;
}

export class LabCluster {
  readonly simulator: KubeSimulator;
  /** As the administrator. */
  readonly access: ClusterAccess;
  readonly kubeconfigPath: string;
  readonly #lab: Lab;
  readonly #settings: LabClusterSettings;
  readonly #pods: Map<string, LabPod>;
  readonly #nodePods = new Map<string, NodePod>();
  readonly #nodes = new Map<string, LabNode>();
  #stopping = false;
  #controller: LabController | undefined;
  #webhook: Promise<AdmissionWebhook> | undefined;

  private constructor(
    parts: Pick<LabCluster, 'simulator' | 'access' | 'kubeconfigPath'>,
    lab: Lab,
    { settings, pods }: { readonly settings: LabClusterSettings; readonly pods: Map<string, LabPod> },
  ) {
    this.simulator = parts.simulator;
    this.access = parts.access;
    this.kubeconfigPath = parts.kubeconfigPath;
    this.#lab = lab;
    this.#settings = settings;
    this.#pods = pods;
  }

  /** Starts the API server, applies what `manifests/` installs for a controller, and the kinds of KubeVirt and Multus. */
  static async start(lab: Lab, settings: LabClusterSettings): Promise<LabCluster> {
    lab.addNetwork(MANAGEMENT_NETWORK, `${API_HOST}/16`);
    const pods = new Map<string, LabPod>();
    const started: { cluster?: LabCluster } = {};
    const simulator = await startKubeSimulator({
      host: API_HOST,
      nodes: namesOfNodes(settings).map((name, index) => ({ name, labels: NODE_LABELS, address: nodeAddress(index + 1) })),
      // Tests end processes often, and should not wait for them as long as in a real cluster.
      podBackOff: { firstMs: 500, longestMs: 2_000 },
      onControllerError: (error) => {
        if (started.cluster?.isStopping !== true) settings.onLine?.('cluster', String(error));
      },
      execInPod: (request) => execInLabPod(started.cluster?.pods ?? new Map(), request, settings.execInContainer),
      runPod: (pod) => {
        if (started.cluster === undefined || started.cluster.#stopping) throw new Error('the lab is ending');
        const { cluster } = started;
        const runAgent = (agent: Pod): PodProcess => cluster.#runAgent(agent);
        return settings.runPod?.(pod, runAgent) ?? runAgent(pod);
      },
    });
    const kubeconfigPath = join(lab.folder, 'kubeconfig');
    writeFileSync(kubeconfigPath, simulator.kubeconfig(), { mode: 0o600 });
    const access = await ClusterAccess.open(kubeconfigPath);
    const cluster = new LabCluster({ simulator, access, kubeconfigPath }, lab, { settings, pods });
    started.cluster = cluster;
    await cluster.#createNodes();
    if (settings.isInstalled !== false) await access.applyAll(installedFor('controller'));
    await access.applyFile(join(CLUSTER_EXAMPLES, 'crds.yaml'));
    return cluster;
  }

  /** The environment of installed programs. */
  get place(): InstalledPlace {
    return { simulator: this.simulator, admin: this.access, folder: this.#lab.folder };
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  /** The nodes as machines, by name; none without `nodeCards`. */
  get nodes(): ReadonlyMap<string, LabNode> {
    return this.#nodes;
  }

  /** Pods with `hostNetwork` that run, by name. */
  get nodePods(): ReadonlyMap<string, NodePod> {
    return new Map([...this.#nodePods].filter(([, { process }]) => process !== undefined && !process.hasEnded));
  }

  /** Pods with networks of their own that run, by name. */
  get pods(): ReadonlyMap<string, LabPod> {
    return new Map([...this.#pods].filter(([, { process }]) => process !== undefined && !process.hasEnded));
  }

  /** Starts a controller with the permissions of its ServiceAccount, and waits until it works. */
  async startController(...parameters: readonly string[]): Promise<LabController> {
    const port = ++lastPort;
    const kubeconfig = await this.#kubeconfigOf(CONTROLLER_NAMESPACE, 'vm-dhcp-controller');
    const flags = [
      '--kubeconfig',
      kubeconfig,
      '--namespace',
      AGENT_NAMESPACE,
      '--http',
      `127.0.0.1:${port}`,
      '--image',
      AGENT_IMAGE,
    ];
    if (this.#settings.admission === 'on') this.#webhook ??= this.#startWebhook();
    const started = this.#lab.start(process.execPath, [CONTROLLER_BIN, 'run', ...flags, ...parameters], {
      onLine: (line) => this.#settings.onLine?.('controller', line),
    });
    const url = `http://127.0.0.1:${port}`;
    await controllerReady(started, url);
    if (this.#settings.admission === 'on') await (await this.#webhook)?.registered();
    this.#controller = { process: started, url };
    return this.#controller;
  }

  /** Starts the webhook, which is ready later. */
  async startWebhook(): Promise<AdmissionWebhook> {
    this.#webhook = this.#startWebhook();
    return await this.#webhook;
  }

  /** Ends the webhook at once, whose registration stays. */
  async killWebhook(): Promise<void> {
    await (await this.#webhook)?.kill();
  }

  #startWebhook(): Promise<AdmissionWebhook> {
    const onLine = (line: string) => this.#settings.onLine?.('webhook', line);
    return AdmissionWebhook.start({ simulator: this.simulator, admin: this.access, folder: this.#lab.folder }, [], { onLine });
  }

  /** Writes a kubeconfig with the rights of a ServiceAccount. @returns its path. */
  async #kubeconfigOf(namespace: string, name: string): Promise<string> {
    const path = join(this.#lab.folder, `${name}.kubeconfig`);
    const token = await serviceAccountToken(this.access, namespace, name);
    writeFileSync(path, this.simulator.kubeconfig({ name, token }), { mode: 0o600 });
    return path;
  }

  /** Ends the controller that was started last, and starts another one. */
  async restartController(...parameters: readonly string[]): Promise<LabController> {
    await this.stopController();
    return await this.startController(...parameters);
  }

  /** Ends the controller that was started last. */
  async stopController(): Promise<void> {
    await this.#controller?.process.stop();
  }

  /** Resolves when the IPPool reports that it is served. */
  async agentReady(pool: string): Promise<KubernetesObject> {
    return await this.access.waitForObject('IPPool', pool, ({ status }) =>
      readConditions(status).some(({ type, status: state }) => type === 'AgentReady' && state === 'True'),
    );
  }

  /** The pods whose interface on a pool's network has an address now. */
  holders(pool: string): LabPod[] {
    const name = agentInterfaceName(pool);
    const holds = ({ machine }: LabPod): boolean => {
      try {
        return machine.addresses(name).length > 0;
      } catch {
        // A pod that has ended meanwhile, or was never attached to the network.
        return false;
      }
    };
    const found = [...this.pods.values()].filter(holds);
    // They are checked one after the other: one may have handed over to the next between two checks.
    return found.length < 2 ? found : found.filter(holds);
  }

  /** Resolves when both replicas of the agents run with the current template of the Deployment, and no others. */
  async rolledOut(deployment = 'vm-dhcp-controller-agent'): Promise<void> {
    await this.access.waitForObject('Deployment', `${AGENT_NAMESPACE}/${deployment}`, ({ metadata, status }) => {
      const counts = (status ?? {}) as Readonly<Record<string, number | undefined>>;
      const isObserved = counts['observedGeneration'] === metadata.generation;
      return isObserved && ['replicas', 'updatedReplicas', 'readyReplicas'].every((name) => counts[name] === 2);
    });
  }

  /** The pod whose agent is leader by its Lease; undefined also while it hands over. */
  async leader(group: string = UNIFIED_GROUP): Promise<LabPod | undefined> {
    const lease = await this.access.get('Lease', `${AGENT_NAMESPACE}/${group}`);
    const { holderIdentity = '' } = (lease?.spec ?? {}) as { readonly holderIdentity?: string };
    const pod = this.pods.get(holderIdentity.split('_')[0] ?? '');
    return pod?.isStopping === true ? undefined : pod;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await (await this.#webhook)?.close();
    this.access.close();
    await this.simulator.stop();
    const started = [...this.#pods.values(), ...this.#nodePods.values()].filter(({ process }) => process !== undefined);
    await Promise.all(started.map(({ exited }) => exited));
  }

  async #createNodes(): Promise<void> {
    const { nodeCards: cards } = this.#settings;
    if (cards === undefined) return;
    for (const [index, name] of namesOfNodes(this.#settings).entries()) {
      const settings = { name, number: index + 1, managementNetwork: MANAGEMENT_NETWORK, cards };
      this.#nodes.set(name, await createLabNode(this.#lab, settings));
    }
  }

  #runAgent(pod: Pod): LabPod | NodePod {
    if (pod.spec.hostNetwork === true) return this.#runOnNode(pod);
    const running = new LabPod(pod, this.#podEnvironment());
    this.#pods.set(running.name, running);
    return running;
  }

  #runOnNode(pod: Pod): NodePod {
    const node = this.#nodes.get(pod.spec.nodeName ?? '');
    if (node === undefined) throw new Error('pods with hostNetwork need nodes with network cards; give the lab nodeCards');
    const { hosts = {} } = this.#settings;
    const running = new NodePod(pod, node, { ...this.#podEnvironment(), simulator: this.simulator, hosts });
    this.#nodePods.set(running.name, running);
    return running;
  }

  #podEnvironment(): PodEnvironment {
    return {
      lab: this.#lab,
      managementNetwork: MANAGEMENT_NETWORK,
      networksOn: (node) => new Map(Object.entries({ ...this.#settings.networks, ...this.#settings.networksOfNodes?.[node] })),
      apiServer: { host: API_HOST, port: Number(new URL(this.simulator.url).port) },
      caCertificate: this.simulator.caCertificate ?? '',
      sysctls: this.#settings.podSysctls ?? {},
      startContainer: this.#settings.startContainer,
      token: (pod) => this.#podToken(pod),
      onLine: (pod, line) => this.#settings.onLine?.(pod, line),
    };
  }

  #podToken({ metadata: { namespace = '' }, ...pod }: Pod): Promise<string> {
    const { serviceAccountName = 'default' } = (pod as { spec?: { serviceAccountName?: string } }).spec ?? {};
    return serviceAccountToken(this.access, namespace, serviceAccountName);
  }
}

function namesOfNodes({ nodes = ['node-1', 'node-2'] }: LabClusterSettings): readonly string[] {
  return nodes;
}

export interface LabController {
  readonly process: LabProcess;
  /** The URL of its status server. */
  readonly url: string;
}
