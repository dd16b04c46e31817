/**
 * How values are shared between managers: an object field by field or as a whole, a list item by item (by keys or by value) or as a
 * whole. Custom resources specify that in their schema, built-in kinds have it in a table.
 */
import type { Json, JsonObject } from '../api-object.js';
import { type StructuralSchema, structuralSchema } from '../schema/structural-schema.js';

export interface MergeSchema {
  readonly kind: 'granular' | 'atomic' | 'set' | 'list-map';
  /** The keys of an item of a `list-map`, with their default values. */
  readonly keys: readonly MergeKey[];
  readonly items: MergeSchema | undefined;
  /** Returns undefined if the schema does not have the field. */
  field(name: string): MergeSchema | undefined;
}
export interface MergeKey {
  readonly name: string;
  readonly default?: Json;
}

/** The default: objects are shared field by field, lists are not. */
const deduced: MergeSchema = { kind: 'granular', keys: [], items: undefined, field: () => deduced };
const leaf: MergeSchema = { kind: 'atomic', keys: [], items: undefined, field: () => undefined };

function granular(field: MergeSchema['field']): MergeSchema {
  return { kind: 'granular', keys: [], items: undefined, field };
}

function listMap(keys: readonly MergeKey[], items: MergeSchema): MergeSchema {
  return { kind: 'list-map', keys, items, field: () => undefined };
}

const set: MergeSchema = { kind: 'set', keys: [], items: leaf, field: () => undefined };

const metadataFields: ReadonlyMap<string, MergeSchema> = new Map<string, MergeSchema>([
  ['annotations', deduced],
  ['labels', deduced],
  ['finalizers', set],
  ['ownerReferences', listMap([{ name: 'uid' }], leaf)],
  ...[
    'creationTimestamp',
    'deletionGracePeriodSeconds',
    'deletionTimestamp',
    'generateName',
    'generation',
    'managedFields',
    'name',
    'namespace',
    'resourceVersion',
    'selfLink',
    'uid',
  ].map((name): [string, MergeSchema] => [name, leaf]),
]);
const metadata = granular((name) => metadataFields.get(name));

const custom = new WeakMap<StructuralSchema, MergeSchema>();

/** Returns how objects of a kind are shared: by `openAPIV3Schema`, or as a built-in kind if there is none. */
export function mergeSchema(schema: JsonObject | undefined): MergeSchema {
  if (schema === undefined) return builtIn;
  const root = ofSchema(structuralSchema(schema));
  return granular((name) => {
    if (name === 'metadata') return metadata;
    return name === 'apiVersion' || name === 'kind' ? leaf : root.field(name);
  });
}

function ofSchema(schema: StructuralSchema): MergeSchema {
  let made = custom.get(schema);
  if (made === undefined) {
    made = schema.types[0] === 'array' ? ofList(schema) : ofObject(schema);
    custom.set(schema, made);
  }
  return made;
}

function ofList({ listType, listMapKeys, items }: StructuralSchema): MergeSchema {
  if (listType === 'set') return set;
  if (listType === 'atomic' || items === undefined) return leaf;
  const keys = listMapKeys.map((name): MergeKey => {
    const value = items.properties.get(name)?.default;
    return value === undefined ? { name } : { name, default: value };
  });
  return listMap(keys, ofSchema(items));
}

function ofObject(schema: StructuralSchema): MergeSchema {
  if (schema.mapType === 'atomic') return leaf;
  if (schema.embeddedResource) return deduced;
  const { properties, additionalProperties, preserveUnknownFields } = schema;
  return granular((name) => {
    const field = properties.get(name) ?? additionalProperties;
    if (field === undefined) return preserveUnknownFields ? deduced : undefined;
    return field === true ? deduced : ofSchema(field);
  });
}

const keyed = (...names: string[]): readonly MergeKey[] => names.map((name) => ({ name }));
const protocol: MergeKey = { name: 'protocol', default: 'TCP' };

/** Lists of built-in kinds whose items are distinguished by keys; `container.ports` is the field `ports` of such an item. */
const builtInLists: ReadonlyMap<string, readonly MergeKey[]> = new Map([
  ['addresses', keyed('type')],
  ['conditions', keyed('type')],
  ['containers', keyed('name')],
  ['containers.ports', [{ name: 'containerPort' }, protocol]],
  ['env', keyed('name')],
  ['ephemeralContainers', keyed('name')],
  ['hostAliases', keyed('ip')],
  ['imagePullSecrets', keyed('name')],
  ['initContainers', keyed('name')],
  ['initContainers.ports', [{ name: 'containerPort' }, protocol]],
  ['podIPs', keyed('ip')],
  ['ports', [{ name: 'port' }, protocol]],
  ['resourceClaims', keyed('name')],
  ['secrets', keyed('name')],
  ['topologySpreadConstraints', keyed('topologyKey', 'whenUnsatisfiable')],
  ['volumeDevices', keyed('devicePath')],
  ['volumeMounts', keyed('mountPath')],
  ['volumes', keyed('name')],
  ['webhooks', keyed('name')],
]);
/** Objects of built-in kinds that are one value. */
const builtInAtoms: ReadonlySet<string> = new Set([
  'configMapKeyRef',
  'fieldRef',
  'labelSelector',
  'namespaceSelector',
  'nodeSelector',
  'objectSelector',
  'involvedObject',
  'regarding',
  'resourceFieldRef',
  'roleRef',
  'scopeSelector',
  'secretKeyRef',
  'targetRef',
  'webhooks.clientConfig',
]);

const builtInFields = new Map<string, MergeSchema>();

/** The schema of `name` below a list or field called `parent`. */
function builtInField(parent: string, name: string): MergeSchema {
  const place = `${parent}.${name}`;
  let made = builtInFields.get(place);
  if (made === undefined) {
    made = makeBuiltInField(parent, name);
    builtInFields.set(place, made);
  }
  return made;
}

function makeBuiltInField(parent: string, name: string): MergeSchema {
  const place = `${parent}.${name}`;
  if (name === 'metadata') return metadata;
  if (builtInAtoms.has(name) || builtInAtoms.has(place)) return leaf;
  // A LabelSelector is one value, a Service's selector is not, but is never applied in parts either.
  if (place === 'spec.selector') return leaf;
  const object = granular((field) => builtInField(name, field));
  const keys = builtInLists.get(place) ?? builtInLists.get(name);
  return keys === undefined ? object : listMap(keys, object);
}

const builtIn: MergeSchema = granular((name) => builtInField('', name));
