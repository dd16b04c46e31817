import type { WakeStatus } from '@vmdhcp/wol-service';
import { expect, it } from 'vitest';
import { judgeAnswer } from './judge-answer.js';

const machine = { namespace: 'lab', name: 'vm-a', currentState: 'Stopped' };

it.each<[WakeStatus, boolean]>([
  ['accepted', true],
  ['duplicate', true],
  ['vm-start-initiated', true],
  ['vm-already-running', true],
  ['vm-not-found', false],
  ['error', false],
  ['unknown', false],
])('%s ends a wake-up for its window: %s', (status, isAccepted) => {
  const answer = { status, message: 'why', machine, wasDuplicate: false, processingTimeMs: 1 };
  expect(judgeAnswer({ kind: 'answered', answer })).toEqual({ isAccepted, outcome: status, message: `${status} lab/vm-a: why` });
});

it('a report that the manager cannot read is refused', () =>
  expect(judgeAnswer({ kind: 'malformed', message: 'node_name is no name of a node' })).toEqual({
    isAccepted: false,
    outcome: 'malformed',
    message: 'node_name is no name of a node',
  }));
