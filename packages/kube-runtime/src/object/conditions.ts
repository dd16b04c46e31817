import type { Condition } from './condition.js';
import { cutText, MOST_MESSAGE_OCTETS, MOST_REASON_OCTETS } from './cut-text.js';
import { readList, readText } from './read-field.js';

/** The content of a condition, without its times. */
export interface ConditionState {
  readonly type: string;
  readonly status: Condition['status'];
  /** One word in CamelCase; absent if all is well. */
  readonly reason?: string;
  /** For people: what is wrong and what to do. */
  readonly message?: string;
}

/** The conditions of an object's status; invalid entries are left out. */
export function readConditions(status: unknown): Condition[] {
  return readList(status, 'conditions').flatMap((entry) => {
    const type = readText(entry, 'type');
    const state = readText(entry, 'status');
    if (type === undefined || (state !== 'True' && state !== 'False' && state !== 'Unknown')) return [];
    return [{ ...(entry as Condition), type, status: state }];
  });
}

/** When, and for which generation, the states were observed. */
export interface Found {
  /** RFC 3339. */
  readonly now: string;
  /** `metadata.generation` of the object; undefined if not known. */
  readonly generation?: number | undefined;
  /** True if the status is written even if no condition changes. */
  readonly isWritten?: boolean;
}

/**
 * The conditions with these states. `lastTransitionTime` changes with the status, `lastUpdateTime` with the content. A condition with the same
 * content stays as it is; its generation is updated if the spec has changed since, or if the status is written anyway. Conditions without a
 * generation, from earlier versions, do not cause a write: otherwise an upgrade would write every object.
 */
export function withConditions(conditions: readonly Condition[], states: readonly ConditionState[], found: Found): Condition[] {
  const result = [...conditions];
  const entries = states.map(bounded).map((state) => ({ state, before: conditions.find(({ type }) => type === state.type) }));
  const isNews = entries.some(
    ({ state, before }) => before === undefined || !hasSameContent(before, state) || isOlder(before, found),
  );
  if (!isNews && found.isWritten !== true) return result;
  for (const { state, before } of entries) {
    const after = toCondition(state, before, found);
    if (before === undefined) result.push(after);
    else result[conditions.indexOf(before)] = after;
  }
  return result;
}

function isOlder({ observedGeneration }: Condition, { generation }: Found): boolean {
  return observedGeneration !== undefined && generation !== undefined && observedGeneration < generation;
}

/** Limits the length: reasons and messages may come from agents, and messages quote objects of others. */
function bounded({ type, status, reason, message }: ConditionState): ConditionState {
  return {
    type,
    status,
    ...(reason !== undefined && { reason: cutText(reason, MOST_REASON_OCTETS) }),
    ...(message !== undefined && { message: cutText(message, MOST_MESSAGE_OCTETS) }),
  };
}

function hasSameContent(condition: Condition, state: ConditionState): boolean {
  return (
    condition.status === state.status &&
    (condition.reason ?? '') === (state.reason ?? '') &&
    (condition.message ?? '') === (state.message ?? '')
  );
}

function toCondition(state: ConditionState, before: Condition | undefined, { now, generation }: Found): Condition {
  const { type, status, reason, message } = state;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  if (before !== undefined && hasSameContent(before, state)) return { ...before, ...observed };
  const since = before?.status === status ? (before.lastTransitionTime ?? now) : now;
  return {
    type,
    status,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...observed,
    lastUpdateTime: now,
    lastTransitionTime: since,
  };
}
