/** The state of the records of all pools: until when they are complete, and their gaps. */
import { formatTime, parseTime, readField, readList } from '@vmdhcp/kube-runtime';
import type { Gap } from './owner-at.js';

/** Up to when the records of assignments are complete, and where they have gaps. */
export interface AuditState {
  /** Everything before this time is recorded, except for the gaps. */
  readonly completeUntilMs: number;
  /** In the order of their times. */
  readonly gaps: readonly Gap[];
}

/** The maximum number of gaps. Each start of the controller adds one; beyond that the oldest are merged. */
const MOST_GAPS = 500;

/** Undefined if the text is invalid. Never throws. */
export function parseAuditState(text: unknown): AuditState | undefined {
  const value = parseJson(text);
  const completeUntilMs = timeOf(readField(value, 'completeUntil'));
  if (completeUntilMs === undefined) return undefined;
  const gaps = readList(value, 'gaps').flatMap((gap): Gap[] => {
    const [fromMs, untilMs] = Array.isArray(gap) ? gap.map(timeOf) : [];
    return fromMs === undefined || untilMs === undefined ? [] : [{ fromMs, untilMs }];
  });
  return { completeUntilMs, gaps };
}

/** As JSON; `parseAuditState` reads it. */
export function formatAuditState({ completeUntilMs, gaps }: AuditState): string {
  const times = gaps.map(({ fromMs, untilMs }) => [formatTime(fromMs), formatTime(untilMs)]);
  return JSON.stringify({ completeUntil: formatTime(completeUntilMs), gaps: times });
}

/** Adds a gap. @param gap - begins no earlier than all others, unless the clock was set back. */
export function withGap(gaps: readonly Gap[], gap: Gap): Gap[] {
  const last = gaps.at(-1);
  const joined =
    last !== undefined && gap.fromMs <= last.untilMs
      ? [...gaps.slice(0, -1), { fromMs: Math.min(last.fromMs, gap.fromMs), untilMs: Math.max(last.untilMs, gap.untilMs) }]
      : [...gaps, gap];
  const [first, second, ...others] = joined;
  if (joined.length <= MOST_GAPS || first === undefined || second === undefined) return joined;
  return [{ fromMs: Math.min(first.fromMs, second.fromMs), untilMs: Math.max(first.untilMs, second.untilMs) }, ...others];
}

function timeOf(value: unknown): number | undefined {
  const ms = parseTime(typeof value === 'string' ? value : undefined);
  return Number.isNaN(ms) ? undefined : ms;
}

function parseJson(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
