/** The value at a path of an unknown value, or undefined if there is none. */
export function readField(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (!isRecord(current)) return undefined;
    current = Object.hasOwn(current, name) ? current[name] : undefined;
  }
  return current;
}

/** The text at a path; undefined if there is none, or something else. */
export function readText(value: unknown, ...path: readonly string[]): string | undefined {
  const found = readField(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** The fields at a path that are text, such as annotations and labels; empty if there are none. */
export function readTexts(value: unknown, ...path: readonly string[]): Readonly<Record<string, string>> {
  const found = readField(value, ...path);
  if (!isRecord(found)) return {};
  return Object.fromEntries(Object.entries(found).filter((field): field is [string, string] => typeof field[1] === 'string'));
}

/** The items of the list at a path; empty if there is no list. */
export function readList(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = readField(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** True for an object that is neither null nor a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
