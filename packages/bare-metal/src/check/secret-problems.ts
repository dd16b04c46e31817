import type { HostProblem } from '../object/problem.js';
import { readNonEmptyText } from '../object/read-field.js';

/** The Secret of a host is named by both fields, or by none. @param path - of the object that has them. */
export function secretProblems(path: readonly string[], fields: unknown): HostProblem[] {
  const [name, namespace] = [readNonEmptyText(fields, 'secretName'), readNonEmptyText(fields, 'secretNamespace')];
  if ((name === undefined) === (namespace === undefined)) return [];
  const [missing, other] = name === undefined ? ['secretName', 'secretNamespace'] : ['secretNamespace', 'secretName'];
  const remedy = 'write both, or none to use the Secret of the ClusterAgent';
  return [{ reason: 'half-a-secret', path: [...path, missing], message: `is missing, and ${other} is written`, remedy }];
}
