import type { z } from 'zod';
import { valueAt } from './describe-issue.js';

const MOST_ROUNDS = 8;
const EMPTY: Readonly<Record<string, unknown>> = { string: '', object: {} };
type Path = readonly PropertyKey[];

/**
 * The value with every field of its type: where a text or a group of fields has to be and is not, an empty one stands; other values of a
 * wrong type are gone. Bounds, formats and rules may still be broken. Undefined where that cannot be reached. The value given stays as it is.
 *
 * Not for use: for looking for what else is wrong.
 */
export function repairTypes<Kind>(schema: z.ZodType<Kind>, value: unknown): Kind | undefined {
  // One copy, and not one for each wrong type: there may be as many of them as fields.
  const candidate = copied(value);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const parsed = schema.safeParse(candidate);
    if (parsed.success) return parsed.data;
    const wrongTypes = parsed.error.issues.filter(hidesTypes);
    // What is left breaks bounds and formats only, so that it has the schema's shape.
    if (wrongTypes.length === 0) return candidate as Kind;
    for (const issue of wrongTypes) {
      const outside = outsideOfLists(issue.path);
      const isList = outside.length < issue.path.length || issue.code !== 'invalid_type';
      replace(candidate, outside, isList ? undefined : EMPTY[issue.expected]);
    }
  }
  return undefined;
}

/** True if a value is of a wrong type, or a list is too long: then the types of its entries have not been looked at. */
function hidesTypes({ code, ...issue }: z.core.$ZodIssue): boolean {
  return code === 'invalid_type' || (code === 'too_big' && 'origin' in issue && issue.origin === 'array');
}

/** The groups of fields again; lists stay, since nothing is replaced in them. */
function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, content]) => [field, copied(content)]));
}

/** A list with a wrong entry goes as a whole: without the entry, the others would have other places. */
function outsideOfLists(path: Path): Path {
  const list = path.findIndex((part) => typeof part === 'number');
  return list < 0 ? path : path.slice(0, list);
}

/** Puts another value at the path; with `undefined` nothing stands there any more. */
function replace(root: unknown, path: Path, by: unknown): void {
  const [part, group] = [path.at(-1), valueAt(root, path.slice(0, -1))];
  if (part === undefined || typeof group !== 'object' || group === null || Array.isArray(group)) return;
  if (by === undefined) Reflect.deleteProperty(group, part);
  else Reflect.set(group, part, copied(by));
}
