import { z } from 'zod';

/** A field that a schema does not have. */
export interface UnknownField {
  readonly reason: 'unknown-field';
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  readonly message: string;
  readonly remedy: string;
  /** The field of the schema that this one is probably a misspelling of. */
  readonly suggestion?: string;
}

/** A person corrects the first ones and looks again. To find a suggestion for each of many thousands would take seconds. */
const MOST_FIELDS = 100;

/** Fields of a value that its schema does not have, at any depth: the first 100. Fields of `status`, which people do not write, are never called misspelled. */
export function unknownFields(schema: unknown, value: unknown): UnknownField[] {
  const found: UnknownField[] = [];
  collect(schema, { value, path: [] }, found);
  return found;
}

interface Place {
  readonly value: unknown;
  readonly path: readonly (string | number)[];
}

function collect(schema: unknown, { value, path }: Place, found: UnknownField[]): void {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(inner.element, { value: item, path: [...path, index] }, found);
  } else if (inner instanceof z.ZodObject && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    collectOfGroup(inner, { value, path }, found);
  }
}

function collectOfGroup(inner: z.ZodObject, { value, path }: Place & { readonly value: object }, found: UnknownField[]): void {
  const shape = inner.shape as Readonly<Record<string, unknown>>;
  const isOpen = inner.def.catchall instanceof z.ZodUnknown;
  for (const [field, content] of Object.entries(value)) {
    if (found.length === MOST_FIELDS) return;
    if (Object.hasOwn(shape, field)) collect(shape[field], { value: content, path: [...path, field] }, found);
    else if (!isOpen) found.push(toUnknownField([...path, field], content, Object.keys(shape)));
  }
}

function toUnknownField(path: readonly (string | number)[], value: unknown, known: readonly string[]): UnknownField {
  const field = { reason: 'unknown-field', path, value, message: 'is not a known field' } as const;
  const suggestion = path[0] === 'status' ? undefined : closestName(String(path.at(-1)), known);
  if (suggestion === undefined) return { ...field, remedy: 'correct its name or remove it' };
  return { ...field, remedy: `did you mean ${suggestion}?`, suggestion };
}

function unwrap(schema: unknown): unknown {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) inner = inner.unwrap();
  return inner;
}

/** Short names, up to four characters, differ from many others by only one. */
const SHORT_NAME = 4;

/** The known name that differs only in case, hyphens and underscores, or in one letter or two. */
export function closestName(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((one) => ({ one, distance: distanceBetween(plain(name), plain(one)) }))
    .filter(({ one, distance }) => distance <= (Math.min(one.length, name.length) <= SHORT_NAME ? 1 : 2))
    .toSorted((one, other) => one.distance - other.distance);
  return best?.one;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

/** How many letters have to be added, removed or changed to make one of the other; more than 2 if the lengths differ that much. */
function distanceBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 2) return 3;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let index = 0; index < one.length; index++) {
    const next = [index + 1];
    for (let at = 0; at < other.length; at++) {
      const changed = (row[at] ?? 0) + (one[index] === other[at] ? 0 : 1);
      next.push(Math.min(changed, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
