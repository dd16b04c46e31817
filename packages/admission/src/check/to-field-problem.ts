import { isRecord, type KubernetesObject } from '@vmdhcp/kube-runtime';
import type { AdmissionProblem } from '@vmdhcp/reconciler';

/** A problem of a field, with its value. */
export function toFieldProblem(
  object: KubernetesObject,
  path: AdmissionProblem['path'],
  words: Pick<AdmissionProblem, 'message' | 'remedy'>,
): AdmissionProblem {
  const value = valueAt(object, path);
  return { reason: value === undefined ? 'field-missing' : 'value-not-allowed', path, value, ...words };
}

/** Undefined if there is none. */
function valueAt(root: unknown, path: AdmissionProblem['path']): unknown {
  return path.reduce<unknown>((value, part) => {
    if (Array.isArray(value)) return value[Number(part)];
    return isRecord(value) ? value[part] : undefined;
  }, root);
}
