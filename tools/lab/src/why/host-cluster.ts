/** A simulated cluster with bare-metal hosts: the controller of this checkout as a process, and the inventory of an agent, whose leases and management controllers are what a test makes them. */

import type { HealthReport, HostLease } from '@vmdhcp/bare-metal';
import { HostAgent, type HostTarget } from '@vmdhcp/bare-metal/agent';
import { toCustomResourceDefinition } from '@vmdhcp/ippool-api';
import { bareMetalResources } from '@vmdhcp/ippool-api/bare-metal';
import {
  type EventObject,
  EventRecorder,
  formatTime,
  type KubernetesObject,
  type ObjectClient,
  SharedCaches,
} from '@vmdhcp/kube-runtime';
import { ApiObjectClient, systemClock } from '@vmdhcp/kube-runtime/node';
import { idlePod, type Pod, type PodProcess } from '@vmdhcp/kube-simulator';
import { waitFor } from '../deadline.js';
import { PrivateCluster } from '../private-cluster.js';
import { AGENTS } from './why-cluster.js';

const API_VERSION = 'bmc.spidernet.io/v1beta1';
const EVENTS = { group: '', version: 'v1', plural: 'events', namespaced: true };
/** ClusterAgents whose agents are never ready. */
const UNREADY = ['starting', 'stuck'];

export class HostCluster {
  readonly cluster: PrivateCluster;
  #agent: HostAgent | undefined;
  readonly #leases = new Map<string, string>();
  readonly #unhealthy = new Map<string, string>();
  #networks = 49;

  private constructor(cluster: PrivateCluster) {
    this.cluster = cluster;
  }

  static async start(): Promise<HostCluster> {
    const nodes = [{ name: 'node-1', labels: {} }];
    return new HostCluster(await PrivateCluster.start(['crds.yaml', 'bare metal'], { nodes, runPod }));
  }

  get admin(): PrivateCluster['admin'] {
    return this.cluster.admin;
  }

  /** ClusterAgents, as a definition without rules has them. */
  async defineWithoutRules(): Promise<void> {
    const [resource] = bareMetalResources.filter(({ plural }) => plural === 'clusteragents');
    if (resource === undefined) throw new Error('there is no kind ClusterAgent');
    const definition = JSON.stringify(toCustomResourceDefinition(resource), (key, value: unknown) =>
      key === 'x-kubernetes-validations' ? undefined : value,
    );
    await this.admin.create(JSON.parse(definition) as KubernetesObject);
    await waitFor(
      'ClusterAgents to be served',
      async () => (await this.admin.list('ClusterAgent').catch(() => undefined)) !== undefined,
    );
  }

  /** A ClusterAgent with a network of its own. @returns the beginning of its addresses: `10.N.0`. */
  async addNetwork(name: string, agentYaml: object = {}, dhcpServerConfig: object = {}): Promise<string> {
    const start = `10.${++this.#networks}.0`;
    const config = {
      dhcpServerInterface: 'net1',
      subnet: `${start}.0/24`,
      ipRange: `${start}.10-${start}.99`,
      gateway: `${start}.1`,
      selfIp: `${start}.2/24`,
      ...dhcpServerConfig,
    };
    const spec = {
      agentYaml: { underlayInterface: `default/${name}`, ...agentYaml },
      endpoint: { https: false },
      feature: { dhcpServerConfig: config },
    };
    await this.#create('ClusterAgent', name, { spec });
    return start;
  }

  async addEndpoint(name: string, clusterAgent: string, spec: Readonly<Record<string, string>>): Promise<void> {
    await this.#create('HostEndpoint', name, { spec: { clusterAgent, https: false, ...spec } });
  }

  /** An object that belongs to something else. */
  async addForeignStatus(name: string, clusterAgent: string): Promise<void> {
    const { metadata } = await this.admin.waitForObject('ClusterAgent', clusterAgent, () => true);
    const owner = {
      apiVersion: API_VERSION,
      kind: 'ClusterAgent',
      name: clusterAgent,
      uid: metadata.uid ?? '',
      controller: true,
    };
    const object = { apiVersion: API_VERSION, kind: 'HostStatus', metadata: { name, ownerReferences: [owner] } };
    await this.admin.create(object);
  }

