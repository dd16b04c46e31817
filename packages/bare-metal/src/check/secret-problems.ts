import type { HostProblem } from '../object/problem.js';
import { readNonEmptyText } from '../object/read-field.js';

/** Both fields name the Secret of a host, or neither is set. @param path - the path of the object that has them. */
export function secretProblems(path: readonly string[], fields: unknown): HostProblem[] {
  const [name, namespace] = [readNonEmptyText(fields, 'secretName'), readNonEmptyText(fields, 'secretNamespace')];
  if ((name === undefined) === (namespace === undefined)) return [];
  const [missing, other] = name === undefined ? ['secretName', 'secretNamespace'] : ['secretNamespace', 'secretName'];
  const remedy = 'write both, or none to use the Secret of the ClusterAgent';
  return [{ reason: 'half-a-secret', path: [...path, missing], message: `is missing, although ${other} is set`, remedy }];
}
