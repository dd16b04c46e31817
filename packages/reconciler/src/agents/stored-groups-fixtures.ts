/** The objects of all groups, as stored in an API server and as seen by a controller. */
import { AGENT_GROUP_LABEL, formatSuspendedPools, SUSPENDED_POOLS_ANNOTATION } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { applyMergePatch } from '@vmdhcp/kube-runtime/testing';
import type { AgentAction } from './agents-plan.js';

type ActionOf<Kind extends AgentAction['kind']> = Extract<AgentAction, { readonly kind: Kind }>;

export class StoredGroups {
  readonly deployments = new Map<string, KubernetesObject>();
  readonly leases = new Map<string, KubernetesObject>();
  readonly rights = new Map<string, KubernetesObject>();
  /** The objects that the controller has seen. */
  seenDeployments = new Map<string, KubernetesObject>();
  seenLeases = new Map<string, KubernetesObject>();
  seenRights = new Map<string, KubernetesObject>();
  readonly #namespace: string;
  #number = 0;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** The controller has seen everything. */
  seeAll(): void {
    this.seenDeployments = new Map(this.deployments);
    this.seenLeases = new Map(this.leases);
    this.seenRights = new Map(this.rights);
  }

  /** Unique names of pods and versions of objects. */
  nextNumber(): number {
    return ++this.#number;
  }

  /** Log settings do not matter here, and there are no pods of earlier versions. */
  apply(action: AgentAction): void {
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
      this.seenRights.set(key, stored);
    };
    if (action.kind === 'create-right') {
      if (there === undefined) put(object);
    } else if (there === undefined || there.metadata.resourceVersion !== object.metadata.resourceVersion) return;
    else if (action.kind === 'patch-right') put(applyMergePatch(there, action.patch) as KubernetesObject);
    else this.rights.delete(key);
  }

  #createDeployment({ group, deployment }: ActionOf<'create-deployment'>): void {
    if (this.deployments.has(group)) return;
    this.putDeployment(group, withMetadata(deployment, { uid: `uid-${++this.#number}`, generation: 1000 * this.#number }));
    this.seenDeployments.set(group, this.deployments.get(group) as KubernetesObject);
  }

  #deleteLease({ group, lease }: ActionOf<'delete-lease'>): void {
    if (isSame(this.leases.get(group), lease)) this.leases.delete(group);
  }

  #createLease({ group, poolKeys, isGuarded }: ActionOf<'create-lease'>): void {
    if (this.leases.has(group)) return;
    const annotations = { [SUSPENDED_POOLS_ANNOTATION]: formatSuspendedPools(poolKeys) };
    this.putLease(group, { annotations, ...(isGuarded && { holder: 'no-agent' }) });
    this.seenLeases.set(group, this.leases.get(group) as KubernetesObject);
  }

  #patch({ group, deployment, patch }: ActionOf<'patch-deployment'>): void {
    const stored = this.deployments.get(group);
    if (stored === undefined || !isSame(stored, deployment)) return;
    const patched = applyMergePatch(stored, patch) as KubernetesObject;
    this.putDeployment(group, withMetadata(patched, { generation: (stored.metadata.generation ?? 0) + 1 }));
    this.seenDeployments.set(group, this.deployments.get(group) as KubernetesObject);
  }

  #suspend({ group, lease, poolKeys }: ActionOf<'suspend'>): void {
    const stored = this.leases.get(group);
    if (!isSame(stored, lease)) return;
    const before = lease.metadata.annotations?.[SUSPENDED_POOLS_ANNOTATION];
    this.putLease(group, { annotations: { [SUSPENDED_POOLS_ANNOTATION]: formatSuspendedPools(poolKeys, before) } });
    this.seenLeases.set(group, this.leases.get(group) as KubernetesObject);
  }

  /** @param change.holder - undefined if the leader stays. */
  putLease(name: string, change: { readonly holder?: string; readonly annotations?: Readonly<Record<string, string>> }): void {
    const before = this.leases.get(name);
    const metadata = {
      ...before?.metadata,
      namespace: this.#namespace,
      name,
      resourceVersion: String(++this.#number),
      annotations: { ...before?.metadata.annotations, ...change.annotations },
    };
    this.leases.set(name, { metadata, spec: { holderIdentity: change.holder ?? holderOf(before) } });
  }

  putDeployment(group: string, deployment: KubernetesObject): void {
    const labels = { ...deployment.metadata.labels, [AGENT_GROUP_LABEL]: group };
    const stored = withMetadata(deployment, { labels, resourceVersion: String(++this.#number) });
    this.deployments.set(group, stored);
  }
}

export function hear(name: string, there: ReadonlyMap<string, KubernetesObject>, seen: Map<string, KubernetesObject>): void {
  const object = there.get(name);
  if (object === undefined) seen.delete(name);
  else seen.set(name, object);
}

function isSame(one: KubernetesObject | undefined, other: KubernetesObject | undefined): boolean {
  return one?.metadata.resourceVersion === other?.metadata.resourceVersion;
}

export function holderOf(lease: KubernetesObject | undefined): string {
  return (lease?.spec as { readonly holderIdentity?: string } | undefined)?.holderIdentity ?? '';
}

function withMetadata(object: KubernetesObject, more: Partial<KubernetesObject['metadata']>): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, ...more } };
}
