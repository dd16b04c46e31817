/** Caches and writes the objects of the agents of bare-metal hosts, of every planned kind. */

import { Resource } from '@vmdhcp/ippool-api/resources';
import type { OwnedObjectWrite } from '@vmdhcp/kube-runtime';
import {
  type ApiResource,
  type CacheSubscription,
  DeletionMarks,
  type KubernetesObject,
  type ObjectClient,
  type SharedCaches,
  type WriteResult,
  writePlan,
} from '@vmdhcp/kube-runtime';
import { HOST_AGENT_SELECTOR, HOST_AGENTS_BINDING, type HostAgentSettings } from '../workload/host-agent-settings.js';

export interface OwnedObjectsSettings {
  readonly caches: Pick<SharedCaches, 'subscribe'>;
  readonly clientOf: <Kind extends KubernetesObject = KubernetesObject>(resource: ApiResource) => ObjectClient<Kind>;
  readonly agents: Pick<HostAgentSettings, 'namespace' | 'leases' | 'secretNamespaces'>;
  /** RFC 3339, now. */
  readonly now: () => string;
  readonly onChange: () => void;
  readonly onSynced: () => void;
  readonly onError: (error: unknown) => void;
}

interface OwnedKind {
  readonly kind: string;
  readonly resource: ApiResource;
  readonly cache: CacheSubscription;
  readonly client: ObjectClient<KubernetesObject>;
}

export class OwnedObjects {
  readonly #settings: OwnedObjectsSettings;
  readonly #kinds: readonly OwnedKind[];
  readonly #marks = new DeletionMarks();

  constructor(settings: OwnedObjectsSettings) {
    this.#settings = settings;
    this.#kinds = resourcesOf(settings.agents).map(([kind, resource]) => this.#follow(kind, resource));
  }

  /** Kinds that are not listed yet. */
  get missing(): readonly string[] {
    return [...new Set(this.#kinds.filter(({ cache }) => !cache.synced).map(({ resource }) => resource.plural))];
  }

  /** The known objects, including deletions that are not visible yet. */
  values(): readonly KubernetesObject[] {
    return this.#kinds.flatMap(({ kind, cache }) => [...cache.values()].map((one) => this.#marks.marked(kind, one)));
  }

  start(): void {
    for (const { cache } of this.#kinds) cache.start();
  }

  async refresh(): Promise<void> {
    await Promise.all(this.#kinds.map(({ cache }) => cache.refresh()));
  }

  stop(): void {
    for (const { cache } of this.#kinds) cache.stop();
  }

  /** A refusal of the server is returned as the result. */
  async write(write: OwnedObjectWrite): Promise<WriteResult<KubernetesObject | undefined>> {
    const { object } = write;
    const of = this.#kinds.find(
      ({ kind, resource }) =>
        kind === object.kind && (resource.namespace ?? object.metadata.namespace) === object.metadata.namespace,
    );
    if (of === undefined) throw new TypeError(`${object.kind} is not planned here`);
    const written = (await writePlan(of.client, write)) ?? { ok: true, object: undefined };
    if (!written.ok) return written;
    if (write.kind === 'delete') this.#marks.add(of.kind, object, this.#settings.now());
    else if (written.object !== undefined) of.cache.wrote(written.object);
    return written;
  }

  #follow(kind: string, resource: ApiResource): OwnedKind {
    const { caches, clientOf, onChange, onSynced, onError } = this.#settings;
    const cache: CacheSubscription = caches.subscribe(resource, {
      onChange: (key) => {
        this.#marks.seen(kind, key, cache.get(key));
        onChange();
      },
      onSynced,
      onError,
    });
    return { kind, resource, cache, client: clientOf(resource) };
  }
}

function resourcesOf({
  namespace,
  leases,
  secretNamespaces,
}: OwnedObjectsSettings['agents']): (readonly [string, ApiResource])[] {
  const labelSelector = HOST_AGENT_SELECTOR;
  const own = { namespace, labelSelector };
  const roleNamespaces = [...new Set([namespace, ...secretNamespaces])];
  return [
    ['Deployment', { ...Resource.deployments, ...own }],
    ['ServiceAccount', { ...Resource.serviceAccounts, ...own }],
    ['Lease', { ...Resource.leases, ...own }],
    ['ClusterRoleBinding', { ...Resource.clusterRoleBindings, fieldSelector: `metadata.name=${HOST_AGENTS_BINDING}` }],
    ...roleNamespaces.flatMap((of): (readonly [string, ApiResource])[] => [
      ['Role', { ...Resource.roles, namespace: of, labelSelector }],
      ['RoleBinding', { ...Resource.roleBindings, namespace: of, labelSelector }],
    ]),
    ...(leases.kind === 'pvc' ? ([['PersistentVolumeClaim', { ...Resource.persistentVolumeClaims, ...own }]] as const) : []),
  ];
}
