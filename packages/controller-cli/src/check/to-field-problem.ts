import { isRecord, type KubernetesObject } from '@vmdhcp/kube-runtime';
import type { FieldProblem } from './read-objects.js';

/** What is wrong with a field, with the value that stands there. */
export function toFieldProblem(
  object: KubernetesObject,
  path: FieldProblem['path'],
  words: Pick<FieldProblem, 'message' | 'remedy'>,
): FieldProblem {
  const value = valueAt(object, path);
  return { reason: value === undefined ? 'field-missing' : 'value-not-allowed', path, value, ...words };
}

/** Undefined: nothing stands there. */
function valueAt(root: unknown, path: FieldProblem['path']): unknown {
  return path.reduce<unknown>((value, part) => {
    if (Array.isArray(value)) return value[Number(part)];
    return isRecord(value) ? value[part] : undefined;
  }, root);
}
