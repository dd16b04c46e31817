/**
 * A controller and the agents of all groups, one step at a time and in any order: what is written is seen later, pods are replaced when
 * a template changes, and any of them may become leader. A pool is served by the pods that have its server address.
 */
import {
  AGENT_GROUP_LABEL,
  AGENT_REPORT_ANNOTATION,
  DRAINING,
  formatAgentReport,
  formatSuspendedPools,
  type PoolReport,
  parseSuspendedPools,
  SUSPENDED,
  SUSPENDED_POOLS_ANNOTATION,
  SUSPENDED_POOLS_SEEN_ANNOTATION,
} from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { applyMergePatch, type Random } from '@vmdhcp/kube-runtime/testing';
import type { ActivePool } from './agents-observation.js';
import type { AgentAction, AgentsSettings } from './agents-plan.js';
import { configuredPools } from './configured-pools.js';
import { readGroupLease } from './group-lease.js';
import { poolNamesOf } from './group-rights.js';
import { planAgents } from './plan-agents.js';
import { UNIFIED_GROUP } from './topology.js';

interface Pod {
  readonly name: string;
  readonly group: string;
  /** Of the Deployment's template. */
  readonly generation: number;
  readonly configured: readonly string[];
  readonly addresses: Set<string>;
  isReady: boolean;
  isFrozen: boolean;
  /** What it has read of the Lease. */
  suspendedPoolsText: string;
  version: string;
  lead: 'none' | 'writing' | 'leading';
  /** IPPools that it has read: it serves no other. */
  reads: Set<string>;
}

export class AgentsInSteps {
  readonly #random: Random;
  #settings: AgentsSettings;
  pools: ActivePool[];
  readonly deployments = new Map<string, KubernetesObject>();
  readonly leases = new Map<string, KubernetesObject>();
  readonly pods = new Set<Pod>();
  /** What the controller has seen. */
  #seenDeployments = new Map<string, KubernetesObject>();
  #seenLeases = new Map<string, KubernetesObject>();
  /** Leases that were not renewed for as long as they last. */
  readonly #stale = new Set<string>();
  readonly rights = new Map<string, KubernetesObject>();
  #seenRights = new Map<string, KubernetesObject>();
  /** Kinds of what the controller wrote. */
  writes: string[] = [];
  #number = 0;
  readonly #served = new Set<string>();
  /** How often each pool went from served to not served. */
  readonly interruptions = new Map<string, number>();
  /** Pools that two pods served at a time, ever. */
  readonly servedTwice = new Set<string>();
  /** How often templates were written. */
  templateWrites = 0;

