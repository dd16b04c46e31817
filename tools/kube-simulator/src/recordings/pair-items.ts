import type { Json, JsonObject } from '../api-object.js';
import type { Bindings } from './bindings.js';
import { isJsonObject } from './transcript.js';

const HASH_LABELS = ['pod-template-hash', 'controller-revision-hash'];

/** Learns the random parts of an object's names in this run: generated suffixes, template hashes, Event names. */
export function learnNames(expected: JsonObject, got: JsonObject, bindings: Bindings): void {
  const wanted = expected['metadata'];
  const metadata = got['metadata'];
  if (!isJsonObject(wanted) || !isJsonObject(metadata)) return;
  learnHashes(wanted, metadata, bindings);
  learnPod(expected['message'], got['message'], bindings);
  const recorded = wanted['name'];
  const name = metadata['name'];
  if (typeof recorded !== 'string' || typeof name !== 'string') return;
  if (randomPartsMatch(bindings.rename(recorded), name, { generated: 'generateName' in wanted }))
    bindings.bindName(recorded, name);
}

const POD_EVENT = /^(?:Created|Deleted) pod: (.+)$/;

/** An Event about a Pod may be the only object that mentions it. */
function learnPod(expected: Json | undefined, got: Json | undefined, bindings: Bindings): void {
  if (typeof expected !== 'string' || typeof got !== 'string') return;
  const recorded = POD_EVENT.exec(expected)?.[1];
  const name = POD_EVENT.exec(got)?.[1];
  if (recorded === undefined || name === undefined) return;
  if (randomPartsMatch(bindings.rename(recorded), name, { generated: true })) bindings.bindName(recorded, name);
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

/** True if two names differ only in five generated characters, or in the sixteen after the dot of an Event's name. */
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
 * Pairs the items to compare: by position. If names, and so their order, are random, pairs items with the same known name, and the others in the
 * order of their resourceVersions.
 */
export function pairItems(expected: readonly Json[], got: readonly Json[], bindings: Bindings): [Json, Json | undefined][] {
  if (expected.length < 2 || !expected.every(hasRandomName)) return expected.map((item, index) => [item, got[index]]);
  const known = new Map(
    expected.map((item) => [item, got.find((other) => nameOf(other) === bindings.rename(nameOf(item) ?? ''))]),
  );
  const left = got.filter((item) => ![...known.values()].includes(item)).sort(byVersion);
  for (const item of [...expected].sort(byVersion)) if (known.get(item) === undefined) known.set(item, left.shift());
  return expected.map((item) => [item, known.get(item)]);
}

/** Pairs entries of managedFields by manager. */
export function pairManagers(expected: readonly Json[], got: readonly Json[]): [Json, Json | undefined][] {
  return expected.map((item) => [item, got.find((other) => managerOf(other) === managerOf(item))]);
}

function managerOf(entry: Json): string {
  if (!isJsonObject(entry)) return '';
  return JSON.stringify([entry['manager'], entry['operation'], entry['subresource'] ?? '']);
}

/** Pairs the Events that the transcript keeps with those of the same object and reason; with several, the first that arrived. */
export function pairEvents(expected: readonly Json[], got: readonly Json[], bindings: Bindings): [Json, Json | undefined][] {
  const left = [...got].sort(byVersion);
  return [...expected].sort(byVersion).map((item) => {
    const wanted = bindings.rename(subjectAndReason(item));
    const index = left.findIndex((other) => subjectAndReason(other) === wanted);
    return [item, index === -1 ? undefined : left.splice(index, 1)[0]];
  });
}

export function isEvent(item: Json): boolean {
  return isJsonObject(item) && isJsonObject(item['involvedObject']);
}

function subjectAndReason(item: Json): string {
  if (!isJsonObject(item) || !isJsonObject(item['involvedObject'])) return '';
  return `${item['involvedObject']['name'] as string} ${item['reason'] as string}`;
}

/** Pairs items of a discovery document by name, in any order; by position if they have no names. */
export function pairByName(expected: readonly Json[], got: readonly Json[]): [Json, Json | undefined][] {
  return expected.map((item, index) => {
    const name = discoveredName(item);
    return [item, name === undefined ? got[index] : got.find((other) => discoveredName(other) === name)];
  });
}

/** True for a group, a resource or a subresource in a discovery document. */
export function isDiscovered(item: Json): boolean {
  return discoveredName(item) !== undefined;
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
  const { labels } = metadata;
  const hasHash = isJsonObject(labels) && HASH_LABELS.some((label) => label in labels);
  return hasHash || 'generateName' in metadata || /\.[0-9a-f]{16}$/.test(nameOf(item) ?? '');
}

function byVersion(one: Json, other: Json): number {
  return Number(metadataOf(one)?.['resourceVersion']) - Number(metadataOf(other)?.['resourceVersion']);
}
