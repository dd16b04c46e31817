/**
 * Strategic merge patch of built-in kinds: lists whose items have a key are merged item by item. Directives: `$patch` (`delete`,
 * `replace`, `merge`), `$retainKeys`, `$setElementOrder/<list>`, `$deleteFromPrimitiveList/<list>`.
 */
import { ApiError } from '../api-error.js';
import type { Json, JsonObject } from '../api-object.js';
import { isJsonArray, isJsonObject, jsonEqual } from '../json-equal.js';
import { listOf } from '../json-parts.js';
import { ownValue } from '../own-value.js';
import { setKey } from '../set-key.js';

/** The key of the items of a list, by the list's name, or by the name of the enclosing list or field and its own. */
const mergeKeys: ReadonlyMap<string, string> = new Map([
  ['addresses', 'type'],
  ['conditions', 'type'],
  ['containers', 'name'],
  ['containers.ports', 'containerPort'],
  ['env', 'name'],
  ['ephemeralContainers', 'name'],
  ['hostAliases', 'ip'],
  ['imagePullSecrets', 'name'],
  ['initContainers', 'name'],
  ['initContainers.ports', 'containerPort'],
  ['ownerReferences', 'uid'],
  ['podIPs', 'ip'],
  ['ports', 'port'],
  ['resourceClaims', 'name'],
  ['schedulingGates', 'name'],
  ['secrets', 'name'],
  ['topologySpreadConstraints', 'topologyKey'],
  ['volumeDevices', 'devicePath'],
  ['volumeMounts', 'mountPath'],
  ['volumes', 'name'],
  ['webhooks', 'name'],
]);
/** Lists of plain values that are merged. */
const mergedValues: ReadonlySet<string> = new Set(['finalizers', 'podCIDRs']);

const orderDirective = '$setElementOrder/';
const deleteDirective = '$deleteFromPrimitiveList/';

/** Returns `object` with the patch applied. Unchanged parts are shared with `object`. */
export function applyStrategicMergePatch(object: JsonObject, patch: Json): JsonObject {
  if (!isJsonObject(patch)) {
    const type = isJsonArray(patch) ? 'array' : typeof patch;
    throw badRequest(`error decoding patch: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`);
  }
  return mergeObject(object, patch, '');
}

function badRequest(message: string): ApiError {
  return new ApiError({ code: 400, reason: 'BadRequest', message });
}

/** @param name the name of the field or list that contains the object. */
function mergeObject(target: JsonObject, patch: JsonObject, name: string): JsonObject {
  const directive = patch['$patch'];
  if (directive === 'delete') return {};
  if (directive === 'replace') return mergeObject({}, without(patch, '$patch'), name);
  if (directive !== undefined && directive !== 'merge')
    throw badRequest(`Unknown patch type found: ${JSON.stringify(directive)}`);
  const merged: Record<string, Json | undefined> = { ...retained(target, patch) };
  for (const key of fieldsOf(patch)) {
    const before = ownValue(merged, key);
    const after = mergeField(before, { patch, key, parent: name });
    if (after === undefined) delete merged[key];
    else setKey(merged, key, after);
  }
  return jsonSharing(target, merged);
}

/** The fields that a patch names, also if only in a directive. */
function fieldsOf(patch: JsonObject): Set<string> {
  const fields = new Set<string>();
  for (const key of Object.keys(patch)) {
    if (!key.startsWith('$')) fields.add(key);
    else if (key.startsWith(orderDirective) || key.startsWith(deleteDirective)) fields.add(key.slice(key.indexOf('/') + 1));
  }
  return fields;
}

function retained(target: JsonObject, patch: JsonObject): JsonObject {
  const keys = patch['$retainKeys'];
  if (!isJsonArray(keys)) return target;
  return Object.fromEntries(Object.entries(target).filter(([key]) => keys.includes(key)));
}

function without(object: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
}

/** Returns `target` if nothing changed. */
function jsonSharing(target: JsonObject, merged: JsonObject): JsonObject {
  const keys = Object.keys(merged);
  return keys.length === Object.keys(target).length && keys.every((key) => merged[key] === ownValue(target, key))
    ? target
    : merged;
}

interface FieldPatch {
  readonly patch: JsonObject;
  readonly key: string;
  readonly parent: string;
}