  constructor(pools: ActivePool[], settings: AgentsSettings, random: Random) {
    this.pools = pools;
    this.#settings = settings;
    this.#random = random;
    const { deploymentName: name, containerName } = settings.unified;
    const metadata = { namespace: settings.namespace, name, uid: 'chart', generation: 1 };
    this.#putDeployment(UNIFIED_GROUP, {
      metadata,
      spec: { replicas: 2, template: { spec: { containers: [{ name: containerName }] } } },
    });
  }

  /** Another controller begins: it has seen everything. */
  control(settings: Partial<AgentsSettings>): void {
    this.#settings = { ...this.#settings, ...settings };
    this.#seenDeployments = new Map(this.deployments);
    this.#seenLeases = new Map(this.leases);
    this.#seenRights = new Map(this.rights);
    this.interruptions.clear();
    this.templateWrites = 0;
  }

  /** One thing happens, any that can. @param crashes - true: pods also die or freeze. */
  step(crashes = false): void {
    const steps = this.#steps();
    const faults = crashes && this.#random(40) === 0 ? [...this.pods].map((pod) => () => this.#fail(pod)) : [];
    const among = faults.length > 0 ? faults : steps;
    among[this.#random(among.length)]?.();
    this.#watch();
  }

  /** Everything that can happen happens, over and over. */
  settle(): void {
    // Those that hold a Lease wake up when it has run out.
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
      ...[...new Set([...this.deployments.keys(), ...this.#seenDeployments.keys()])].map(
        (name) => () => hear(name, this.deployments, this.#seenDeployments),
      ),
      ...[...new Set([...this.leases.keys(), ...this.#seenLeases.keys()])].map(
        (name) => () => hear(name, this.leases, this.#seenLeases),
      ),
      ...[...new Set([...this.deployments.keys(), ...[...this.pods].map(({ group }) => group)])].map(
        (name) => () => this.#rollOut(name),
      ),
      ...[...this.pods].filter(({ isFrozen }) => !isFrozen).map((pod) => () => this.#go(pod)),
      ...[...this.leases.keys()].map((name) => () => this.#passTime(name)),
      ...[...new Set([...this.rights.keys(), ...this.#seenRights.keys()])].map(
        (name) => () => hear(name, this.rights, this.#seenRights),
      ),
    ];
  }

  #plan(): void {
    const { unified } = this.#settings;
    const names = new Set([...this.#seenDeployments.keys(), ...this.#seenLeases.keys()]);
    const groups = new Map(
      [...names].map((name) => {
        const deployment = this.#seenDeployments.get(name);
        const container = name === UNIFIED_GROUP ? unified.containerName : 'agent';
        const configured = deployment === undefined ? new Map() : configuredPools(deployment, container);
        return [
          name,
          { deployment, configured, lease: readGroupLease(this.#seenLeases.get(name), this.#stale.has(name)) },
        ] as const;
      }),
    );
    const groupsWithPods = new Set([...this.pods].map(({ group }) => group));
    const rights = Map.groupBy([...this.#seenRights.values()], ({ metadata }) => metadata.labels?.[AGENT_GROUP_LABEL] ?? '');
    const observed = { pools: this.pools, groups, groupsWithPods, legacyPods: new Map(), rights, nowMs: 0 };
    for (const action of planAgents(observed, this.#settings).actions) {
      this.writes.push(action.kind);
      this.#apply(action);
    }
  }

  /** What agents log is of no concern here; pods of earlier versions are not there. */
  #apply(action: AgentAction): void {
    if ('object' in action) this.#right(action);
    else if (action.kind === 'create-deployment') this.#createDeployment(action);
    else if (action.kind === 'patch-deployment') this.#patch(action);
    else if (action.kind === 'create-lease') this.#createLease(action);
    else if (action.kind === 'suspend') this.#suspend(action);
    else if (action.kind === 'delete-deployment') this.deployments.delete(action.group);
    else if (action.kind === 'delete-lease') this.#deleteLease(action);
  }

  #right(action: Extract<AgentAction, { readonly object: KubernetesObject }>): void {
    const { object } = action;
    const key = `${object.kind} ${object.metadata.namespace}/${object.metadata.name}`;
    const there = this.rights.get(key);
    const put = (one: KubernetesObject) => {
      const stored = withMetadata(one, {
        uid: one.metadata.uid ?? `r${++this.#number}`,
        resourceVersion: String(++this.#number),
      });
      this.rights.set(key, stored);
      this.#seenRights.set(key, stored);
    };
    if (action.kind === 'create-right') {
      if (there === undefined) put(object);
    } else if (there === undefined || there.metadata.resourceVersion !== object.metadata.resourceVersion) return;
    else if (action.kind === 'patch-right') put(applyMergePatch(there, action.patch) as KubernetesObject);
    else this.rights.delete(key);
  }

  /** A user deletes a Lease by hand, but for that of a chart. */
  deleteLease(): void {
    const keys = [...this.leases.keys()].filter((key) => key !== UNIFIED_GROUP);
    const key = keys[this.#random(Math.max(1, keys.length))];
    if (key === undefined) return;
    this.leases.delete(key);
    this.#stale.delete(key);
  }

  #mayLead(pod: Pod): boolean {
    if (!this.#settings.groupRights || pod.group === UNIFIED_GROUP) return true;
    return ['ServiceAccount', 'Role', 'RoleBinding'].every((kind) =>
      this.rights.has(`${kind} ${this.#settings.namespace}/${pod.group}`),
    );
  }

  #mayRead(pod: Pod, key: string): boolean {
    if (!this.#settings.groupRights || pod.group === UNIFIED_GROUP) return true;
    const ns = key.split('/')[0];
    const role = this.rights.get(`Role ${ns}/${pod.group}`);
    return (
      role !== undefined &&
      poolNamesOf(role).includes(key.split('/')[1] ?? '') &&
      this.rights.has(`RoleBinding ${ns}/${pod.group}`) &&
      this.rights.has(`ServiceAccount ${this.#settings.namespace}/${pod.group}`)
    );
  }

  #createDeployment({ group, deployment }: Extract<AgentAction, { readonly kind: 'create-deployment' }>): void {
    if (this.deployments.has(group)) return;
    this.templateWrites++;
    this.#putDeployment(group, withMetadata(deployment, { uid: `uid-${++this.#number}`, generation: 1000 * this.#number }));
    this.#seenDeployments.set(group, this.deployments.get(group) as KubernetesObject);
  }

  #deleteLease({ group, lease }: Extract<AgentAction, { readonly kind: 'delete-lease' }>): void {
    if (isSame(this.leases.get(group), lease)) this.leases.delete(group);
  }

  #createLease({ group, poolKeys, isGuarded }: Extract<AgentAction, { readonly kind: 'create-lease' }>): void {
    if (this.leases.has(group)) return;
    const annotations = { [SUSPENDED_POOLS_ANNOTATION]: formatSuspendedPools(poolKeys) };
    this.#putLease(group, { annotations, ...(isGuarded && { holder: 'no-agent' }) });
    this.#seenLeases.set(group, this.leases.get(group) as KubernetesObject);
  }

  #patch({ group, deployment, patch }: Extract<AgentAction, { readonly kind: 'patch-deployment' }>): void {
    const stored = this.deployments.get(group);
    if (stored === undefined || !isSame(stored, deployment)) return;
    this.templateWrites++;
    const patched = applyMergePatch(stored, patch) as KubernetesObject;
    this.#putDeployment(group, withMetadata(patched, { generation: (stored.metadata.generation ?? 0) + 1 }));
    this.#seenDeployments.set(group, this.deployments.get(group) as KubernetesObject);
  }

  #suspend({ group, lease, poolKeys }: Extract<AgentAction, { readonly kind: 'suspend' }>): void {
    const stored = this.leases.get(group);
    if (!isSame(stored, lease)) return;
    const before = lease.metadata.annotations?.[SUSPENDED_POOLS_ANNOTATION];
    this.#putLease(group, { annotations: { [SUSPENDED_POOLS_ANNOTATION]: formatSuspendedPools(poolKeys, before) } });
    this.#seenLeases.set(group, this.leases.get(group) as KubernetesObject);
  }

  /** One step of a rolling update: a pod more, at most three at a time, or one of an earlier template less. */
  #rollOut(name: string): void {
    const deployment = this.deployments.get(name);
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
    if (JSON.stringify(deployment.status) !== JSON.stringify(status)) this.#putDeployment(name, { ...deployment, status });
  }

  #startPod(group: string, deployment: KubernetesObject): void {
    const container = group === UNIFIED_GROUP ? this.#settings.unified.containerName : 'agent';
    this.pods.add({
      name: `pod${++this.#number}`,
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

  /** Asked to end: addresses first, then the Lease. */
  #end(pod: Pod | undefined): void {
    if (pod === undefined) return;
    const lease = this.leases.get(pod.group);
    if (pod.lead !== 'none' && holderOf(lease) === pod.name && !pod.isFrozen) this.#putLease(pod.group, { holder: '' });
    this.pods.delete(pod);
  }

  /** Dies, or runs no more for a while. */
  #fail(pod: Pod): void {
    if (this.#random(2) === 0) this.pods.delete(pod);
    else pod.isFrozen = true;
  }

  /** A Lease whose holder renews no more expires; the kernel has removed its addresses by then, and a frozen one wakes up. */
  #passTime(name: string): void {
    const holder = holderOf(this.leases.get(name));
    const pod = [...this.pods].find((one) => one.name === holder);
    if (holder === '' || (pod !== undefined && !pod.isFrozen)) return;
    this.#stale.add(name);
    // The guard lasts as long as a leadership: the leader of a Lease that was deleted has lost its addresses by now.
    if (pod === undefined) {
      for (const one of this.pods) {
        if (one.group !== name) continue;
        this.#lose(one);
        one.isFrozen = false;
      }
      return;
    }
    pod.addresses.clear();
    pod.lead = 'none';
    pod.isFrozen = false;
  }

  /** What an agent does next. */
  #go(pod: Pod): void {
    const lease = this.leases.get(pod.group);
    if (!this.pods.has(pod)) return;
    for (const key of pod.configured) if (this.#mayRead(pod, key)) pod.reads.add(key);
    if (!pod.isReady) pod.isReady = true;
    else if (this.#settings.groupRights && (lease === undefined || !this.#mayLead(pod))) this.#stopLeading(pod, lease);
    else this.#lead(pod, lease);
  }

  #lead(pod: Pod, lease: KubernetesObject | undefined): void {
    if (pod.lead === 'none') this.#stand(pod, lease);
    else if (holderOf(lease) !== pod.name) this.#lose(pod);
    else if (pod.lead === 'writing') {
      pod.lead = 'leading';
      this.#check(pod);
    } else if (lease?.metadata.resourceVersion === pod.version) this.#write(pod);
    else {
      this.#read(pod, lease);
      this.#check(pod);
    }
  }

  /** It hears of a deleted Lease at once, and leads on for a moment without its rights. */
  #stopLeading(pod: Pod, lease: KubernetesObject | undefined): void {
    if (lease === undefined || this.#random(3) === 0) this.#lose(pod);
  }

  #lose(pod: Pod): void {
    pod.addresses.clear();
    pod.lead = 'none';
  }

  #stand(pod: Pod, lease: KubernetesObject | undefined): void {
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

  #read(pod: Pod, lease: KubernetesObject | undefined): void {
    pod.version = lease?.metadata.resourceVersion ?? '';
    pod.suspendedPoolsText = lease?.metadata.annotations?.[SUSPENDED_POOLS_ANNOTATION] ?? '';
  }

  /** Takes addresses away, and gives others. */
  #check(pod: Pod): void {
    const suspended = parseSuspendedPools(pod.suspendedPoolsText);
    pod.addresses.clear();
    for (const key of pod.configured) if (!suspended.has(key) && pod.reads.has(key)) pod.addresses.add(key);
  }

  #write(pod: Pod): void {
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
    this.#putLease(pod.group, { holder: pod.name, annotations });
    pod.version = this.leases.get(pod.group)?.metadata.resourceVersion ?? '';
  }

  /** @param change.holder - undefined: the leader stays. */
  #putLease(name: string, change: { readonly holder?: string; readonly annotations?: Readonly<Record<string, string>> }): void {
    const before = this.leases.get(name);
    const metadata = {
      ...before?.metadata,
      namespace: this.#settings.namespace,
      name,
      resourceVersion: String(++this.#number),
      annotations: { ...before?.metadata.annotations, ...change.annotations },
    };
    this.leases.set(name, { metadata, spec: { holderIdentity: change.holder ?? holderOf(before) } });
  }

  #putDeployment(group: string, deployment: KubernetesObject): void {
    const labels = { ...deployment.metadata.labels, [AGENT_GROUP_LABEL]: group };
    const stored = withMetadata(deployment, { labels, resourceVersion: String(++this.#number) });
    this.deployments.set(group, stored);
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

function hear(name: string, there: ReadonlyMap<string, KubernetesObject>, seen: Map<string, KubernetesObject>): void {
  const object = there.get(name);
  if (object === undefined) seen.delete(name);
  else seen.set(name, object);
}

function isSame(one: KubernetesObject | undefined, other: KubernetesObject | undefined): boolean {
  return one?.metadata.resourceVersion === other?.metadata.resourceVersion;
}

function holderOf(lease: KubernetesObject | undefined): string {
  return (lease?.spec as { readonly holderIdentity?: string } | undefined)?.holderIdentity ?? '';
}

function withMetadata(object: KubernetesObject, more: Partial<KubernetesObject['metadata']>): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, ...more } };
}
