/** The namespace of upstream. */
const DEFAULT_NAMESPACE = 'harvester-system';

/** The namespace of this pod, from its environment (POD_NAMESPACE). */
export function ownNamespace(): string {
  return process.env['POD_NAMESPACE'] || DEFAULT_NAMESPACE;
}
