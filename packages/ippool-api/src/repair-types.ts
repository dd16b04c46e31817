import type { z } from 'zod';
import { fieldAt } from './describe-issue.js';

const MOST_ROUNDS = 8;
const EMPTY: Readonly<Record<string, unknown>> = { string: '', object: {} };
type Path = readonly PropertyKey[];

/**
 * A copy of the value in which every field has the right type: an empty text or object replaces a missing or wrong one, and other values of a wrong
 * type are removed. Bounds, formats and rules may still be broken. Undefined if that is impossible. The original is not changed.
 *
 * Only for finding further problems, not for use.
 */
export function repairTypes<Kind>(schema: z.ZodType<Kind>, value: unknown): Kind | undefined {
  // Copied once, not for each wrong type: every field may have one.
  const candidate = copied(value);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const parsed = schema.safeParse(candidate);
    if (parsed.success) return parsed.data;
    const wrongTypes = parsed.error.issues.filter(hidesTypes);
    // Only bounds and formats are still broken, so the value has the schema's shape.
    if (wrongTypes.length === 0) return candidate as Kind;
    for (const issue of wrongTypes) {
      const outside = outsideOfLists(issue.path);
      const isList = outside.length < issue.path.length || issue.code !== 'invalid_type';
      replace(candidate, outside, isList ? undefined : EMPTY[issue.expected]);
    }
  }
  return undefined;
}

/** True if a value has a wrong type, or a list is too long, so that zod has not checked the types of its entries. */
function hidesTypes({ code, ...issue }: z.core.$ZodIssue): boolean {
  return code === 'invalid_type' || (code === 'too_big' && 'origin' in issue && issue.origin === 'array');
}

/** Copies objects; lists are kept, because nothing in them is replaced. */
function copied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, content]) => [field, copied(content)]));
}

/** A list with a wrong entry is removed as a whole: without the entry, the others would move. */
function outsideOfLists(path: Path): Path {
  const list = path.findIndex((part) => typeof part === 'number');
  return list < 0 ? path : path.slice(0, list);
}

/** Sets the value at the path; `undefined` removes it. */
function replace(root: unknown, path: Path, by: unknown): void {
  const [part, group] = [path.at(-1), fieldAt(root, path.slice(0, -1))];
  if (part === undefined || typeof group !== 'object' || group === null || Array.isArray(group)) return;
  if (by === undefined) Reflect.deleteProperty(group, part);
  else Reflect.set(group, part, copied(by));
}
