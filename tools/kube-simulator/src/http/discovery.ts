/** Discovery of the served kinds: /api, /apis, /apis/<group>, /apis/<group>/<version>, and the aggregated form of the first two. */
import { createHash } from 'node:crypto';
import type { AggregatedVersion } from '../aggregation/aggregator.js';
import type { Json, JsonObject } from '../api-object.js';
import type { ResourceRegistry } from '../resources/resource-registry.js';
import type { ResourceType, Subresource } from '../resources/resource-type.js';
import { toAggregatedResources } from './to-aggregated-resources.js';

/** The content of discovery. */
export interface Served {
  readonly registry: ResourceRegistry;
  /** The groups and versions of other servers. */
  readonly aggregated: readonly AggregatedVersion[];
}

/** Returns the document at a discovery path, or undefined if there is none. */
export function discoveryDocument(served: Served, path: string, serverAddress: string): JsonObject | undefined {
  const parts = path.split('/').filter((part) => part !== '');
  const [prefix, first, second] = parts;
  if (prefix === 'api') return coreDocument(served.registry, parts, serverAddress);
  if (prefix !== 'apis' || parts.length > 3) return undefined;
  if (first === undefined) return groupList(served);
  return second === undefined ? groupDocument(served, first) : resourceList(served.registry, first, second);
}

function coreDocument(registry: ResourceRegistry, parts: readonly string[], serverAddress: string): JsonObject | undefined {
  if (parts.length === 1) {
    const serverAddressByClientCIDRs = [{ clientCIDR: '0.0.0.0/0', serverAddress }];
    return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs };
  }
  return parts.length === 2 ? resourceList(registry, '', parts[1] ?? '') : undefined;
}

/** The real server lists its own groups in this order, and those of custom resources after them by name. */
const groupOrder = [
  '',
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
];

function rankOf({ group, custom = true }: Pick<ResourceType, 'group'> & Partial<Pick<ResourceType, 'custom'>>): string {
  const rank = groupOrder.indexOf(group);
  return custom || rank < 0 ? `1 ${group}` : `0 ${String(rank).padStart(2, '0')}`;
}

function byRank(left: Parameters<typeof rankOf>[0], right: Parameters<typeof rankOf>[0]): number {
  return rankOf(left) < rankOf(right) ? -1 : rankOf(left) > rankOf(right) ? 1 : 0;
}

/** The versions of each group. */
function groupsOf({ registry, aggregated }: Served): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { group, version } of [...registry.all, ...aggregated].toSorted(byRank)) {
    const versions = groups.get(group) ?? [];
    if (!versions.includes(version)) versions.push(version);
    groups.set(group, versions);
  }
  return groups;
}

function groupContent(group: string, versions: readonly string[]): JsonObject {
  const all = versions.map((version) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: all, preferredVersion: all[0] ?? null };
}

function groupList(served: Served): JsonObject {
  const groups = [...groupsOf(served)].filter(([group]) => group !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(([group, versions]) => groupContent(group, versions)) };
}

function groupDocument(served: Served, group: string): JsonObject | undefined {
  const versions = group === '' ? undefined : groupsOf(served).get(group);
  return versions === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupContent(group, versions) };
}

function resourceList(registry: ResourceRegistry, group: string, version: string): JsonObject | undefined {
  const types = typesOf(registry, group, version);
  if (types.length === 0) return undefined;
  const apiVersion = group === '' ? {} : { apiVersion: 'v1' };
  const groupVersion = group === '' ? version : `${group}/${version}`;
  return { kind: 'APIResourceList', ...apiVersion, groupVersion, resources: types.flatMap(resourceEntries) };
}

/** Sorted by name, as the built-in ones are; custom resources are in no order in the real server. */
function typesOf(registry: ResourceRegistry, group: string, version: string): readonly ResourceType[] {
  const types = registry.all.filter((type) => type.group === group && type.version === version);
  return types.toSorted((left, right) => (left.plural < right.plural ? -1 : 1));
}

function resourceEntries(type: ResourceType): readonly JsonObject[] {
  const entry: JsonObject = {
    name: type.plural,
    singularName: type.singular,
    namespaced: type.namespaced,
    kind: type.kind,
    verbs: type.verbs,
    ...nonEmpty('shortNames', type.shortNames),
    ...nonEmpty('categories', type.categories),
    ...(type.connect === undefined ? { storageVersionHash: storageVersionHash(type) } : {}),
  };
  return [entry, ...type.subresources.map((subresource) => subresourceEntry(type, subresource))];
}

function subresourceEntry(type: ResourceType, subresource: Subresource): JsonObject {
  const { kind } = subresource;
  const elsewhere = kind !== undefined && kind.group !== type.group ? { group: kind.group, version: kind.version } : {};
  return {
    name: `${type.plural}/${subresource.name}`,
    singularName: '',
    namespaced: type.namespaced,
    ...elsewhere,
    kind: kind?.kind ?? type.kind,
    verbs: subresource.verbs,
  };
}

function nonEmpty(field: string, values: readonly string[]): JsonObject {
  return values.length === 0 ? {} : { [field]: values };
}

/** Source: k8s.io/apiserver/pkg/endpoints/discovery StorageVersionHash: the first 8 bytes of SHA-256 of group/version/kind. */
function storageVersionHash({ group, reportedGroup = group, version, kind }: ResourceType): string {
  return createHash('sha256').update(`${reportedGroup}/${version}/${kind}`).digest().subarray(0, 8).toString('base64');
}

/** /api and /apis in one document each. */
export function aggregatedDiscovery(served: Served, path: string): JsonObject {
  const wanted = [...groupsOf(served)].filter(([group]) => (path === '/api') === (group === ''));
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: wanted.map(([group, versions]) => ({
      metadata: group === '' ? {} : { name: group },
      versions: versions.map((version) => versionContent(served, group, version)),
    })),
  };
}

function versionContent({ registry, aggregated }: Served, group: string, version: string): JsonObject {
  const elsewhere = aggregated.find((each) => each.group === group && each.version === version);
  if (elsewhere !== undefined) {
    const freshness = elsewhere.isCurrent ? 'Current' : 'Stale';
    return { version, resources: toAggregatedResources(elsewhere), freshness };
  }
  return { version, resources: typesOf(registry, group, version).map(aggregatedResource), freshness: 'Current' };
}

function aggregatedResource(type: ResourceType): JsonObject {
  // The core group leaves out its version here.
  const version = type.group === '' ? '' : type.version;
  const responseKind = { group: type.group, version, kind: type.kind };
  return {
    resource: type.plural,
    responseKind,
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: type.singular,
    verbs: type.verbs,
    ...nonEmpty('shortNames', type.shortNames),
    ...nonEmpty('categories', type.categories),
    ...(type.subresources.length === 0
      ? {}
      : {
          subresources: type.subresources.map((subresource): Json => {
            const kind = subresource.kind === undefined ? responseKind : aggregatedKind(subresource.kind);
            return { subresource: subresource.name, responseKind: kind, verbs: subresource.verbs };
          }),
        }),
  };
}

function aggregatedKind(kind: { readonly group: string; readonly version: string; readonly kind: string }): JsonObject {
  return { group: kind.group, version: kind.group === '' ? '' : kind.version, kind: kind.kind };
}
