import type { KubernetesObject } from '../object/kubernetes-object.js';
import { readField } from '../object/read-field.js';

/** True if every pod of the Deployment is of its newest template, and ready. */
export function isRolledOut(deployment: KubernetesObject | undefined): boolean {
  if (deployment === undefined) return false;
  const count = (name: string) => Number(readField(deployment.status, name) ?? 0);
  const wanted = Number(readField(deployment.spec, 'replicas') ?? 1);
  return (
    count('observedGeneration') >= (deployment.metadata.generation ?? 0) &&
    ['replicas', 'updatedReplicas', 'readyReplicas'].every((name) => count(name) === wanted)
  );
}
