/** Finds the assignment that ended last: the last client of a free address, or the last address of a client. */
import type { AssignmentRecord } from './assignment-record.js';

/** An assignment that has ended. */
export type EndedRecord = AssignmentRecord & Required<Pick<AssignmentRecord, 'end'>>;

/** If two ended at the same time, the one that began later. @returns undefined if none has ended, as far as the records reach. */
export function lastEnded(records: readonly AssignmentRecord[]): EndedRecord | undefined {
  const ended = records.filter((record): record is EndedRecord => record.end !== undefined);
  const [first, ...others] = ended;
  return first && others.reduce((last, record) => (isLater(record, last) ? record : last), first);
}

function isLater(one: EndedRecord, other: EndedRecord): boolean {
  const [atMs, otherAtMs] = [one.end.to.notAfterMs, other.end.to.notAfterMs];
  return atMs === otherAtMs ? one.serial > other.serial : atMs > otherAtMs;
}
