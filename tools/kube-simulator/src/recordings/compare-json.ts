import type { Json, JsonObject } from '../api-object.js';
import type { Bindings } from './bindings.js';
import { textMatches } from './compare-text.js';
import { isDiscovered, isEvent, learnNames, pairByName, pairEvents, pairItems, pairManagers } from './pair-items.js';
import { isLeftOut } from './placeholders.js';
import { findReduced, isPartOfInterest, isReduced, reduceMetadata, sizeOfGap, withoutMarks } from './reduced-object.js';
import type { VersionOf } from './resource-version-order.js';
import { comparesAsStatus, withCausesInOrder } from './status-causes.js';
import { isJsonObject } from './transcript.js';

/** One place where the answer differs from the recorded one. */
export interface Difference {
  /** Such as `body.metadata.generation` or `events[3].type`. */
  readonly where: string;
  readonly expected: string;
  readonly got: string;
}

/** The place of two values in an answer, and what is known about the values of this run. */
export interface Place {
  readonly where: string;
  readonly bindings: Bindings;
  /** True for the only scenario whose transcript keeps managedFields. */
  readonly keepManagedFields: boolean;
  /** True if the transcript keeps only the used parts: objects may have more keys, discovery more items. */
  readonly isPart?: boolean;
  /** The recorded uid of the object whose metadata this is. */
  readonly uid?: string;
}

/** Every place where `got` differs from `expected`. Binds placeholders on the way. */
export function compareJson(expected: Json | undefined, got: Json | undefined, at: Place): Difference[] {
  if (expected === undefined || got === undefined) return expected === got ? [] : differs(expected, got, at);
  if (isLeftOut(expected)) return [];
  if (typeof expected === 'string') return compareText(expected, got, at);
  if (Array.isArray(expected)) return compareArrays(expected, got, at);
  if (isJsonObject(expected)) return compareObjects(expected, got, at);
  return Object.is(expected, got) ? [] : differs(expected, got, at);
}

function below(at: Place, step: string): Place {
  return { ...at, where: `${at.where}${step}` };
}

function differs(expected: Json | undefined, got: Json | undefined, { where }: Place): Difference[] {
  return [{ where, expected: show(expected), got: show(got) }];
}

function show(value: Json | undefined): string {
  return value === undefined ? 'absent' : JSON.stringify(value);
}

function compareText(expected: string, got: Json, at: Place): Difference[] {
  // A list of which only the names were kept.
  const text = isJsonObject(got) && isJsonObject(got['metadata']) ? got['metadata']['name'] : got;
  if (typeof text !== 'string') return differs(expected, got, at);
  if (at.where.endsWith('.resourceVersion') && /^\d+$/.test(expected)) return compareVersion([expected, text], 'object', at);
  if (isAge(expected, text, at)) return [];
  if (!textMatches(learnVolume(expected, text, at), text, at.bindings)) return differs(expected, text, at);
  at.bindings.bindTime({ uid: at.uid ?? '', field: at.where.slice(at.where.lastIndexOf('.') + 1) }, expected, text);
  return [];
}

/** The only generated name that does not name an object: the volume of a Pod's token. */
const TOKEN_VOLUME = 'kube-api-access-';

function learnVolume(expected: string, text: string, { bindings }: Place): string {
  if (expected.startsWith(TOKEN_VOLUME) && text.startsWith(TOKEN_VOLUME)) bindings.bindName(expected, text);
  return expected;
}

/** Ages in a table depend on the current time. */
function isAge(expected: string, text: string, { where }: Place): boolean {
  return where.includes('.cells[') && /^\d+[smh]$/.test(expected) && /^\d+[smh]$/.test(text);
}

function compareVersion(
  [recorded, got]: readonly [string, string],
  of: VersionOf,
  { where, bindings, uid }: Place,
): Difference[] {
  const contradiction = bindings.versions.learn([recorded, got], of, uid);
  return contradiction === undefined ? [] : [{ where, expected: `${recorded} in order`, got: `${got}: ${contradiction}` }];
}

