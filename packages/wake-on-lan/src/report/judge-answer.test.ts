import { expect, it } from 'vitest';
import { judgeAnswer } from './judge-answer.js';
import type { WakeStatus } from './wake-report.js';

const machine = { namespace: 'lab', name: 'vm-a', currentState: 'Stopped' };

it.each<[WakeStatus, string]>([
  ['accepted', 'window'],
  ['duplicate', 'window'],
  ['vm-start-initiated', 'window'],
  ['vm-already-running', 'moment'],
  ['vm-not-found', 'no'],
  ['error', 'no'],
  ['unknown', 'no'],
])('%s: further packets are the same wake-up for: %s', (status, remembered) => {
  const answer = { status, message: 'why', machine, wasDuplicate: false, processingTimeMs: 1 };
  expect(judgeAnswer({ kind: 'answered', answer })).toEqual({ remembered, outcome: status, message: `${status} lab/vm-a: why` });
});

it('a report that the manager cannot read is refused', () =>
  expect(judgeAnswer({ kind: 'malformed', message: 'node_name is not the name of a node' })).toEqual({
    remembered: 'no',
    outcome: 'malformed',
    message: 'node_name is not the name of a node',
  }));
