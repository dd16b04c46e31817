import type { ApiObject, Json, JsonObject } from '../api-object.js';
import { jsonEqual } from '../json-equal.js';
import { section } from '../json-parts.js';
import type { ObjectStore } from '../store/object-store.js';
import { customResourceDefinition } from './core/custom-resource-definition.js';
import { customResourceTypes } from './custom-resource-type.js';
import type { ResourceRegistry } from './resource-registry.js';
import type { ResourceType } from './resource-type.js';

/** Serves the kinds of all established CustomResourceDefinitions, now and after every change. Returns a function that stops this. */
export function serveCustomResources(store: ObjectStore, registry: ResourceRegistry): () => void {
  const definitions = store.collection(customResourceDefinition.storage);
  /** Compiling a schema is expensive: only a changed definition is compiled again. */
  const known = new Map<
    string,
    { readonly spec: Json | undefined; readonly names: string; readonly types: readonly ResourceType[] }
  >();
  const refresh = (): void => {
    const types: ResourceType[] = [];
    for (const [key, { object }] of definitions.entries()) {
      if (!isEstablished(object)) continue;
      const names = JSON.stringify(section(section(object, 'status'), 'acceptedNames'));
      const before = known.get(key);
      const current =
        before !== undefined && jsonEqual(before.spec, object['spec']) && before.names === names
          ? before
          : { spec: object['spec'], names, types: customResourceTypes(object) };
      known.set(key, current);
      types.push(...current.types);
    }
    registry.replaceCustom(types);
  };
  refresh();
  return definitions.listen(refresh);
}

function isEstablished(definition: ApiObject): boolean {
  const conditions = (section(definition, 'status')['conditions'] ?? []) as readonly JsonObject[];
  return conditions.some((condition) => condition['type'] === 'Established' && condition['status'] === 'True');
}
