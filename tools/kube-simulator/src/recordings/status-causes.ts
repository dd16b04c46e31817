import type { Json, JsonObject } from '../api-object.js';
import { isJsonObject } from './transcript.js';

/** True for a Status whose causes may stand in any order: the real server walks schemas in the random order of Go maps. */
export function comparesAsStatus(expected: JsonObject): boolean {
  return expected['kind'] === 'Status' && causesOf(expected).length > 1;
}

/**
 * The expected Status with its causes in the order of the other Status, if both have the same causes; its message lists them in the same order. A
 * final cause about rules that were not checked stays last.
 */
export function withCausesInOrder(expected: JsonObject, got: JsonObject): JsonObject {
  const causes = causesOf(expected);
  const gotCauses = causesOf(got);
  const details = expected['details'];
  const message = expected['message'];
  if (!isJsonObject(details) || typeof message !== 'string' || !sameCauses(causes, gotCauses)) return expected;
  const list = `[${causes.map(asText).join(', ')}]`;
  if (!message.includes(list)) return expected;
  const reordered = `[${gotCauses.map(asText).join(', ')}]`;
  return { ...expected, message: message.split(list).join(reordered), details: { ...details, causes: [...gotCauses] } };
}

function causesOf(status: JsonObject): readonly JsonObject[] {
  const details = status['details'];
  const causes = isJsonObject(details) ? details['causes'] : undefined;
  return Array.isArray(causes) ? (causes as JsonObject[]) : [];
}

function sameCauses(one: readonly JsonObject[], other: readonly JsonObject[]): boolean {
  const texts = (causes: readonly JsonObject[]): string[] => causes.map((cause) => JSON.stringify(sortedKeys(cause))).sort();
  if (one.at(-1)?.['field'] === '<nil>' && other.at(-1)?.['field'] !== '<nil>') return false;
  return texts(one).join('\n') === texts(other).join('\n');
}

function sortedKeys(cause: JsonObject): Json {
  return Object.fromEntries(Object.entries(cause).sort(([key], [otherKey]) => (key < otherKey ? -1 : 1)));
}

function asText({ field, message }: JsonObject): string {
  return `${field as string}: ${message as string}`;
}
