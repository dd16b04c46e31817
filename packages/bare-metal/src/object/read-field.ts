import { readField } from '@vmdhcp/kube-runtime';

/** Reads fields of objects with arbitrary content. */

type Path = readonly string[];

/** The text at a path; undefined: none, or an empty one. */
export function readNonEmptyText(value: unknown, ...path: Path): string | undefined {
  const found = readField(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** True or false at a path; undefined: neither. */
export function readFlag(value: unknown, ...path: Path): boolean | undefined {
  const found = readField(value, ...path);
  return typeof found === 'boolean' ? found : undefined;
}

/** The number at a path; undefined: none. */
export function readNumber(value: unknown, ...path: Path): number | undefined {
  const found = readField(value, ...path);
  return typeof found === 'number' ? found : undefined;
}

/** The fields at a path; none where there is no object. */
export function readFields(value: unknown, ...path: Path): Readonly<Record<string, unknown>> {
  const found = readField(value, ...path);
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Record<string, unknown>) : {};
}
