/** Reasons with meaning and remedy, from the tables of reasons. */

import { REASON_GRAVITIES } from '@vmdhcp/explain';
import { REASONS } from '@vmdhcp/ippool-api';
import { HOST_REASONS } from '@vmdhcp/ippool-api/bare-metal/keys';
import { type Condition, cutText, parseTime, readConditions } from '@vmdhcp/kube-runtime';
import type { PageCondition, PageReason, PageState } from '../model/page-data.js';

/** The maximum octets of a message; `kubectl describe` shows all of it. */
const MOST_MESSAGE_OCTETS = 1_024;

const EXPLAINED: Readonly<Record<string, { readonly meaning: string; readonly remedy: string }>> = {
  ...HOST_REASONS,
  ...REASONS,
};

/** The reason and its message, with meaning and remedy from the tables. They are empty for a reason of another version. */
export function toPageReason(reason: string, message = ''): PageReason {
  const { meaning, remedy } = (Object.hasOwn(EXPLAINED, reason) ? EXPLAINED[reason] : undefined) ?? { meaning: '', remedy: '' };
  return { reason, message: cutText(message, MOST_MESSAGE_OCTETS), meaning, remedy };
}

/** The severity of a reason if the condition means trouble. */
export function gravityOf(reason: string): PageState {
  const gravity = Object.hasOwn(REASON_GRAVITIES, reason) ? REASON_GRAVITIES[reason] : undefined;
  return gravity === undefined || gravity === 'note' ? 'broken' : gravity;
}

const ORDER: readonly PageState[] = ['ok', 'note', 'waiting', 'broken'];

/** The worst state of a list; `ok` without any. */
export function worstState(states: readonly PageState[]): PageState {
  return states.reduce((worst, state) => (ORDER.indexOf(state) > ORDER.indexOf(worst) ? state : worst), 'ok');
}

/** A reason and its severity. */
export interface Grave {
  readonly state: PageState;
  readonly reason: PageReason;
}

/** The worst first, each reason once. */
export function sortGraves(graves: readonly Grave[]): readonly PageReason[] {
  const sorted = graves.toSorted((one, other) => ORDER.indexOf(other.state) - ORDER.indexOf(one.state));
  const names = sorted.map(({ reason }) => reason.reason);
  return sorted.filter(({ reason }, index) => names.indexOf(reason.reason) === index).map(({ reason }) => reason);
}

/** The conditions of a status, bounded. */
export function toPageConditions(status: unknown): readonly PageCondition[] {
  return readConditions(status).map(toPageCondition);
}

function toPageCondition({ type, status, reason = '', message = '', lastTransitionTime }: Condition): PageCondition {
  const sinceMs = parseTime(typeof lastTransitionTime === 'string' ? lastTransitionTime : undefined);
  return {
    type,
    status,
    reason: cutText(textOf(reason), MOST_MESSAGE_OCTETS),
    message: cutText(textOf(message), MOST_MESSAGE_OCTETS),
    sinceMs: Number.isNaN(sinceMs) ? null : sinceMs,
  };
}

/** Objects may contain anything. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
