/** Plans the Lease of a group: the suspended pools, how often it is renewed, and the log settings of its agents. */
import {
  AGENT_LOG_ANNOTATION,
  formatAgentLogSettings,
  formatRenewPeriodMs,
  parseRenewPeriodMs,
  RENEW_PERIOD_ANNOTATION,
} from '@vmdhcp/ippool-api';
import { isRolledOut } from '@vmdhcp/kube-runtime';
import { observedGroup } from './agents-observation.js';
import type { LeaseAction } from './agents-plan.js';
import type { FittedGroup } from './fit-group.js';
import type { GroupContext } from './group-context.js';
import { mostRenewPeriodMs, renewPeriodMs } from './lease-pace.js';
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
  const mayRunOldPods = !isRolledOut(deployment) || observed.groupsWithEndingPods?.has(name) === true;
  return new Set([
    ...[...ownKeys].filter((key) => handover.isBlocked(key)),
    // Its own agents could serve it, so this group must release it.
    ...[...keys].filter((key) => ofOthers(key) && isReadyToServe(key)),
    // The next template does not name it, but pods of this one may still become leader.
    ...[...configured.keys()].filter((key) => !keys.has(key)),
    // A Deployment does not count pods that are being deleted, which may run for a long time: keep the pools of others suspended.
    ...[...lease.suspended].filter((key) => ofOthers(key) && (groupOf.has(key) || configured.has(key) || mayRunOldPods)),
    // No template names a pool, but pods may still run.
    ...(deployment === undefined ? [...lease.known].filter((key) => ofOthers(key) && groupOf.has(key)) : []),
    // The suspensions of a deleted Lease are lost, and pods of earlier templates may know any pool. A pool that no other group may serve continues.
    ...(handover.hasLostItsLease(name)
      ? [...groupOf.keys()].filter((key) => ofOthers(key) && !handover.isOnlyServer(name, key))
      : []),
  ]);
}

/** Suspends these pools in the group's Lease, and creates a missing Lease if it is needed. */
export function planSuspension(
  name: string,
  suspended: ReadonlySet<string>,
  { observed, settings, groups, handover, neededRenewPeriodMs: neededMs }: GroupContext,
): LeaseAction[] {
  const { lease, deployment } = observedGroup(observed, name);
  const poolKeys = [...suspended].toSorted();
  if (lease.object !== undefined)
    return isSame(suspended, lease.suspended) ? [] : [{ kind: 'suspend', group: name, lease: lease.object, poolKeys }];
  const isNeeded = suspended.size > 0 || handover.hasLostItsLease(name) || (settings.groupRights === true && groups.has(name));
  if (!isNeeded) return [];
  // Pods may still rely on a deleted Lease; the pods of a chart are not known.
  const isGuarded = deployment !== undefined || observed.groupsWithPods.has(name) || isUnified(name);
  return [{ kind: 'create-lease', group: name, poolKeys, isGuarded, ...paceOfNew(neededMs) }];
}

/** The period of a new Lease, and the longest one that a former Lease may have had. */
function paceOfNew(neededMs: number): { readonly renewPeriodMs?: number; readonly guardPeriodMs?: number } {
  const periodMs = renewPeriodMs(neededMs, undefined);
  const guardPeriodMs = mostRenewPeriodMs(neededMs);
  return { ...(periodMs !== undefined && { renewPeriodMs: periodMs }), ...(guardPeriodMs > 0 && { guardPeriodMs }) };
}

/** Agents watch their Lease, so log settings and renew period change without a restart. */
export function planLeaseSettings(name: string, { observed, settings, neededRenewPeriodMs }: GroupContext): LeaseAction[] {
  const { object: lease } = observedGroup(observed, name).lease;
  if (lease === undefined) return [];
  const { annotations: current = {} } = lease.metadata;
  const periodMs = renewPeriodMs(neededRenewPeriodMs, parseRenewPeriodMs(current[RENEW_PERIOD_ANNOTATION]));
  const wanted = {
    [AGENT_LOG_ANNOTATION]: formatAgentLogSettings(settings.log ?? {}),
    [RENEW_PERIOD_ANNOTATION]: periodMs === undefined ? undefined : formatRenewPeriodMs(periodMs),
  };
  const changed = Object.entries(wanted).filter(([key, text]) => current[key] !== text);
  if (changed.length === 0) return [];
  const annotations = Object.fromEntries(changed.map(([key, text]) => [key, text ?? null]));
  return [{ kind: 'set-lease-settings', group: name, lease, annotations }];
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((key) => other.has(key));
}
