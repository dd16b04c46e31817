/** One pod of a group of agents: what it has read of its Lease, when it leads, and its server addresses. */
import {
  AGENT_REPORT_ANNOTATION,
  DRAINING,
  formatAgentReport,
  type PoolReport,
  parseSuspendedPools,
  SUSPENDED,
  SUSPENDED_POOLS_ANNOTATION,
  SUSPENDED_POOLS_SEEN_ANNOTATION,
} from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import type { Random } from '@vmdhcp/kube-runtime/testing';
import type { AgentsSettings } from './agents-plan.js';
import { poolNamesOf } from './group-rights.js';
import { holderOf, type StoredGroups } from './stored-groups-fixtures.js';
import { UNIFIED_GROUP } from './topology.js';

export interface PodInSteps {
  readonly name: string;
  readonly group: string;
  /** The pools of the Deployment's template. */
  readonly generation: number;
  readonly configured: readonly string[];
  readonly addresses: Set<string>;
  isReady: boolean;
  isFrozen: boolean;
  /** What it has read of the Lease. */
  suspendedPoolsText: string;
  version: string;
  lead: 'none' | 'writing' | 'leading';
  /** IPPools that it has read; it serves no others. */
  reads: Set<string>;
}

/** The steps of pods. */
export class PodSteps {
  readonly #stored: StoredGroups;
  readonly #stale: Set<string>;
  readonly #random: Random;
  settings: AgentsSettings;

  /** @param stale - expired Leases. */
  constructor(
    stored: StoredGroups,
    stale: Set<string>,
    { settings, random }: { readonly settings: AgentsSettings; readonly random: Random },
  ) {
    this.#stored = stored;
    this.#stale = stale;
    this.settings = settings;
    this.#random = random;
  }

  /** The next step of an agent. */
  go(pod: PodInSteps): void {
    const lease = this.#stored.leases.get(pod.group);
    for (const key of pod.configured) if (this.#mayRead(pod, key)) pod.reads.add(key);
    if (!pod.isReady) pod.isReady = true;
    else if (this.settings.groupRights && (lease === undefined || !this.#mayLead(pod))) this.#stopLeading(pod, lease);
    else this.#lead(pod, lease);
  }

  #lead(pod: PodInSteps, lease: KubernetesObject | undefined): void {
    if (pod.lead === 'none') this.#stand(pod, lease);
    else if (holderOf(lease) !== pod.name) this.lose(pod);
    else if (pod.lead === 'writing') {
      pod.lead = 'leading';
      this.#check(pod);
    } else if (lease?.metadata.resourceVersion === pod.version) this.#write(pod);
    else {
      this.#read(pod, lease);
      this.#check(pod);
    }
  }

  /** It hears of a deleted Lease at once, but stays leader for a moment. */
  #stopLeading(pod: PodInSteps, lease: KubernetesObject | undefined): void {
    if (lease === undefined || this.#random(3) === 0) this.lose(pod);
  }

  lose(pod: PodInSteps): void {
    pod.addresses.clear();
    pod.lead = 'none';
  }

  #stand(pod: PodInSteps, lease: KubernetesObject | undefined): void {
    const isFree = holderOf(lease) === '' || holderOf(lease) === pod.name || this.#stale.has(pod.group);
    if (!isFree) return;
    if ((lease?.metadata.resourceVersion ?? '') !== pod.version || this.#random(2) === 0) {
      this.#read(pod, lease);
      return;
    }
    this.#stale.delete(pod.group);
    this.#write(pod);
    pod.lead = 'writing';
  }

  #read(pod: PodInSteps, lease: KubernetesObject | undefined): void {
    pod.version = lease?.metadata.resourceVersion ?? '';
    pod.suspendedPoolsText = lease?.metadata.annotations?.[SUSPENDED_POOLS_ANNOTATION] ?? '';
  }

  /** Removes addresses, and adds others. */
  #check(pod: PodInSteps): void {
    const suspended = parseSuspendedPools(pod.suspendedPoolsText);
    pod.addresses.clear();
    for (const key of pod.configured) if (!suspended.has(key) && pod.reads.has(key)) pod.addresses.add(key);
  }

  #write(pod: PodInSteps): void {
    const suspended = parseSuspendedPools(pod.suspendedPoolsText);
    const state = (key: string): PoolReport => {
      if (!pod.reads.has(key)) return { serving: false, reason: 'NotListed' };
      if (suspended.has(key)) return { serving: false, reason: pod.addresses.has(key) ? DRAINING : SUSPENDED };
      return pod.addresses.has(key) ? { serving: true } : { serving: false, reason: 'NotLeading' };
    };
    const report = new Map(pod.configured.map((key) => [key, state(key)]));
    const annotations = {
      [SUSPENDED_POOLS_SEEN_ANNOTATION]: pod.suspendedPoolsText,
      [AGENT_REPORT_ANNOTATION]: formatAgentReport(report),
    };
    this.#stored.putLease(pod.group, { holder: pod.name, annotations });
    pod.version = this.#stored.leases.get(pod.group)?.metadata.resourceVersion ?? '';
  }

  #mayLead(pod: PodInSteps): boolean {
    if (!this.settings.groupRights || pod.group === UNIFIED_GROUP) return true;
    return ['ServiceAccount', 'Role', 'RoleBinding'].every((kind) =>
      this.#stored.rights.has(`${kind} ${this.settings.namespace}/${pod.group}`),
    );
  }

  #mayRead(pod: PodInSteps, key: string): boolean {
    if (!this.settings.groupRights || pod.group === UNIFIED_GROUP) return true;
    const ns = key.split('/')[0];
    const role = this.#stored.rights.get(`Role ${ns}/${pod.group}`);
    return (
      role !== undefined &&
      poolNamesOf(role).includes(key.split('/')[1] ?? '') &&
      this.#stored.rights.has(`RoleBinding ${ns}/${pod.group}`) &&
      this.#stored.rights.has(`ServiceAccount ${this.settings.namespace}/${pod.group}`)
    );
  }
}
