import { readField } from '@vmdhcp/kube-runtime';

/** True if the network is asked before an address of the pool is given to a new client: unless `spec.conflictProbe` is `Disabled`. */
export function probesConflicts(spec: unknown): boolean {
  return readField(spec, 'conflictProbe') !== 'Disabled';
}
