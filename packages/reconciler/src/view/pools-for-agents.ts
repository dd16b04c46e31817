/** Decides which pools agents should serve, and why not the others. */
import { formatIpv4Address, formatIpv4Cidr } from '@vmdhcp/dhcp-allocator';
import { HOLD_AGENT_UPGRADE_ANNOTATION } from '@vmdhcp/ippool-api';
import { isBeingDeleted, type KubernetesObject, parseTime, readField, readText, readTexts } from '@vmdhcp/kube-runtime';
import { NOT_SERVED, type NotToBeServed } from '../agents/agent-conditions.js';
import type { ActivePool } from '../agents/agents-observation.js';
import type { AgentsSettings } from '../agents/agents-plan.js';
import { isGoneForGood } from '../agents/legacy-pod.js';
import type { PoolForAgents } from '../agents/pool-for-agents.js';
import { UNIFIED_GROUP } from '../agents/topology.js';
import { sentenceOf } from '../explanation.js';
import { readNetworkPlacement } from '../network/network-placement.js';
import { explainMissingNetwork } from '../network/network-problem.js';
import type { AgentsView } from './agents-view.js';
import type { ClusterView, ObjectSource } from './cluster-view.js';
import type { PoolView } from './pool-views.js';

export interface PoolsForAgentsSources {
  readonly settings: Pick<AgentsSettings, 'namespace' | 'previousNamespace' | 'unified'>;
  readonly agents: Pick<AgentsView, 'legacyPodsOf' | 'mixedGroupNaming'>;
  readonly view: ClusterView;
  readonly networks: ObjectSource;
  /** RFC 3339, now. */
  readonly now: () => string;
}

/** The input of the plan of agents. */
export interface PoolsToPlan {
  readonly pools: readonly ActivePool[];
  /** Pools that a pod of an earlier version continues to serve. */
  readonly kept: ReadonlySet<string>;
}

export class PoolsForAgents {
  readonly #sources: PoolsForAgentsSources;
  /** By pool: the last values that its agents depend on. */
  readonly #noted = new Map<string, string>();

  constructor(sources: PoolsForAgentsSources) {
    this.#sources = sources;
  }

