import type { LeaderTerm } from '../../model/page-data.js';

/** A piece of a timeline: from left to right, 0 to 1. */
export interface TimelinePiece {
  readonly leader: string;
  readonly from: number;
  readonly until: number;
  /** The number of the leader, in the order of their first terms; -1 if there was no leader. */
  readonly place: number;
}

/** The terms of a group as pieces of a timeline from `fromMs` to `nowMs`, the oldest first. Earlier parts are cut off. */
export function toTimeline(terms: readonly LeaderTerm[], fromMs: number, nowMs: number): readonly TimelinePiece[] {
  const length = Math.max(nowMs - fromMs, 1);
  const places = new Map<string, number>();
  const toShare = (atMs: number): number => Math.min(Math.max((atMs - fromMs) / length, 0), 1);
  return [...terms]
    .sort((one, other) => one.fromMs - other.fromMs)
    .map((term) => {
      if (term.leader !== '' && !places.has(term.leader)) places.set(term.leader, places.size);
      return {
        leader: term.leader,
        from: toShare(term.fromMs),
        until: toShare(term.untilMs ?? nowMs),
        place: places.get(term.leader) ?? -1,
      };
    })
    .filter(({ from, until }) => until > from);
}

/** How often another pod became leader, among these terms. A gap without a leader is not a take-over, but the term after it may be. */
export function countTakeOvers(terms: readonly LeaderTerm[]): number {
  const leaders = [...terms]
    .sort((one, other) => one.fromMs - other.fromMs)
    .map(({ leader }) => leader)
    .filter((leader) => leader !== '');
  return leaders.filter((leader, index) => index > 0 && leader !== leaders[index - 1]).length;
}
