import type { z } from 'zod';

const MOST_ROUNDS = 8;
const EMPTY: Readonly<Record<string, unknown>> = { string: '', object: {} };
type Path = readonly PropertyKey[];

/**
 * The value with every field of its type: where a text or a group of fields has to be and is not, an empty one stands; other values of a
 * wrong type are gone. Bounds, formats and rules may still be broken. Undefined where that cannot be reached.
 *
 * Not for use: for looking for what else is wrong.
 */
export function repairTypes<Kind>(schema: z.ZodType<Kind>, value: unknown): Kind | undefined {
  let candidate = value;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const parsed = schema.safeParse(candidate);
    if (parsed.success) return parsed.data;
    const wrongTypes = parsed.error.issues.filter((issue) => issue.code === 'invalid_type');
    // What is left breaks bounds and formats only, so that it has the schema's shape.
    if (wrongTypes.length === 0) return candidate as Kind;
    for (const { path, expected } of wrongTypes) {
      const outside = outsideOfLists(path);
      candidate = replaced(candidate, outside, outside.length === path.length ? EMPTY[expected] : undefined);
    }
  }
  return undefined;
}

/** A list with a wrong entry goes as a whole: without the entry, the others would have other places. */
function outsideOfLists(path: Path): Path {
  const list = path.findIndex((part) => typeof part === 'number');
  return list < 0 ? path : path.slice(0, list);
}

/** The value with another one at the path; with `undefined` nothing stands there any more. */
function replaced(value: unknown, [part, ...rest]: Path, by: unknown): unknown {
  if (part === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { [part]: former, ...others } = value as Readonly<Record<PropertyKey, unknown>>;
  const now = rest.length > 0 ? replaced(former, rest, by) : by;
  return now === undefined ? others : { ...others, [part]: now };
}
