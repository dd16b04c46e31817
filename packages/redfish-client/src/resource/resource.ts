/** Reads fields of an untrusted answer: a value of another type counts as missing. */

/** A JSON object. */
export type RedfishResource = Readonly<Record<string, unknown>>;

export function isResource(value: unknown): value is RedfishResource {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at the end of a path of fields; undefined if one is missing. */
export function valueAt(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (!isResource(current) || !Object.hasOwn(current, name)) return undefined;
    current = current[name];
  }
  return current;
}

/** A text without surrounding spaces; undefined for an empty one. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const text = valueAt(value, ...path);
  if (typeof text !== 'string') return undefined;
  const trimmed = text.trim();
  return trimmed === '' ? undefined : trimmed;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const number = valueAt(value, ...path);
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Empty if there is no list. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const list = valueAt(value, ...path);
  return Array.isArray(list) ? list : [];
}

/** The texts of a list; undefined if there is no list. */
export function textsAt(value: unknown, ...path: readonly string[]): readonly string[] | undefined {
  const list = valueAt(value, ...path);
  return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : undefined;
}

/** The `@odata.id` of a link. */
export function linkAt(value: unknown, ...path: readonly string[]): string | undefined {
  return textAt(value, ...path, '@odata.id');
}

/** `Status.Health` or `Status.State`. */
export function statusAt(resource: unknown, name: 'Health' | 'State'): string | undefined {
  return textAt(resource, 'Status', name);
}
