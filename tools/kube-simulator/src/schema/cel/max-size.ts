/** The maximum size of a value of a schema, from which the cost of a rule is estimated. */
import { textOf } from '../../json-parts.js';
import type { StructuralSchema } from '../structural-schema.js';

/** The maximum size of a request in bytes, less two for the quotes or brackets around a value. */
const largestRequest = 3 * 1024 * 1024 - 2;

const formatLengths: ReadonlyMap<string, number> = new Map([
  ['date', 10],
  ['date-time', 35],
  ['duration', 36],
]);

/** Returns the bytes of a string, the items of a list, the entries of a map; 1 for everything else. */
export function maxSize(schema: StructuralSchema): number {
  const { types, bounds } = schema;
  if (types.includes('string')) return maxStringSize(schema);
  if (types[0] === 'array') return bounds.maxItems ?? Math.floor(largestRequest / (minSerialized(schema.items) + 1));
  const entries = schema.additionalProperties;
  if (types[0] !== 'object' || entries === undefined) return 1;
  return bounds.maxProperties ?? Math.floor(largestRequest / (minSerialized(entries === true ? undefined : entries) + 6));
}

function maxStringSize({ bounds, format, enum: words }: StructuralSchema): number {
  if (words !== undefined) return Math.max(...words.map((word) => textOf(word).length));
  // A character takes up to four bytes.
  if (bounds.maxLength !== undefined) return bounds.maxLength * 4;
  return formatLengths.get(format) ?? largestRequest;
}

/** The bytes that the shortest value takes as JSON. */
function minSerialized(schema: StructuralSchema | undefined): number {
  const type = schema?.types.length === 1 ? schema.types[0] : undefined;
  return type === 'object' ? 2 + requiredSize(schema) : ((type && shortest.get(type)) ?? 1);
}

function requiredSize(schema: StructuralSchema | undefined): number {
  return (schema?.required ?? []).reduce((sum, key) => sum + key.length + 4 + minSerialized(schema?.properties.get(key)), 0);
}

const shortest: ReadonlyMap<string, number> = new Map([
  ['string', 2],
  ['array', 2],
  ['boolean', 4],
]);
