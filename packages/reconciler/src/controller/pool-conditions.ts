/** The conditions of an IPPool: problems that keep it from being used, warnings, and the report of its agents. */
import { type ConditionOf, IPPoolConditionType, reasonOf } from '@vmdhcp/ippool-api';
import { describeProblems, type KubernetesObject } from '@vmdhcp/kube-runtime';
import { NOT_SERVED } from '../agents/agent-conditions.js';
import { NOTHING_KNOWN_OF_AGENTS, type PoolAgents } from '../agents/pool-agents.js';
import { describeUnlisted } from '../pool/excluded-marks.js';
import { describeEntry } from '../pool/recorded-addresses.js';
import type { PoolView } from '../view/pool-views.js';
import { type CacheReadyReason, joinNotes, type PoolNote } from './pool-notes.js';

/** A problem that keeps a pool from being used. */
export interface PoolObstacle {
  readonly reason: 'pool-invalid' | 'network-taken' | 'network-name-missing' | 'network-not-allowed';
  readonly message: string;
}

/** If no agents are deployed, there is nothing to wait for. */
export const WITHOUT_AGENTS: PoolAgents = {
  ...NOTHING_KNOWN_OF_AGENTS,
  conditions: [
    { type: IPPoolConditionType.registered, status: 'True' },
    { type: IPPoolConditionType.agentReady, status: 'True' },
  ],
};

/** The agents only know that the pool is not served; each condition states the cause, so that reading one is enough. */
export function withCause(condition: ConditionOf<'IPPool'>, obstacle: PoolObstacle | undefined): ConditionOf<'IPPool'> {
  if (obstacle === undefined || condition.reason !== NOT_SERVED) return condition;
  return { ...condition, reason: reasonOf(obstacle.reason), message: obstacle.message };
}

export function poolConditions(
  { object, paused, reading, recorded }: PoolView,
  obstacle: PoolObstacle | undefined,
  notes: readonly PoolNote<CacheReadyReason>[],
): ConditionOf<'IPPool'>[] {
  return [{ type: IPPoolConditionType.stopped, status: paused ? 'True' : 'False' }, cacheReady()];

  function cacheReady(): ConditionOf<'IPPool'> {
    const type = IPPoolConditionType.cacheReady;
    if (obstacle !== undefined) return { type, status: 'False', reason: reasonOf(obstacle.reason), message: obstacle.message };
    if (paused) {
      return {
        type,
        status: 'False',
        reason: 'Paused',
        message: 'the pool is paused: nothing is allocated or served; set spec.paused to false',
      };
    }
    const skipped = recorded.unreadable.map((entry) => `status.ipv4.allocated has ${describeEntry(entry)}`);
    const left = [...(reading.ok ? reading.warnings : []), ...skipped];
    const message = `ignored, because it is invalid: ${describeProblems(left)}`;
    const skippedNotes = left.length === 0 ? [] : [{ reason: 'EntriesSkipped' as const, message }];
    return { type, status: 'True', ...joinNotes([...skippedNotes, ...notes, ...unlistedExclusions(object)]) };
  }
}

/** Nothing is wrong, so it is in the condition, but is not an Event. */
function unlistedExclusions({ spec }: KubernetesObject): PoolNote<'ExclusionsNotListed'>[] {
  const message = describeUnlisted(spec);
  return message === undefined ? [] : [{ reason: 'ExclusionsNotListed', message }];
}
