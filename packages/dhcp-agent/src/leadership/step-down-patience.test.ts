import { describe, expect, it } from 'vitest';
import { nextPatience, PATIENT, type Patience } from './step-down-patience.js';

/** Checks every second; returns the seconds at which the leader steps down. */
function play(seconds: number, healthAt: (second: number) => { isLeader?: boolean; hasTroubles?: boolean }): number[] {
  let patience: Patience = PATIENT;
  const steps: number[] = [];
  for (let second = 0; second < seconds; second++) {
    const { isLeader = true, hasTroubles = true } = healthAt(second);
    const next = nextPatience(patience, { nowMs: second * 1_000, isLeader, hasTroubles });
    patience = next.patience;
    if (next.stepsDown) steps.push(second);
  }
  return steps;
}

describe('a leader that cannot serve all of its pools', () => {
  it('steps down after three seconds', () => {
    expect(play(4, () => ({}))).toEqual([3]);
  });

  it('waits four times as long each time, and five minutes at most', () => {
    expect(play(2_000, () => ({}))).toEqual([3, 16, 65, 258, 559, 860, 1_161, 1_462, 1_763]);
  });

  it('never steps down without troubles', () => {
    expect(play(100, () => ({ hasTroubles: false }))).toEqual([]);
  });

  it('counts from the beginning of the troubles', () => {
    expect(play(20, (second) => ({ hasTroubles: second >= 10 }))).toEqual([13]);
  });

  it('counts anew after a moment without troubles', () => {
    expect(play(20, (second) => ({ hasTroubles: second !== 2 }))).toEqual([6, 19]);
  });

  it('is as patient as at first once it could serve', () => {
    expect(play(50, (second) => ({ hasTroubles: second < 10 || second >= 26 }))).toEqual([3, 29, 42]);
  });

  it('whose troubles are found a while after its leadership began waits longer each time', () => {
    let patience: Patience = PATIENT;
    const waits: number[] = [];
    for (let second = 0, ledAt = 0; second < 900; second++) {
      const next = nextPatience(patience, { nowMs: second * 1_000, isLeader: second > ledAt, hasTroubles: second - ledAt > 10 });
      patience = next.patience;
      if (!next.stepsDown) continue;
      waits.push(second - ledAt);
      ledAt = second + 2;
    }
    expect(waits).toEqual([14, 23, 59, 203, 311]);
  });

  it('that is a standby for a while keeps its patience, and counts anew', () => {
    expect(play(40, (second) => ({ isLeader: second < 5 || second >= 10 }))).toEqual([3, 22]);
  });

  it('as a standby never steps down', () => {
    expect(play(100, () => ({ isLeader: false }))).toEqual([]);
  });
});
