import { describe, expect, it } from 'vitest';
import { type AcceptedDifference, judge, staleEntries } from './accepted-differences.js';
import type { FoundDifference } from './replay-transcript.js';

const found: FoundDifference = {
  scenario: '06-update',
  step: 3,
  about: 'a change',
  where: 'body.metadata.generation',
  expected: '1',
  got: '2',
};
const entry: AcceptedDifference = { scenario: '06', step: 3, where: found.where, got: '2', reason: 'because' };

describe('a difference is accepted', () => {
  it.each<[string, AcceptedDifference]>([
    ['where scenario, step, place and answer are those of the entry', entry],
    ['for any answer where the entry names none', { scenario: '06', step: 3, where: found.where, reason: 'because' }],
    ['anywhere in the step where the entry names no place', { scenario: '06', step: 3, reason: 'because' }],
  ])('%s', (_name, accepted) => {
    expect(judge([found], [accepted])).toEqual([{ ...found, reason: 'because' }]);
    expect(staleEntries([found], [accepted], new Set(['06']))).toEqual([]);
  });
});

describe('a difference is not accepted, and the entry does not occur', () => {
  it.each<[string, Partial<AcceptedDifference>]>([
    ['in another scenario', { scenario: '07' }],
    ['in another step', { step: 4 }],
    ['in another place', { where: 'body.metadata' }],
    ['with another answer', { got: '3' }],
  ])('%s', (_name, change) => {
    const accepted = { ...entry, ...change };
    expect(judge([found], [accepted])).toEqual([found]);
    expect(staleEntries([found], [accepted], new Set(['06', '07']))).toEqual([accepted]);
  });
});

it('an entry is not missed in a scenario that was not replayed, nor where it occurs only sometimes', () => {
  expect(staleEntries([], [entry], new Set(['07']))).toEqual([]);
  expect(staleEntries([], [{ ...entry, sometimes: true }], new Set(['06']))).toEqual([]);
});
