import { isRecord, type KubernetesObject } from '@vmdhcp/kube-runtime';
import type { AdmissionProblem } from '@vmdhcp/reconciler';

/** What is wrong with a field, with the value that stands there. */
export function toFieldProblem(
  object: KubernetesObject,
  path: AdmissionProblem['path'],
  words: Pick<AdmissionProblem, 'message' | 'remedy'>,
): AdmissionProblem {
  const value = valueAt(object, path);
  return { reason: value === undefined ? 'field-missing' : 'value-not-allowed', path, value, ...words };
}

/** Undefined: nothing stands there. */
function valueAt(root: unknown, path: AdmissionProblem['path']): unknown {
  return path.reduce<unknown>((value, part) => {
    if (Array.isArray(value)) return value[Number(part)];
    return isRecord(value) ? value[part] : undefined;
  }, root);
}