/** Returns undefined if the field must be removed. */
function mergeField(before: Json | undefined, field: FieldPatch): Json | undefined {
  const value = ownValue(field.patch, field.key);
  if (value === null) return undefined;
  if (isJsonArray(value) || (value === undefined && isJsonArray(before))) return mergeList(before, value, field);
  if (value === undefined) return before;
  if (isJsonObject(value)) return mergeObject(isJsonObject(before) ? before : {}, value, field.key);
  return before !== undefined && jsonEqual(before, value) ? before : value;
}

/** Without a value there are only directives. */
function mergeList(
  before: Json | undefined,
  value: readonly Json[] | undefined,
  { patch, key, parent }: FieldPatch,
): Json | undefined {
  const order = patch[orderDirective + key];
  if (mergedValues.has(key)) {
    return mergeValues(listOf(before), value ?? [], { order, deleted: listOf(patch[deleteDirective + key]) });
  }
  const mergeKey = mergeKeys.get(`${parent}.${key}`) ?? mergeKeys.get(key);
  if (mergeKey !== undefined) return mergeItems(listOf(before), value ?? [], { name: key, mergeKey, order });
  return value === undefined || (before !== undefined && jsonEqual(before, value)) ? before : value;
}

interface ValueDirectives {
  readonly order: Json | undefined;
  readonly deleted: readonly Json[];
}

function mergeValues(current: readonly Json[], patch: readonly Json[], { order, deleted }: ValueDirectives): readonly Json[] {
  const added = patch.filter((value) => !current.includes(value));
  const values = [...current, ...added].filter((value) => !deleted.includes(value));
  const named = isJsonArray(order) ? order : patch;
  return inOrder(values, { order: named.map(String), live: current.map(String), keyOf: String });
}

interface ItemList {
  readonly name: string;
  readonly mergeKey: string;
  readonly order: Json | undefined;
}

function mergeItems(current: readonly Json[], patch: readonly Json[], list: ItemList): readonly Json[] {
  const keyOf = (item: Json): string => itemKey(item, list);
  const replaces = patch.some(
    (item) => isJsonObject(item) && item['$patch'] === 'replace' && ownValue(item, list.mergeKey) === undefined,
  );
  const changes = patch.filter(
    (item) => !(isJsonObject(item) && ownValue(item, list.mergeKey) === undefined && '$patch' in item),
  );
  const items = new Map((replaces ? [] : current).map((item) => [keyOf(item), item]));
  for (const change of changes) {
    if (!isJsonObject(change))
      throw badRequest(`map: ${JSON.stringify(change)} does not contain declared merge key: ${list.mergeKey}`);
    const key = keyOf(change);
    if (change['$patch'] === 'delete') items.delete(key);
    else items.set(key, mergeObject(replacedItem(items.get(key), change), without(change, '$patch'), list.name));
  }
  const order = (isJsonArray(list.order) ? list.order : changes).map(keyOf);
  return inOrder([...items.values()], { order, live: current.map(keyOf), keyOf });
}

function replacedItem(item: Json | undefined, change: JsonObject): JsonObject {
  return isJsonObject(item) && change['$patch'] !== 'replace' ? item : {};
}

function itemKey(item: Json, { mergeKey }: ItemList): string {
  const key = isJsonObject(item) ? ownValue(item, mergeKey) : undefined;
  if (key === undefined) throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`);
  return JSON.stringify(key);
}

interface Order {
  /** The items in the order of the patch. */
  readonly order: readonly string[];
  /** The items before the patch. */
  readonly live: readonly string[];
  readonly keyOf: (item: Json) => string;
}

/**
 * Returns the items that the patch names, in the order of the patch. Every other item stays before the first named item that it preceded, or goes to
 * the end.
 */
function inOrder(items: readonly Json[], { order, live, keyOf }: Order): readonly Json[] {
  const positions = new Map(live.map((key, index) => [key, index]));
  const ranks = new Map(order.map((key, index) => [key, index]));
  const rank = (item: Json): number => ranks.get(keyOf(item)) ?? 0;
  const named = items.filter((item) => ranks.has(keyOf(item))).toSorted((a, b) => rank(a) - rank(b));
  const others = items.filter((item) => !ranks.has(keyOf(item)));
  const result: Json[] = [];
  let next = 0;
  for (const item of named) {
    const position = positions.get(keyOf(item));
    for (let other = others[next]; other !== undefined && isBefore(positions.get(keyOf(other)), position); other = others[next]) {
      result.push(other);
      next++;
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

function isBefore(position: number | undefined, other: number | undefined): boolean {
  return position !== undefined && other !== undefined && position < other;
}
