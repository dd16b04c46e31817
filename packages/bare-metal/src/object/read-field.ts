import { readField } from '@vmdhcp/kube-runtime';

/** Reads fields of objects with arbitrary content. */

type Path = readonly string[];

/** The text at a path; undefined if there is none, or it is empty. */
export function textAt(value: unknown, ...path: Path): string | undefined {
  const found = readField(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** The boolean at a path; undefined if there is none. */
export function flagAt(value: unknown, ...path: Path): boolean | undefined {
  const found = readField(value, ...path);
  return typeof found === 'boolean' ? found : undefined;
}

/** The number at a path; undefined if there is none. */
export function numberAt(value: unknown, ...path: Path): number | undefined {
  const found = readField(value, ...path);
  return typeof found === 'number' ? found : undefined;
}

/** The fields at a path; none if there is no object. */
export function recordAt(value: unknown, ...path: Path): Readonly<Record<string, unknown>> {
  const found = readField(value, ...path);
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as Record<string, unknown>) : {};
}