function compareArrays(expected: readonly Json[], got: Json, at: Place): Difference[] {
  if (!Array.isArray(got)) return differs(expected, got, at);
  const items = got as readonly Json[];
  const gap = expected.findIndex((item) => sizeOfGap(item) !== undefined);
  if (gap !== -1) return compareAroundGap({ expected, gap }, items, at);
  const isDiscovery = DISCOVERY_LIST.test(at.where) && expected.every(isDiscovered);
  const pairs = isDiscovery ? pairByName(expected, items) : pairItemsOf(expected, items, at);
  const differences = pairs.flatMap(([wanted, item], index) => compareJson(wanted, item, below(at, `[${index}]`)));
  if (at.isPart === true && (isDiscovery || at.where === 'body.items')) return differences;
  return [...compareJson(expected.length, items.length, below(at, '.length')), ...differences];
}

function pairItemsOf(
  expected: readonly Json[],
  items: readonly Json[],
  { where, bindings, isPart }: Place,
): [Json, Json | undefined][] {
  // They are ordered by time, and it is chance whether two times are in the same second.
  if (where.endsWith('.managedFields')) return pairManagers(expected, items);
  return isPart === true && expected.some(isEvent) ? pairEvents(expected, items, bindings) : pairItems(expected, items, bindings);
}

/** Lists of groups, resources and subresources: their order does not matter. */
const DISCOVERY_LIST = /^body\.(groups|resources|items(\[\d+\]\.versions\[\d+\]\.resources(\[\d+\]\.subresources)?)?)$/;

/** `[a, b, {"<trimmed>": "150 events in all"}, y, z]`: the number, and both ends. */
function compareAroundGap(
  { expected, gap }: { readonly expected: readonly Json[]; readonly gap: number },
  got: readonly Json[],
  at: Place,
): Difference[] {
  const total = sizeOfGap(expected[gap] ?? null) ?? 0;
  if (total !== got.length) return compareJson(total, got.length, below(at, '.length'));
  const after = expected.length - gap - 1;
  const ends = [...got.slice(0, gap), ...got.slice(got.length - after)];
  return compareArrays([...expected.slice(0, gap), ...expected.slice(gap + 1)], ends, at);
}

function compareObjects(marked: JsonObject, got: Json, at: Place): Difference[] {
  if (!isJsonObject(got)) return differs(marked, got, at);
  learnNames(marked, got, at.bindings);
  const isWhole = !isReduced(marked) && at.isPart !== true;
  const kept = isWhole ? marked : reduceMetadata(withoutMarks(marked));
  const expected = comparesAsStatus(kept) ? withCausesInOrder(kept, got) : kept;
  const keys = new Set([...Object.keys(expected), ...(isWhole ? Object.keys(got) : [])]);
  if (!at.keepManagedFields) keys.delete('managedFields');
  const isList = isListOrBookmark(expected);
  const inside = { ...at, isPart: at.isPart === true || isPartOfInterest(marked), uid: uidOf(expected) ?? at.uid ?? '' };
  return [...keys].flatMap((key) => {
    const value = isWhole ? got[key] : findReduced(got, key);
    const there = below(inside, `.${key}`);
    return key === 'metadata' && isList
      ? compareListMetadata(expected[key], value, there)
      : compareJson(expected[key], value, there);
  });
}

function uidOf({ metadata }: JsonObject): string | undefined {
  const uid = isJsonObject(metadata) ? metadata['uid'] : undefined;
  return typeof uid === 'string' ? uid : undefined;
}

/** Their resourceVersion is the current one, not that of an object. */
function isListOrBookmark({ kind, metadata }: JsonObject): boolean {
  if (typeof kind !== 'string') return false;
  if (kind === 'Table' || kind.endsWith('List')) return true;
  return isJsonObject(metadata) && Object.keys(metadata).every((key) => key === 'resourceVersion' || key === 'annotations');
}

function compareListMetadata(expected: Json | undefined, got: Json | undefined, at: Place): Difference[] {
  if (!isJsonObject(expected) || !isJsonObject(got)) return compareJson(expected, got, at);
  const { resourceVersion: wanted, ...expectedRest } = expected;
  const { resourceVersion: version, ...gotRest } = got;
  const rest = compareJson(expectedRest, gotRest, at);
  const there = below(at, '.resourceVersion');
  if (typeof wanted !== 'string' || typeof version !== 'string') return [...compareJson(wanted, version, there), ...rest];
  return [...compareVersion([wanted, version], 'list', there), ...rest];
}
