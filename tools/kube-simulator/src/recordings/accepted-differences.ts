import { readFileSync } from 'node:fs';
import type { FoundDifference } from './replay-transcript.js';

/** A difference that stays, and why. Without `where` the whole step is not imitated. */
export interface AcceptedDifference {
  /** Two digits. */
  readonly scenario: string;
  readonly step: number;
  readonly where?: string;
  /** The answer instead; absent if it differs from run to run. */
  readonly got?: string;
  /** Whether it occurs depends on timing. */
  readonly sometimes?: boolean;
  readonly reason: string;
}

export interface JudgedDifference extends FoundDifference {
  /** Why it is accepted; absent when it is unexpected. */
  readonly reason?: string;
}

export function readAcceptedDifferences(path: string | URL): AcceptedDifference[] {
  return JSON.parse(readFileSync(path, 'utf8')) as AcceptedDifference[];
}

/** True for a difference that is in the list. */
export function isAccepted(accepted: readonly AcceptedDifference[], difference: FoundDifference): boolean {
  return accepted.some((entry) => covers(entry, difference));
}

/** The differences with the reasons of those that are accepted. */
export function judge(found: readonly FoundDifference[], accepted: readonly AcceptedDifference[]): JudgedDifference[] {
  return found.map((difference) => {
    const reason = accepted.find((entry) => covers(entry, difference))?.reason;
    return reason === undefined ? difference : { ...difference, reason };
  });
}

/** Accepted differences of the given scenarios that do not occur any more: they must be removed from the list. */
export function staleEntries(
  found: readonly FoundDifference[],
  accepted: readonly AcceptedDifference[],
  scenarios: ReadonlySet<string>,
): AcceptedDifference[] {
  return accepted.filter(
    (entry) =>
      entry.sometimes !== true && scenarios.has(entry.scenario) && !found.some((difference) => covers(entry, difference)),
  );
}

function covers(entry: AcceptedDifference, difference: FoundDifference): boolean {
  if (!difference.scenario.startsWith(`${entry.scenario}-`) || difference.step !== entry.step) return false;
  if (entry.where !== undefined && entry.where !== difference.where) return false;
  return entry.got === undefined || entry.got === difference.got;
}