  /** A pod of its agents holds the Lease of the ClusterAgent from now on. */
  async lead(clusterAgent: string): Promise<void> {
    const key = `${AGENTS}/agent-${clusterAgent}`;
    await this.admin.waitForObject('Lease', key, () => true);
    const renewTime = formatTime(Date.now()).replace('Z', '.000000Z');
    await this.admin.patch('Lease', key, { spec: { holderIdentity: 'agent_x', leaseDurationSeconds: 3_600, renewTime } });
  }

  /** Starts the inventory of the leader. */
  serve(clusterAgent: string): void {
    const { connection } = this.admin;
    const settings = { clock: systemClock, random: Math.random };
    const open = <Kind extends KubernetesObject>(plural: string): ObjectClient<Kind> & ApiObjectClient<Kind> =>
      new ApiObjectClient<Kind>(connection, { group: 'bmc.spidernet.io', version: 'v1beta1', plural, namespaced: false });
    this.#agent = new HostAgent({
      ...settings,
      clusterAgentName: clusterAgent,
      pollIntervalMs: 200,
      runId: 'run',
      wallTimeMs: Date.now,
      caches: new SharedCaches({
        clock: systemClock,
        backOff: { firstMs: 50, mostMs: 1_000, random: Math.random },
        open: (resource) => new ApiObjectClient<KubernetesObject>(connection, resource),
      }),
      isLeading: () => true,
      hostStatuses: open('hoststatuses'),
      hostOperations: open('hostoperations'),
      events: new EventRecorder({
        ...settings,
        client: new ApiObjectClient<EventObject>(connection, EVENTS),
        now: () => formatTime(Date.now()),
        component: 'agent',
        instance: 'one',
      }),
      leases: () => [...this.#leases].map(([ipAddress, macAddress]): HostLease => ({ ipAddress, macAddress })),
      onBindings: () => undefined,
      managementControllers: {
        read: async (target) => this.#health(target),
        operate: async () => ({ isSuccess: true, message: 'HTTP 204' }),
      },
      observer: { observe: () => undefined },
    });
    this.#agent.start();
  }

  /** @param macAddress - undefined: the lease has ended. @returns the name of its HostStatus, which has that by now. */
  async lease(address: string, macAddress: string | undefined): Promise<string> {
    if (macAddress === undefined) this.#leases.delete(address);
    else this.#leases.set(address, macAddress);
    this.#agent?.leasesChanged();
    const name = `rack-${address.replaceAll('.', '-')}`;
    const isThere = ({ status }: KubernetesObject) => {
      const text = JSON.stringify(status) ?? '';
      return macAddress === undefined ? text.includes('"activeDhcpClient":false') : text.includes(macAddress);
    };
    await this.admin.waitForObject('HostStatus', name, isThere);
    return name;
  }

  async bind(hostStatus: string, text: string): Promise<void> {
    await this.admin.patch('HostStatus', hostStatus, { metadata: { annotations: { 'bmc.spidernet.io/bound-to': text } } });
  }

  /** What the management controller at the address does not do. */
  break(address: string, message: string): void {
    this.#unhealthy.set(address, message);
  }

  async close(): Promise<void> {
    await this.#agent?.stop();
    await this.cluster.close();
  }

  #health({ address }: HostTarget): HealthReport {
    const message = this.#unhealthy.get(address);
    return message === undefined ? { kind: 'healthy', info: {}, log: [] } : { kind: 'unhealthy', message };
  }

  async #create(kind: string, name: string, fields: object): Promise<void> {
    await this.admin.create({ apiVersion: API_VERSION, kind, metadata: { name }, ...fields });
  }
}

function runPod(pod: Pod): PodProcess {
  const isUnready = UNREADY.some((name) => JSON.stringify(pod.metadata.labels).includes(`"${name}"`));
  return isUnready ? { ...idlePod(pod), ready: new Promise(() => {}) } : idlePod(pod);
}
