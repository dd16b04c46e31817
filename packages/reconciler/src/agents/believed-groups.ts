/**
 * A compromised agent may write lies into the Lease of its group. So it is not believed about pools that the controller has never given to the group:
 * otherwise it could end the service of other groups, take addresses away from their clients, or keep their pools from being deleted.
 */
import { type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import type { ObservedGroup } from './agents-observation.js';
import { poolNamesOf } from './group-rights.js';

/** Objects that only the controller writes; agents with separate rights cannot. */
interface GivenPools {
  /** ServiceAccounts, Roles and RoleBindings of a group. */
  readonly rightsOf: (group: string) => readonly KubernetesObject[];
  /** The group that the status of a pool names. */
  readonly recordedGroupOf: (poolKey: string) => string | undefined;
}

/**
 * Drops the parts of each report about pools that the group was not given. Groups of a previous namespace, and `unified`, whose agents may be given
 * any pool, are believed completely.
 *
 * @param isTrusted - by the name of a group.
 */
export function believedGroups(
  groups: ReadonlyMap<string, ObservedGroup>,
  given: GivenPools,
  isTrusted: (group: string) => boolean,
): Map<string, ObservedGroup> {
  return new Map([...groups].map(([name, group]) => [name, isTrusted(name) ? group : believed(name, group, given)] as const));
}

function believed(name: string, group: ObservedGroup, given: GivenPools): ObservedGroup {
  const { lease, configured } = group;
  const unknown = [...lease.known].filter((key) => !configured.has(key) && given.recordedGroupOf(key) !== name);
  if (unknown.length === 0) return group;
  const granted = grantedPools(name, given.rightsOf(name));
  const refused = new Set(unknown.filter((key) => !granted.has(key)));
  if (refused.size === 0) return group;
  const known = new Set([...lease.known].filter((key) => !refused.has(key)));
  const report = new Map([...lease.report].filter(([key]) => !refused.has(key)));
  return { ...group, lease: { ...lease, known, report } };
}

/** Includes Roles that are no longer bound: pods may remember what they have read. */
function grantedPools(group: string, rights: readonly KubernetesObject[]): Set<string> {
  // Only Roles name pools.
  const own = rights.filter(({ metadata }) => metadata.name === group);
  return new Set(
    own.flatMap((role) => poolNamesOf(role).map((name) => keyOf({ metadata: { namespace: role.metadata.namespace, name } }))),
  );
}
