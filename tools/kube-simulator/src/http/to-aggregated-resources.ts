import type { AggregatedVersion } from '../aggregation/aggregator.js';
import type { JsonObject } from '../api-object.js';
import { listOf, textOf } from '../json-parts.js';

/**
 * The kinds of another server in the aggregated form of discovery. Subresources are below their resource; one that the server does not
 * list itself is shown without a kind and without verbs.
 *
 * Source: k8s.io/apiserver/pkg/endpoints ConvertGroupVersionIntoToDiscovery.
 */
export function toAggregatedResources({ group, version, resources }: AggregatedVersion): readonly JsonObject[] {
  const found = new Map<string, { readonly entry: JsonObject; readonly subresources: JsonObject[] }>();
  const place = { group, version };
  for (const resource of resources.filter((each) => !textOf(each['name']).includes('/'))) {
    found.set(textOf(resource['name']), { entry: resourceEntry(resource, place), subresources: [] });
  }
  for (const resource of resources) {
    const [name = '', subresource] = textOf(resource['name']).split('/', 2);
    if (subresource === undefined) continue;
    const parent = found.get(name) ?? { entry: parentEntry(name, resource), subresources: [] };
    parent.subresources.push({ subresource, responseKind: kindOf(resource, place), verbs: listOf(resource['verbs']) });
    found.set(name, parent);
  }
  return [...found.values()].map(({ entry, subresources }) => (subresources.length === 0 ? entry : { ...entry, subresources }));
}

interface GroupVersion extends JsonObject {
  readonly group: string;
  readonly version: string;
}

const scopeOf = (resource: JsonObject): string => (resource['namespaced'] === true ? 'Namespaced' : 'Cluster');

function kindOf(resource: JsonObject, { group, version }: GroupVersion): JsonObject {
  return { group: resource['group'] ?? group, version: resource['version'] ?? version, kind: textOf(resource['kind']) };
}

function resourceEntry(resource: JsonObject, place: GroupVersion): JsonObject {
  return {
    resource: textOf(resource['name']),
    responseKind: kindOf(resource, place),
    scope: scopeOf(resource),
    singularResource: textOf(resource['singularName']),
    verbs: listOf(resource['verbs']),
    ...(resource['shortNames'] === undefined ? {} : { shortNames: resource['shortNames'] }),
    ...(resource['categories'] === undefined ? {} : { categories: resource['categories'] }),
  };
}

function parentEntry(name: string, subresource: JsonObject): JsonObject {
  const responseKind = { group: '', version: '', kind: '' };
  return { resource: name, responseKind, scope: scopeOf(subresource), singularResource: '', verbs: [] };
}
