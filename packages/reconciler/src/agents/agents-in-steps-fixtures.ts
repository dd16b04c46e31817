/**
 * A controller and the agents of all groups, one step at a time and in any order: writes are seen later, pods are replaced when a template changes,
 * and any of them may become leader. The pods with the server address of a pool serve it.
 */
import { AGENT_GROUP_LABEL } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import type { Random } from '@vmdhcp/kube-runtime/testing';
import type { ActivePool } from './agents-observation.js';
import type { AgentsSettings } from './agents-plan.js';
import { configuredPools } from './configured-pools.js';
import { readGroupLease } from './group-lease.js';
import { planAgents } from './plan-agents.js';
import { type PodInSteps, PodSteps } from './pod-in-steps-fixtures.js';
import { hear, holderOf, StoredGroups } from './stored-groups-fixtures.js';
import { UNIFIED_GROUP } from './topology.js';

export class AgentsInSteps {
  readonly #random: Random;
  #settings: AgentsSettings;
  pools: ActivePool[];
  readonly stored: StoredGroups;
  readonly pods = new Set<PodInSteps>();
  readonly #podSteps: PodSteps;
  /** Expired Leases. */
  readonly #stale = new Set<string>();
  /** The kinds of objects that the controller wrote. */
  writes: string[] = [];
  readonly #served = new Set<string>();
  /** How often each pool went from served to not served. */
  readonly interruptions = new Map<string, number>();
  /** Pools that two pods served at a time, ever. */
  readonly servedTwice = new Set<string>();

  constructor(pools: ActivePool[], settings: AgentsSettings, random: Random) {
    this.pools = pools;
    this.#settings = settings;
    this.#random = random;
    this.stored = new StoredGroups(settings.namespace);
    this.#podSteps = new PodSteps(this.stored, this.#stale, { settings, random });
    const { deploymentName: name, containerName } = settings.unified;
    const metadata = { namespace: settings.namespace, name, uid: 'chart', generation: 1 };
    this.stored.putDeployment(UNIFIED_GROUP, {
      metadata,
      spec: { replicas: 2, template: { spec: { containers: [{ name: containerName }] } } },
    });
  }

  /** Starts another controller, which has seen everything. */
  control(settings: Partial<AgentsSettings>): void {
    this.#settings = { ...this.#settings, ...settings };
    this.#podSteps.settings = this.#settings;
    this.stored.seeAll();
    this.interruptions.clear();
  }

