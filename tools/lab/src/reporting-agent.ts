/** An agent as the process of its pod that serves no packets: it takes part in the election of its group, and reports that it serves its pools. */
import { setTimeout as delay } from 'node:timers/promises';
import type { PoolReport } from '@vmdhcp/ippool-api/agent';
import { type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';
import type { Pod, PodProcess } from '@vmdhcp/kube-simulator';
import type { ClusterAccess } from './cluster-access.js';

const PREFIX = 'network.harvesterhci.io';
const INTERVAL_MS = 100;
const LEASE_SECONDS = 1;

/** The findings of agents on the network of a pool. */
export type PoolFindings = Pick<PoolReport, 'conflicts' | 'rogueServers'>;

export interface ReportingSettings {
  /** What it reports besides that it serves a pool, by `namespace/name` of the pool. */
  readonly found?: ReadonlyMap<string, PoolFindings>;
  /** Where each output counts it is long: a busy machine must not make a leader look lost. Default: 1. */
  readonly leaseSeconds?: number;
}

export class ReportingAgent implements PodProcess {
  readonly ready = Promise.resolve();
  readonly exited: Promise<number>;
  readonly #access: ClusterAccess;
  readonly #pod: Pod;
  readonly #settings: ReportingSettings;
  #isStopping = false;

  constructor(pod: Pod, access: ClusterAccess, settings: ReportingSettings = {}) {
    this.#pod = pod;
    this.#settings = settings;
    this.#access = access;
    this.exited = this.#run();
  }

  stop(): void {
    this.#isStopping = true;
  }

  async #run(): Promise<number> {
    while (!this.#isStopping) {
      const lease = await this.#access.get('Lease', this.#leaseKey);
      if (lease !== undefined && this.#mayLead(lease)) await this.#lead(lease);
      await delay(INTERVAL_MS);
    }
    const lease = await this.#access.get('Lease', this.#leaseKey);
    if (lease !== undefined && holderOf(lease) === this.#identity)
      await this.#write({ spec: { holderIdentity: '' } }, lease.metadata.resourceVersion);
    return 0;
  }

  get #identity(): string {
    return `${this.#pod.metadata.name}_x`;
  }

  get #leaseKey(): string {
    return `${this.#pod.metadata.namespace}/${this.#variable('AGENT_LEASE_NAME')}`;
  }

  #mayLead(lease: KubernetesObject): boolean {
    return ['', 'no-agent', this.#identity].includes(holderOf(lease));
  }

  /** Obeys which pools are suspended, as it is the leader's. */
  async #lead({ metadata: { annotations = {}, resourceVersion } }: KubernetesObject): Promise<void> {
    const suspended = annotations[`${PREFIX}/suspended-pools`];
    const pools = JSON.parse(this.#variable('IPPOOL_REFS_JSON') || '[]') as readonly string[];
    const report = Object.fromEntries(
      pools.map((key) => [key, suspended?.includes(`"${key}"`) ? { serving: false, reason: 'Suspended' } : this.#served(key)]),
    );
    const written = {
      [`${PREFIX}/agent-report`]: JSON.stringify(report),
      [`${PREFIX}/suspended-pools-seen`]: suspended ?? null,
      [`${PREFIX}/lease-duration-ms`]: null,
    };
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const spec = {
      holderIdentity: this.#identity,
      leaseDurationSeconds: this.#settings.leaseSeconds ?? LEASE_SECONDS,
      renewTime,
    };
    await this.#write({ metadata: { annotations: written }, spec }, resourceVersion);
  }

  #served(key: string): object {
    return { serving: true, ...this.#settings.found?.get(key) };
  }

  async #write(patch: Readonly<Record<string, unknown>>, resourceVersion: string | undefined): Promise<void> {
    await this.#access.client('Lease').patch({ key: this.#leaseKey, resourceVersion }, patch);
  }

  #variable(name: string): string {
    const [container] = readList(this.#pod.spec, 'containers');
    return (
      readText(
        readList(container, 'env').find((one) => readText(one, 'name') === name),
        'value',
      ) ?? ''
    );
  }
}

function holderOf({ spec }: KubernetesObject): string {
  return readText(spec, 'holderIdentity') ?? '';
}
