/** What the process of an agent in a pod has beside the agent: connections to the API server, its Lease, and a status server. */
import type { Server } from 'node:http';
import { ApiGroupLease, type ApiGroupLeaseSettings } from '@vmdhcp/dhcp-agent/node';
import type { ApiResource, ElectionTimes, KubernetesObject } from '@vmdhcp/kube-runtime';
import { ApiConnection, ApiObjectClient, type ClusterConnection, systemClock } from '@vmdhcp/kube-runtime/node';
import type { ListenAddress } from '@vmdhcp/service-process';
import { NeededAddresses } from '../linux/needed-addresses.js';
import { AgentProcess, type AgentProcessSettings } from '../process/agent-process.js';
import { servePodStatus } from './serve-pod-status.js';

/** How agents name themselves to the API server. */
export const USER_AGENT = 'vmdhcp-agent';

/** What the process of an agent in a pod needs: its connection, its Lease, and where its status server listens. */
export interface PodProcessSettings {
  readonly cluster: ClusterConnection;
  readonly election: ElectionTimes;
  /** Where agents of one group agree on their leader. */
  readonly lease: Pick<ApiGroupLeaseSettings, 'namespace' | 'name' | 'labels'>;
  readonly http: ListenAddress | undefined;
  /** The option that sets the address of the status server; default: `--http`. */
  readonly httpOption?: string;
  /** From the pod's status, if Kubernetes set it. */
  readonly podAddress: string | undefined;
  /** The interfaces that are served: their addresses are not what the pod itself needs. */
  readonly served: ReadonlySet<string>;
}

/** An `AgentProcess` in a pod of a cluster. */
export class PodProcess extends AgentProcess {
  readonly #settings: PodProcessSettings;
  readonly connection: ApiConnection;
  /** Only for the Lease: requests must fail before the renew deadline. */
  readonly #electionConnection: ApiConnection;
  readonly lease: ApiGroupLease;
  readonly needed: NeededAddresses;
  #http: Server | undefined;

  constructor(settings: PodProcessSettings, process: AgentProcessSettings) {
    super(process);
    this.#settings = settings;
    const { cluster, election, podAddress, served } = settings;
    this.connection = new ApiConnection(cluster, { userAgent: USER_AGENT });
    this.#electionConnection = new ApiConnection(cluster, { userAgent: USER_AGENT, timeoutMs: election.renewDeadlineMs * 0.6 });
    this.lease = new ApiGroupLease({
      election: this.#electionConnection,
      watching: this.connection,
      ...settings.lease,
      clock: systemClock,
      wallTimeMs: Date.now,
      random: Math.random,
    });
    this.needed = new NeededAddresses({ server: cluster.server, podAddress, served });
  }

  clientOf<T extends KubernetesObject = KubernetesObject>(resource: ApiResource): ApiObjectClient<T> {
    return new ApiObjectClient<T>(this.connection, resource);
  }

  /** @throws CommandError if the address cannot be used. */
  async serveStatus(sources: Parameters<typeof servePodStatus>[0]['sources']): Promise<void> {
    const { http, httpOption: option, podAddress } = this.#settings;
    if (http === undefined) return;
    this.#http = await servePodStatus({
      http,
      ...(option !== undefined && { option }),
      podAddress,
      sources,
      logger: this.logger,
    });
  }

  override close(): void {
    super.close();
    this.#http?.close();
    this.#http?.closeAllConnections();
    this.#electionConnection.close();
    this.connection.close();
    this.logger.info('stopped');
  }
}