  toPlan(): PoolsToPlan {
    const views = this.#sources.view.pools();
    const kept = new Set(views.filter((view) => this.#keepsItsPod(view)).map(({ key }) => key));
    return { pools: views.flatMap((view) => (kept.has(view.key) ? [] : this.#toActivePool(view))), kept };
  }

  /**
   * Notes a changed pool. Returns true if the change affects agents: most writes of a status only record addresses.
   *
   * @param pool - undefined if it does not exist.
   */
  note(key: string, pool: PoolView | undefined): boolean {
    const before = this.#noted.get(key);
    const now = pool && describeForAgents(pool.object);
    if (now === undefined) this.#noted.delete(key);
    else this.#noted.set(key, now);
    return before !== now;
  }

  /** Undefined if agents should serve the pool. */
  whyNotServed(view: PoolView): NotToBeServed | undefined {
    return this.#whyElsewhere(view.object) ?? this.#whyMixed(view) ?? this.#whyNotActive(view);
  }

  /** The pod of an earlier version that serves a pool whose upgrade is on hold. */
  keptPod({ key, object }: PoolView): KubernetesObject | undefined {
    if (!holdsImage(object)) return undefined;
    const nowMs = parseTime(this.#sources.now());
    return this.#sources.agents.legacyPodsOf(key).find((pod) => !isBeingDeleted(pod) && !isGoneForGood(pod, nowMs));
  }

  /** The group in the status of a pool, which has served it so far. */
  groupRecordedIn(status: unknown): string | undefined {
    const name = readText(status, 'agentDeploymentRef', 'name');
    return name === this.#sources.settings.unified.deploymentName ? UNIFIED_GROUP : name;
  }

  #whyNotActive({ key, network, paused, reading }: PoolView): NotToBeServed | undefined {
    if (paused) return { reason: 'Paused', message: 'the pool is paused: no agent serves it; set spec.paused to false' };
    const { view, networks } = this.#sources;
    if (!reading.ok || view.servingPool(network)?.key !== key)
      return { reason: NOT_SERVED, message: 'the condition CacheReady contains the cause' };
    if (networks.get(network) !== undefined) return undefined;
    return { reason: 'NetworkMissing', message: sentenceOf(explainMissingNetwork(network)) };
  }

  /** Otherwise agents of a namespace that this controller does not watch would continue to serve the pool beside its own agents. */
  #whyElsewhere({ status }: KubernetesObject): NotToBeServed | undefined {
    const { namespace, previousNamespace } = this.#sources.settings;
    const recorded = ['agentDeploymentRef', 'agentPodRef'].flatMap((name) => readText(status, name, 'namespace') || []);
    const elsewhere = recorded.find((one) => one !== namespace && one !== previousNamespace);
    if (elsewhere === undefined) return undefined;
    const message = `agents in namespace ${elsewhere} served the pool and may still do so, and the controller watches namespace ${namespace} only; start it with --previous-namespace ${elsewhere} (rights: examples/cluster/takeover.yaml), and it removes them`;
    return { reason: 'AgentsElsewhere', message };
  }

  /** Otherwise agents that this controller may not change would continue to serve the pool beside its own agents. */
  #whyMixed({ key }: PoolView): NotToBeServed | undefined {
    const group = this.#sources.agents.mixedGroupNaming(key);
    if (group === undefined) return undefined;
    const message = `agents of group ${group} serve the pool and pools of other namespaces, and the controller runs with --only-namespace; start it without that until the pool has moved to other agents, or delete Deployment and Lease ${group}`;
    return { reason: 'AgentsElsewhere', message };
  }

  /** True if a pod of an earlier version that serves the pool is left alone: its upgrade is on hold, or something else is wrong with the pool. */
  #keepsItsPod(view: PoolView): boolean {
    if (this.#isForbidden(view)) return false;
    const why = this.whyNotServed(view);
    return this.keptPod(view) !== undefined || (why !== undefined && why.reason !== 'Paused' && !isBeingDeleted(view.object));
  }

  /** True if the network exists, and its namespace does not allow the pool to serve it. */
  #isForbidden(pool: PoolView): boolean {
    const { view, networks } = this.#sources;
    return networks.get(pool.network) !== undefined && !view.mayServe(pool);
  }

  #toActivePool(view: PoolView): ActivePool[] {
    if (this.whyNotServed(view) !== undefined) return [];
    const { status, metadata } = view.object;
    const network = this.#sources.networks.get(view.network);
    const recorded = {
      group: this.groupRecordedIn(status),
      image: readText(status, 'agentDeploymentRef', 'image') || undefined,
    };
    return toPoolForAgents(view).map((pool) => ({
      ...pool,
      placement: readNetworkPlacement(network, readTexts(view.object.spec, 'agentNodeSelector')),
      ...(metadata.creationTimestamp !== undefined && { createdAt: metadata.creationTimestamp }),
      holdsImage: holdsImage(view.object),
      recorded,
    }));
  }
}

/** Empty if its settings are invalid. */
export function toPoolForAgents({ key, network, reading }: PoolView): PoolForAgents[] {
  if (!reading.ok) return [];
  const { serverAddress, cidr } = reading.pool;
  return [{ key, network, serverIP: formatIpv4Address(serverAddress), cidr: formatIpv4Cidr(cidr) }];
}

function describeForAgents({ metadata, spec, status }: KubernetesObject): string {
  const { uid, generation, deletionTimestamp, annotations } = metadata;
  const ofSpec = generation ?? spec;
  return JSON.stringify([uid, ofSpec, deletionTimestamp, annotations, ...RECORDED.map((name) => readField(status, name))]);
}

/** Fields of a status that record which agents serve or have served the pool. */
const RECORDED = ['agentDeploymentRef', 'agentPodRef'];

function holdsImage({ metadata }: KubernetesObject): boolean {
  return metadata.annotations?.[HOLD_AGENT_UPGRADE_ANNOTATION] !== undefined;
}
