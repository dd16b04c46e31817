/** What the Lease of a group has to specify: the pools that are suspended for the group, and what its agents log. */
import { AGENT_LOG_ANNOTATION, formatAgentLogSettings } from '@vmdhcp/ippool-api';
import { isRolledOut } from '@vmdhcp/kube-runtime';
import { observedGroup } from './agents-observation.js';
import type { LeaseAction } from './agents-plan.js';
import type { FittedGroup } from './fit-group.js';
import type { GroupContext } from './group-context.js';
import { isUnified } from './topology.js';

interface SuspensionContext extends GroupContext {
  /** True if the pool's own group could serve it at once. */
  readonly isReadyToServe: (poolKey: string) => boolean;
}

/** The pools that the group must not serve now. */
export function poolsToSuspend(
  name: string,
  { own, pools }: Pick<FittedGroup, 'own' | 'pools'>,
  { observed, groupOf, handover, isReadyToServe }: SuspensionContext,
): Set<string> {
  const { configured, lease, deployment } = observedGroup(observed, name);
  const ownKeys = new Set(own.map(({ key }) => key));
  const keys = new Set(pools.map(({ key }) => key));
  const ofOthers = (key: string) => !ownKeys.has(key);
  return new Set([
    ...[...ownKeys].filter((key) => handover.isBlocked(key)),
    // Its own agents could serve it: the group has to release it.
    ...[...keys].filter((key) => ofOthers(key) && isReadyToServe(key)),
    // The next template does not name it, and pods of this one may still become leader.
    ...[...configured.keys()].filter((key) => !keys.has(key)),
    // Pods that are being deleted are counted nowhere, and may go on for long: what others serve stays suspended.
    ...[...lease.suspended].filter(
      (key) => ofOthers(key) && (groupOf.has(key) || configured.has(key) || !isRolledOut(deployment)),
    ),
    // No template names a pool any more, and pods may still run.
    ...(deployment === undefined ? [...lease.known].filter((key) => ofOthers(key) && groupOf.has(key)) : []),
    // What a deleted Lease suspended is not known any more: pods of earlier templates may know any pool. A pool that no other group may serve goes on.
    ...(handover.hasLostItsLease(name)
      ? [...groupOf.keys()].filter((key) => ofOthers(key) && !handover.isOnlyServer(name, key))
      : []),
  ]);
}

/** Has the group's Lease suspend these pools; a Lease that is missing is created where it is needed. */
export function planSuspension(
  name: string,
  suspended: ReadonlySet<string>,
  { observed, settings, groups, handover }: GroupContext,
): LeaseAction[] {
  const { lease, deployment } = observedGroup(observed, name);
  const poolKeys = [...suspended].toSorted();
  if (lease.object !== undefined)
    return isSame(suspended, lease.suspended) ? [] : [{ kind: 'suspend', group: name, lease: lease.object, poolKeys }];
  const isNeeded = suspended.size > 0 || handover.hasLostItsLease(name) || (settings.groupRights === true && groups.has(name));
  if (!isNeeded) return [];
  // Pods may still act by a Lease that was deleted; the pods of a chart are not known.
  const isGuarded = deployment !== undefined || observed.groupsWithPods.has(name) || isUnified(name);
  return [{ kind: 'create-lease', group: name, poolKeys, isGuarded }];
}

/** Agents watch their Lease: what they log changes without a restart. */
export function planLogSettings(name: string, { observed, settings }: GroupContext): LeaseAction[] {
  const { object: lease } = observedGroup(observed, name).lease;
  const text = formatAgentLogSettings(settings.log ?? {});
  if (lease === undefined || lease.metadata.annotations?.[AGENT_LOG_ANNOTATION] === text) return [];
  return [{ kind: 'set-log', group: name, lease, text }];
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((key) => other.has(key));
}
