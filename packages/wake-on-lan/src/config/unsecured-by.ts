import type { ExplicitMapping, WakeConfig } from '../machine/wake-config.js';
import type { ReadWolConfig } from './read-wol-config.js';

/**
 * Names of the other WolConfigs that allow machines of this one without its password, sorted. Those that select by labels are
 * omitted, because the labels of machines are not known here.
 */
export function unsecuredBy({ name, allows }: ReadWolConfig, configs: readonly ReadWolConfig[]): readonly string[] {
  if (allows.passwordSecret === undefined) return [];
  return configs
    .filter((other) => other.name !== name && other.allows.passwordSecret === undefined && allowsSome(other.allows, allows))
    .map((other) => other.name)
    .toSorted();
}

/** True if `one` allows machines that `other` allows. */
function allowsSome(one: WakeConfig, other: WakeConfig): boolean {
  if (one.mode === 'LabelSelector') return false;
  const machines = namesOf(other);
  if (one.mode === 'All') return machines.some(({ namespace }) => isIn(one.namespaces, namespace));
  return mappingsOf(one).some((mapping) =>
    machines.some(({ namespace, name }) => isIn([mapping.namespace], namespace) && (name === undefined || name === mapping.name)),
  );
}

interface SomeMachines {
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
  /** Undefined for some or all machines. */
  readonly name: string | undefined;
}

function namesOf(config: WakeConfig): readonly SomeMachines[] {
  if (config.mode === 'Explicit') return mappingsOf(config);
  if (config.namespaces.length === 0) return [{ namespace: undefined, name: undefined }];
  return config.namespaces.map((namespace) => ({ namespace, name: undefined }));
}

/** The mappings that allow something: not those outside the namespaces that the WolConfig selects. */
function mappingsOf({ mappings, namespaces }: Extract<WakeConfig, { mode: 'Explicit' }>): readonly ExplicitMapping[] {
  return mappings.filter(({ namespace }) => isIn(namespaces, namespace));
}

/** @param namespaces - empty for all. */
function isIn(namespaces: readonly string[], namespace: string | undefined): boolean {
  return namespaces.length === 0 || namespace === undefined || namespaces.includes(namespace);
}