  /** Performs one random step. @param crashes - true if pods also die or freeze. */
  step(crashes = false): void {
    const steps = this.#steps();
    const faults = crashes && this.#random(40) === 0 ? [...this.pods].map((pod) => () => this.#fail(pod)) : [];
    const among = faults.length > 0 ? faults : steps;
    among[this.#random(among.length)]?.();
    this.#watch();
  }

  /** Performs all possible steps, over and over. */
  settle(): void {
    // Frozen holders of a Lease wake up when it has expired.
    for (const pod of this.pods) if (pod.lead === 'none') pod.isFrozen = false;
    for (let round = 0; round < 40; round++) {
      const steps = this.#steps();
      for (let index = steps.length - 1; index > 0; index--) {
        const other = this.#random(index + 1);
        [steps[index], steps[other]] = [steps[other] as () => void, steps[index] as () => void];
      }
      for (const step of steps) {
        step();
        this.#watch();
      }
    }
  }

  /** Pool to the group whose pods serve it. */
  servedBy(): Map<string, string> {
    return new Map([...this.pods].flatMap(({ group, addresses }) => [...addresses].map((key) => [key, group] as const)));
  }

  #steps(): (() => void)[] {
    return [
      () => this.#plan(),
      ...[...new Set([...this.stored.deployments.keys(), ...this.stored.seenDeployments.keys()])].map(
        (name) => () => hear(name, this.stored.deployments, this.stored.seenDeployments),
      ),
      ...[...new Set([...this.stored.leases.keys(), ...this.stored.seenLeases.keys()])].map(
        (name) => () => hear(name, this.stored.leases, this.stored.seenLeases),
      ),
      ...[...new Set([...this.stored.deployments.keys(), ...[...this.pods].map(({ group }) => group)])].map(
        (name) => () => this.#rollOut(name),
      ),
      ...[...this.pods]
        .filter(({ isFrozen }) => !isFrozen)
        .map((pod) => () => {
          if (this.pods.has(pod)) this.#podSteps.go(pod);
        }),
      ...[...this.stored.leases.keys()].map((name) => () => this.#passTime(name)),
      ...[...new Set([...this.stored.rights.keys(), ...this.stored.seenRights.keys()])].map(
        (name) => () => hear(name, this.stored.rights, this.stored.seenRights),
      ),
    ];
  }

  #plan(): void {
    const { unified } = this.#settings;
    const names = new Set([...this.stored.seenDeployments.keys(), ...this.stored.seenLeases.keys()]);
    const groups = new Map(
      [...names].map((name) => {
        const deployment = this.stored.seenDeployments.get(name);
        const container = name === UNIFIED_GROUP ? unified.containerName : 'agent';
        const configured = deployment === undefined ? new Map() : configuredPools(deployment, container);
        return [
          name,
          { deployment, configured, lease: readGroupLease(this.stored.seenLeases.get(name), this.#stale.has(name)) },
        ] as const;
      }),
    );
    const groupsWithPods = new Set([...this.pods].map(({ group }) => group));
    const rights = Map.groupBy(
      [...this.stored.seenRights.values()],
      ({ metadata }) => metadata.labels?.[AGENT_GROUP_LABEL] ?? '',
    );
    const observed = { pools: this.pools, groups, groupsWithPods, legacyPods: new Map(), rights, nowMs: 0 };
    for (const action of planAgents(observed, this.#settings).actions) {
      this.writes.push(action.kind);
      this.stored.apply(action);
    }
  }

  /** Deletes a Lease like a user, except that of a chart. */
  deleteLease(): void {
    const keys = [...this.stored.leases.keys()].filter((key) => key !== UNIFIED_GROUP);
    const key = keys[this.#random(Math.max(1, keys.length))];
    if (key === undefined) return;
    this.stored.leases.delete(key);
    this.#stale.delete(key);
  }

  /** One step of a rolling update: one more pod, at most three at a time, or one less of an earlier template. */
  #rollOut(name: string): void {
    const deployment = this.stored.deployments.get(name);
    const pods = [...this.pods].filter(({ group }) => group === name);
    if (deployment === undefined) {
      if (pods[0] !== undefined) this.#end(pods[0]);
      return;
    }
    const generation = deployment.metadata.generation ?? 0;
    const updated = pods.filter((pod) => pod.generation === generation);
    const old = pods.filter((pod) => pod.generation !== generation);
    if (updated.length < 2 && pods.length < 3) this.#startPod(name, deployment);
    else if (pods.filter(({ isReady }) => isReady).length > 2) this.#end(old[this.#random(old.length)]);
    const readyReplicas = pods.filter(({ isReady }) => isReady).length;
    const status = {
      observedGeneration: generation,
      replicas: pods.length,
      updatedReplicas: updated.length,
      readyReplicas,
    };
    if (JSON.stringify(deployment.status) !== JSON.stringify(status)) this.stored.putDeployment(name, { ...deployment, status });
  }

  #startPod(group: string, deployment: KubernetesObject): void {
    const container = group === UNIFIED_GROUP ? this.#settings.unified.containerName : 'agent';
    this.pods.add({
      name: `pod${this.stored.nextNumber()}`,
      group,
      generation: deployment.metadata.generation ?? 0,
      configured: [...configuredPools(deployment, container).keys()],
      addresses: new Set(),
      isReady: false,
      isFrozen: false,
      suspendedPoolsText: '',
      version: '',
      lead: 'none',
      reads: new Set(),
    });
  }

  /** Stops gracefully: addresses first, then the Lease. */
  #end(pod: PodInSteps | undefined): void {
    if (pod === undefined) return;
    const lease = this.stored.leases.get(pod.group);
    if (pod.lead !== 'none' && holderOf(lease) === pod.name && !pod.isFrozen) this.stored.putLease(pod.group, { holder: '' });
    this.pods.delete(pod);
  }

  /** Dies or freezes. */
  #fail(pod: PodInSteps): void {
    if (this.#random(2) === 0) this.pods.delete(pod);
    else pod.isFrozen = true;
  }

  /** Expires a Lease whose holder no longer renews it; the kernel has removed its addresses by then, and a frozen holder wakes up. */
  #passTime(name: string): void {
    const holder = holderOf(this.stored.leases.get(name));
    const pod = [...this.pods].find((one) => one.name === holder);
    if (holder === '' || (pod !== undefined && !pod.isFrozen)) return;
    this.#stale.add(name);
    // The guard lasts as long as a leadership: by now the leader of the deleted Lease has lost its addresses.
    if (pod === undefined) {
      for (const one of this.pods) {
        if (one.group !== name) continue;
        this.#podSteps.lose(one);
        one.isFrozen = false;
      }
      return;
    }
    pod.addresses.clear();
    pod.lead = 'none';
    pod.isFrozen = false;
  }

  #watch(): void {
    const served = new Set<string>();
    for (const { addresses } of this.pods) {
      for (const key of addresses) {
        if (served.has(key)) this.servedTwice.add(key);
        served.add(key);
      }
    }
    for (const key of this.#served) {
      if (!served.has(key)) this.interruptions.set(key, (this.interruptions.get(key) ?? 0) + 1);
    }
    this.#served.clear();
    for (const key of served) this.#served.add(key);
  }
}
