/** Readers of JSON that another program wrote: what is missing or of another type reads as nothing, and nothing throws. */

/** The value of JSON text; undefined if there is no text, or it is not JSON. */
export function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The fields of a JSON object; none of any other value. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** The items of a JSON array; none of any other value. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text itself; undefined for any other value. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
