/**
 * A stand-in for Harvester's vm-dhcp-controller as the process of its pod. It does what matters to a migration: it applies its definitions when it
 * starts, is leader by the Lease that our controllers use too, registers its webhook, creates a bare pod for each pool that has none and records it
 * in the pool's status, and creates it again when it is gone. It assigns no addresses.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type KubernetesObject, keyOf, readField, readText } from '@vmdhcp/kube-runtime';
import type { PodProcess } from '@vmdhcp/kube-simulator';
import { type ClusterAccess, readYaml } from './cluster-access.js';
import { UPSTREAM_NAME, upstreamAgentPod, upstreamRegistration } from './upstream-objects.js';

/** Its definitions. */
export const UPSTREAM_CRDS = fileURLToPath(new URL('../upstream/crds.yaml', import.meta.url));
const LEASE = { namespace: 'kube-system', name: 'vm-dhcp-controllers' };
const INTERVAL_MS = 100;

export class UpstreamController implements PodProcess {
  readonly ready: Promise<void>;
  readonly exited: Promise<number>;
  readonly #access: ClusterAccess;
  #isStopping = false;

  constructor(access: ClusterAccess) {
    this.#access = access;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.exited = this.#run(resolve);
  }

  stop(): void {
    this.#isStopping = true;
  }

  async #run(onReady: () => void): Promise<number> {
    await applyUpstreamDefinitions(this.#access);
    onReady();
    while (!this.#isStopping) {
      if (await this.#lead()) await this.#deployAgents();
      await delay(INTERVAL_MS);
    }
    // As client-go does on a clean end.
    await this.#write('');
    return 0;
  }

  /** True if it is leader: it renews its Lease, and takes one that has no holder. */
  async #lead(): Promise<boolean> {
    const lease = await this.#access.get('Lease', `${LEASE.namespace}/${LEASE.name}`);
    const holder = readText(lease?.spec, 'holderIdentity') ?? '';
    if (holder !== '' && holder !== UPSTREAM_NAME) return false;
    if (holder === '') for (const object of upstreamRegistration()) await createMissing(this.#access, object);
    await this.#write(UPSTREAM_NAME);
    return true;
  }

  async #write(holderIdentity: string): Promise<void> {
    const spec = { holderIdentity, leaseDurationSeconds: 45, renewTime: new Date().toISOString().replace('Z', '000Z') };
    const key = `${LEASE.namespace}/${LEASE.name}`;
    const lease = await this.#access.get('Lease', key);
    if (lease !== undefined) await this.#access.patch('Lease', key, { spec });
    else await this.#access.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: LEASE, spec });
  }

  async #deployAgents(): Promise<void> {
    for (const pool of await this.#access.list('IPPool')) {
      if (readField(pool.spec, 'paused') === true) continue;
      const wanted = upstreamAgentPod(pool);
      const pod = await this.#access.get('Pod', keyOf(wanted));
      // Looked at again, as the Deployment may have been scaled meanwhile.
      if (this.#isStopping) return;
      const agent = pod ?? (await this.#access.create(wanted));
      if (readText(pool.status, 'agentPodRef', 'uid') !== agent.metadata.uid) await this.#record(pool, agent);
    }
  }

  async #record(pool: KubernetesObject, { metadata }: KubernetesObject): Promise<void> {
    const agentPodRef = { namespace: metadata.namespace, name: metadata.name, image: 'agent:v1.6', uid: metadata.uid };
    const status = { agentPodRef };
    const result = await this.#access.client('IPPool').patchStatus({ key: keyOf(pool) }, { status });
    if (!result.ok && result.reason !== 'not-found') throw new Error(result.message);
  }
}

/** Replaces the definitions that are there, as its controller does. */
export async function applyUpstreamDefinitions(access: ClusterAccess): Promise<void> {
  const client = access.client('CustomResourceDefinition');
  for (const wanted of readYaml(UPSTREAM_CRDS)) {
    const present = await client.get(wanted.metadata.name);
    const result = await (present === undefined ? client.create(wanted) : client.replace({ ...present, spec: wanted.spec }));
    if (!result.ok && result.reason !== 'conflict') throw new Error(result.message);
  }
}

async function createMissing(access: ClusterAccess, object: KubernetesObject): Promise<void> {
  if ((await access.get(object.kind ?? '', object.metadata.name)) === undefined) await access.create(object);
}
