import { readField } from '@vmdhcp/kube-runtime';

/** True if an address of the pool is probed before a new client gets it: unless `spec.conflictProbe` is `Disabled`. */
export function probesConflicts(spec: unknown): boolean {
  return readField(spec, 'conflictProbe') !== 'Disabled';
}
