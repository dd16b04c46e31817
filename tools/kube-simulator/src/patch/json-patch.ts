/**
 * JSON Patch. Containers on the way to what an operation changes are copied once per patch and then changed in place, so that a
 * patch of thousands of operations on one large map costs one copy of the map.
 */
import { ApiError } from '../api-error.js';
import type { Json, JsonObject } from '../api-object.js';
import { isJsonArray, isJsonObject, jsonEqual } from '../json-equal.js';
import { ownValue } from '../own-value.js';
import { setKey } from '../set-key.js';

const maxOperations = 10_000;

type MutableObject = Record<string, Json | undefined>;
type Container = MutableObject | Json[];

interface Patching {
  root: JsonObject;
  /** Containers that only this patch refers to. */
  owned: WeakSet<object>;
}

/**
 * Returns `object` after all operations. Throws ApiError 422 if one does not apply, with the same text for all, as the real server does. `replace` of
 * a missing key adds it, as there.
 *
 * Source: RFC 6902.
 */
export function applyJsonPatch(object: JsonObject, operations: Json): JsonObject {
  const patching: Patching = { root: object, owned: new WeakSet() };
  for (const operation of checkedOperations(operations)) applyOperation(patching, operation);
  return patching.root;
}

function checkedOperations(operations: Json): readonly JsonObject[] {
  if (!isJsonArray(operations)) throw undecodable(operations, '[]handlers.jsonPatchOp');
  if (operations.length > maxOperations) throw tooManyOperations(operations.length);
  for (const operation of operations) {
    if (!isJsonObject(operation)) throw undecodable(operation, 'handlers.jsonPatchOp');
  }
  return operations as readonly JsonObject[];
}

const operators: ReadonlyMap<Json | undefined, (patching: Patching, operation: JsonObject) => void> = new Map([
  ['add', (patching, operation) => add(patching, pointer(operation['path']), givenValue(operation))],
  ['replace', (patching, operation) => replace(patching, pointer(operation['path']), givenValue(operation))],
  ['remove', (patching, operation) => remove(patching, pointer(operation['path']))],
  ['test', test],
  ['move', move],
  ['copy', copy],
]);

function applyOperation(patching: Patching, operation: JsonObject): void {
  const operator = operators.get(operation['op']);
  if (operator === undefined) throw rejected();
  operator(patching, operation);
}

function test(patching: Patching, operation: JsonObject): void {
  if (!jsonEqual(read(patching.root, pointer(operation['path'])) ?? null, givenValue(operation))) throw rejected();
}

function move(patching: Patching, operation: JsonObject): void {
  const from = pointer(operation['from']);
  const value = existing(patching, from);
  remove(patching, from);
  add(patching, pointer(operation['path']), value);
}

function copy(patching: Patching, operation: JsonObject): void {
  const value = existing(patching, pointer(operation['from']));
  // From now on two places have the value: the next change copies it again.
  patching.owned = new WeakSet();
  add(patching, pointer(operation['path']), value);
}

function givenValue(operation: JsonObject): Json {
  return operation['value'] ?? null;
}

/** `/a/b~1c` as `['a', 'b/c']`. */
function pointer(path: Json | undefined): readonly string[] {
  if (typeof path !== 'string' || !path.startsWith('/')) throw rejected();
  const segments = path.slice(1).split('/');
  return path.includes('~') ? segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~')) : segments;
}

function read(root: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = root;
  for (const segment of path) {
    if (isJsonArray(value)) value = value[existingIndex(value, segment)];
    else if (isJsonObject(value)) value = ownValue(value, segment);
    else throw rejected();
  }
  return value;
}

function existing(patching: Patching, path: readonly string[]): Json {
  const value = read(patching.root, path);
  if (value === undefined) throw rejected();
  return value;
}

function add(patching: Patching, path: readonly string[], value: Json): void {
  const parent = parentOf(patching, path);
  const last = lastOf(path);
  if (Array.isArray(parent)) parent.splice(last === '-' ? parent.length : indexUpTo(parent.length, last), 0, value);
  else setKey(parent, last, value);
}

function replace(patching: Patching, path: readonly string[], value: Json): void {
  const parent = parentOf(patching, path);
  const last = lastOf(path);
  if (Array.isArray(parent)) parent[existingIndex(parent, last)] = value;
  else setKey(parent, last, value);
}

function remove(patching: Patching, path: readonly string[]): void {
  const parent = parentOf(patching, path);
  const last = lastOf(path);
  if (Array.isArray(parent)) parent.splice(existingIndex(parent, last), 1);
  else if (Object.hasOwn(parent, last)) delete parent[last];
  else throw rejected();
}

/** The container that holds the last segment of `path`, owned by this patch like all above it. */
function parentOf(patching: Patching, path: readonly string[]): Container {
  let parent: Container = own(patching, patching.root, (copy) => {
    patching.root = copy as MutableObject;
  });
  for (const segment of path.slice(0, -1)) {
    const holder: Container = parent;
    const key = Array.isArray(holder) ? String(existingIndex(holder, segment)) : segment;
    const child: Json | undefined = Object.hasOwn(holder, key) ? (holder as MutableObject)[key] : undefined;
    parent = own(patching, child, (copy) => setKey(holder as MutableObject, key, copy));
  }
  return parent;
}

function own(patching: Patching, value: Json | undefined, put: (copy: Container) => void): Container {
  if (typeof value !== 'object' || value === null) throw rejected();
  if (patching.owned.has(value)) return value as Container;
  const copy: Container = isJsonArray(value) ? [...value] : { ...(value as JsonObject) };
  patching.owned.add(copy);
  put(copy);
  return copy;
}

function lastOf(path: readonly string[]): string {
  return path[path.length - 1] ?? '';
}

function existingIndex(array: readonly Json[], segment: string): number {
  return indexUpTo(array.length - 1, segment);
}

function indexUpTo(highest: number, segment: string): number {
  if (!/^(0|[1-9]\d*)$/.test(segment)) throw rejected();
  const index = Number(segment);
  if (index > highest) throw rejected();
  return index;
}

function rejected(): ApiError {
  return new ApiError({
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
    details: {},
  });
}

function undecodable(value: Json, goType: string): ApiError {
  const type = isJsonArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return new ApiError({
    code: 400,
    reason: 'BadRequest',
    message: `error decoding patch: json: cannot unmarshal ${type} into Go value of type ${goType}`,
  });
}

function tooManyOperations(count: number): ApiError {
  return new ApiError({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: `Request entity too large: The allowed maximum operations in a JSON patch is ${maxOperations}, got ${count}`,
  });
}
