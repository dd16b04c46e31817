import type { Condition } from '@vmdhcp/ippool-api';
import { cutText, MOST_MESSAGE_OCTETS, MOST_REASON_OCTETS } from './cut-text.js';
import { readList, readText } from './read-field.js';

/** What a condition says, without when. */
export interface ConditionState {
  readonly type: string;
  readonly status: Condition['status'];
  /** One word in CamelCase; absent where all is well. */
  readonly reason?: string;
  /** For people: what is wrong and what to do. */
  readonly message?: string;
}

/** The conditions of an object's status; entries that are none are left out. */
export function readConditions(status: unknown): Condition[] {
  return readList(status, 'conditions').flatMap((entry) => {
    const type = readText(entry, 'type');
    const state = readText(entry, 'status');
    if (type === undefined || (state !== 'True' && state !== 'False' && state !== 'Unknown')) return [];
    return [{ ...(entry as Condition), type, status: state }];
  });
}

/**
 * The conditions with these states. Times change with what they are of: `lastTransitionTime` with the status,
 * `lastUpdateTime` with anything. A condition that says the same as before stays as it is.
 *
 * @param now - RFC 3339.
 */
export function withConditions(conditions: readonly Condition[], states: readonly ConditionState[], now: string): Condition[] {
  const result = [...conditions];
  for (const state of states.map(bounded)) {
    const index = result.findIndex(({ type }) => type === state.type);
    const before = index < 0 ? undefined : result[index];
    if (before !== undefined && saysTheSame(before, state)) continue;
    const changed = toCondition(state, before, now);
    if (index < 0) result.push(changed);
    else result[index] = changed;
  }
  return result;
}

/** Reasons and messages may come from agents, and messages quote objects of others. */
function bounded({ type, status, reason, message }: ConditionState): ConditionState {
  return {
    type,
    status,
    ...(reason !== undefined && { reason: cutText(reason, MOST_REASON_OCTETS) }),
    ...(message !== undefined && { message: cutText(message, MOST_MESSAGE_OCTETS) }),
  };
}

function saysTheSame(condition: Condition, state: ConditionState): boolean {
  return (
    condition.status === state.status &&
    (condition.reason ?? '') === (state.reason ?? '') &&
    (condition.message ?? '') === (state.message ?? '')
  );
}

function toCondition({ type, status, reason, message }: ConditionState, before: Condition | undefined, now: string): Condition {
  const since = before?.status === status ? (before.lastTransitionTime ?? now) : now;
  return {
    type,
    status,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    lastUpdateTime: now,
    lastTransitionTime: since,
  };
}

/** `pool-exhausted` as Kubernetes writes reasons: `PoolExhausted`. */
export function toReason(word: string): string {
  return word.replaceAll(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
