/** Where upstream runs. */
const DEFAULT_NAMESPACE = 'harvester-system';

/** The namespace of this pod, as its environment has it (POD_NAMESPACE). */
export function ownNamespace(): string {
  return process.env['POD_NAMESPACE'] || DEFAULT_NAMESPACE;
}
