import type { Json, JsonObject } from '../api-object.js';
import { isJsonObject } from './transcript.js';

const MARK = '<trimmed>';

/**
 * True when a transcript keeps only some keys of an object: it is marked so, or it is an object that no API server sends
 * (with a kind, but no apiVersion; with metadata and nothing else, or metadata without uid and no kind).
 */
export function isReduced(expected: JsonObject): boolean {
  if (MARK in expected) return true;
  const { kind, metadata } = expected;
  if (kind !== undefined) return !('apiVersion' in expected) && ('metadata' in expected || 'items' in expected);
  if (!isJsonObject(metadata)) return false;
  return !('uid' in metadata) || Object.keys(expected).length === 1;
}

/** True if the kept part of an object is reduced too. */
export function isPartOfInterest(expected: JsonObject): boolean {
  return expected[MARK] === 'only parts of interest';
}

export function withoutMarks(expected: JsonObject): JsonObject {
  const { [MARK]: _, ...kept } = expected;
  return kept;
}

/** The metadata of a reduced object is reduced too if it has no uid. */
export function reduceMetadata(expected: JsonObject): JsonObject {
  const { metadata } = expected;
  return isJsonObject(metadata) && !('uid' in metadata) ? { ...expected, metadata: { ...metadata, [MARK]: true } } : expected;
}

/** The value of a key of a reduced object: at its place, else the nearest below, because transcripts move interesting parts up. */
export function findReduced(object: JsonObject, key: string): Json | undefined {
  let level: readonly Json[] = [object];
  while (level.length > 0) {
    const holder = level.find((value) => isJsonObject(value) && key in value);
    if (isJsonObject(holder)) return holder[key];
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : [])) as Json[];
  }
  return undefined;
}

/** The number of items in all, for the item that stands for those left out in the middle of a list. */
export function sizeOfGap(item: Json): number | undefined {
  if (!isJsonObject(item) || Object.keys(item).join() !== MARK) return undefined;
  const text = item[MARK];
  return typeof text === 'string' ? Number.parseInt(text, 10) : undefined;
}
