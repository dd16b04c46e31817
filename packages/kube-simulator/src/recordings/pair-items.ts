import type { Json, JsonObject } from '../api-object.js';
import type { Bindings } from './bindings.js';
import { isJsonObject } from './transcript.js';

const HASH_LABELS = ['pod-template-hash', 'controller-revision-hash'];

/** Learns which random parts of an object's names are others here: generated suffixes, template hashes, Event names. */
export function learnNames(expected: JsonObject, got: JsonObject, bindings: Bindings): void {
  const wanted = expected['metadata'];
  const metadata = got['metadata'];
  if (!isJsonObject(wanted) || !isJsonObject(metadata)) return;
  learnHashes(wanted, metadata, bindings);
  const recorded = wanted['name'];
  const name = metadata['name'];
  if (typeof recorded !== 'string' || typeof name !== 'string') return;
  if (randomPartsMatch(bindings.rename(recorded), name, { generated: 'generateName' in wanted }))
    bindings.bindName(recorded, name);
}

function learnHashes(wanted: JsonObject, metadata: JsonObject, bindings: Bindings): void {
  const labels = wanted['labels'];
  const gotLabels = metadata['labels'];
  if (!isJsonObject(labels) || !isJsonObject(gotLabels)) return;
  for (const label of HASH_LABELS) {
    const recorded = labels[label];
    const got = gotLabels[label];
    if (typeof recorded === 'string' && typeof got === 'string') bindings.bindName(recorded, got);
  }
}

/** True when two names are the same but for five generated characters, or an Event's sixteen after the dot. */
function randomPartsMatch(recorded: string, name: string, { generated }: { readonly generated: boolean }): boolean {
  const length = generated ? 5 : 16;
  const stem = recorded.slice(0, -length);
  if (!name.startsWith(stem) || name.length !== recorded.length) return false;
  return generated
    ? isLowercaseWord(name.slice(stem.length))
    : stem.endsWith('.') && /^[0-9a-f]{16}$/.test(name.slice(stem.length));
}

function isLowercaseWord(text: string): boolean {
  return /^[0-9a-z]+$/.test(text);
}

/**
 * Which item is compared with which: those with the same name where names are known, else in the order of their
 * resourceVersions where names are random (their order by name is random too), else by position.
 */
export function pairItems(expected: readonly Json[], got: readonly Json[], bindings: Bindings): [Json, Json | undefined][] {
  const inOrder = expected.map((item, index): [Json, Json | undefined] => [item, got[index]]);
  const names = expected.map((item) => nameOf(item));
  if (names.length < 2 || names.includes(undefined)) return inOrder;
  const known = names.map((name) => got.find((item) => nameOf(item) === bindings.rename(name ?? '')));
  const isRenamed = names.some((name) => bindings.rename(name ?? '') !== name);
  if (isRenamed && !known.includes(undefined)) return expected.map((item, index) => [item, known[index]]);
  if (!known.includes(undefined) || got.length !== expected.length || !expected.some((item) => hasRandomName(item)))
    return inOrder;
  const wanted = [...expected].sort(byVersion);
  const items = [...got].sort(byVersion);
  return wanted.map((item, index) => [item, items[index]]);
}

/** Items of a discovery document, each with the one of the same name, in whatever order; by position where they have none. */
export function pairByName(expected: readonly Json[], got: readonly Json[]): [Json, Json | undefined][] {
  return expected.map((item, index) => {
    const name = discoveredName(item);
    return [item, name === undefined ? got[index] : got.find((other) => discoveredName(other) === name)];
  });
}

function discoveredName(item: Json): Json | undefined {
  if (!isJsonObject(item)) return undefined;
  // The core group has no name.
  if ('versions' in item && 'metadata' in item) return nameOf(item) ?? '';
  return item['subresource'] ?? item['resource'] ?? item['name'];
}

function metadataOf(item: Json | undefined): JsonObject | undefined {
  return isJsonObject(item) && isJsonObject(item['metadata']) ? item['metadata'] : undefined;
}

function nameOf(item: Json | undefined): string | undefined {
  const name = metadataOf(item)?.['name'];
  return typeof name === 'string' ? name : undefined;
}

function hasRandomName(item: Json): boolean {
  const metadata = metadataOf(item);
  if (metadata === undefined) return false;
  return 'generateName' in metadata || /\.[0-9a-f]{16}$/.test(nameOf(item) ?? '');
}

function byVersion(one: Json, other: Json): number {
  return Number(metadataOf(one)?.['resourceVersion']) - Number(metadataOf(other)?.['resourceVersion']);
}
