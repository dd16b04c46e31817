/** Decides which groups may serve a pool while it moves between groups, from their Leases, Deployments and pods. */
import { DRAINING, SUSPENDED } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { type AgentsObservation, type ObservedGroup, observedGroup } from './agents-observation.js';
import { isGoneForGood } from './legacy-pod.js';
import { isUnified } from './topology.js';

/** At least one. */
type FormerGroups = readonly [...string[], string];

export class PoolHandover {
  readonly #observed: AgentsObservation;
  readonly #groupOf: ReadonlyMap<string, string>;
  readonly #groupRights: boolean;
  /** By pool; a pool without any is left out. */
  readonly #formerGroups: ReadonlyMap<string, FormerGroups>;

  /**
   * @param groupOf - each pool's own group, by pool.
   * @param groupRights - true if agents may not create their Lease, so that a missing one was deleted.
   */
  constructor(observed: AgentsObservation, groupOf: ReadonlyMap<string, string>, groupRights: boolean) {
    this.#observed = observed;
    this.#groupOf = groupOf;
    this.#groupRights = groupRights;
    this.#formerGroups = this.#findFormerGroups();
  }

  /** Groups that may serve the pool and are not its own. */
  formerGroupsOf(poolKey: string): readonly string[] {
    return this.#formerGroups.get(poolKey) ?? [];
  }

  /** By pool: the first of its former groups. */
  servedBy(): Map<string, string> {
    return new Map([...this.#formerGroups].map(([key, [first]]) => [key, first]));
  }

  /** True if the pool's own group must not serve it yet. */
  isBlocked(poolKey: string): boolean {
    return this.formerGroupsOf(poolKey).length > 0 || this.#hasLegacyPods(poolKey);
  }

  /** True if the leader of the pool's own group reports that it could serve the pool at once. */
  isReadyToServe(poolKey: string): boolean {
    const { lease } = this.#ownGroup(poolKey);
    return lease.isLive && lease.report.get(poolKey)?.reason === SUSPENDED;
  }

  /** True if no other agents serve the pool, its own group's included, and none may begin to. */
  isOnlyServer(name: string, poolKey: string): boolean {
    const groups = this.formerGroupsOf(poolKey);
    const isOnly = groups.length === 1 && groups[0] === name && !this.#hasLegacyPods(poolKey);
    return isOnly && this.#hasReleased(this.#groupOf.get(poolKey) ?? '', poolKey);
  }

  /** True if no pod could become leader by the group's Lease. The pods of a chart are not known. */
  isGone(name: string): boolean {
    const { deployment, lease } = this.#group(name);
    if (deployment !== undefined) return false;
    return lease.object === undefined || (!isUnified(name) && !this.#observed.groupsWithPods.has(name));
  }

  /** True if the group's Lease, and with it its suspensions, was deleted. */
  hasLostItsLease(name: string): boolean {
    const { deployment, lease } = this.#group(name);
    return this.#groupRights && deployment !== undefined && lease.object === undefined;
  }

  #group(name: string): ObservedGroup {
    return observedGroup(this.#observed, name);
  }

  #ownGroup(poolKey: string): ObservedGroup {
    return this.#group(this.#groupOf.get(poolKey) ?? '');
  }

  #findFormerGroups(): Map<string, FormerGroups> {
    const formerGroups = new Map<string, FormerGroups>();
    for (const [name, { configured, lease }] of this.#observed.groups) {
      // A pod of an earlier template may become leader and serve its pools, whatever the template names now.
      for (const key of new Set([...configured.keys(), ...lease.known])) {
        const own = this.#groupOf.get(key);
        if (own === undefined || own === name || this.#hasReleased(name, key) || this.#hasReleasedBefore(name, key)) continue;
        formerGroups.set(key, [...(formerGroups.get(key) ?? []), name]);
      }
    }
    return formerGroups;
  }

  /** True if no agent of the group serves the pool, or may begin to before the group's Lease allows it. */
  #hasReleased(name: string, poolKey: string): boolean {
    const { lease } = this.#group(name);
    if (!lease.isLive) return lease.suspended.has(poolKey) || this.isGone(name);
    if (!lease.seen.has(poolKey)) return false;
    const reported = lease.report.get(poolKey);
    return reported === undefined || (!reported.serving && reported.reason !== DRAINING);
  }

  /**
   * True if the group's Lease was deleted after the group had released the pool, which its own group serves now. The next Lease will suspend the pool
   * again.
   */
  #hasReleasedBefore(name: string, poolKey: string): boolean {
    const { lease } = this.#ownGroup(poolKey);
    return this.hasLostItsLease(name) && lease.report.get(poolKey)?.serving === true && !lease.suspended.has(poolKey);
  }

  #hasLegacyPods(poolKey: string): boolean {
    const pods: readonly KubernetesObject[] = this.#observed.legacyPods.get(poolKey) ?? [];
    return pods.some((pod) => !isGoneForGood(pod, this.#observed.nowMs));
  }
}
