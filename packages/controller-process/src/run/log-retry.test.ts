import { CONFLICT, NotLeadingError } from '@vmdhcp/kube-runtime';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { expect, it } from 'vitest';
import { createRetryLog, logRetry, type Retry } from './log-retry.js';

const WHAT = { kind: 'IPPool', key: 'default/net-48' };

it.each<[what: string, retry: Retry, lines: unknown[]]>([
  ['a failure is a warning', { reason: 'gone' }, [['warn', { ...WHAT, reason: 'gone' }, 'reconcile failed; retrying']]],
  [
    'an error is part of it',
    { reason: 'unexpected-error', error: new TypeError('x') },
    [['warn', { ...WHAT, reason: 'unexpected-error', err: expect.anything() as unknown }, 'reconcile failed; retrying']],
  ],
  [
    'a conflict is nothing to look at',
    { reason: CONFLICT },
    [['debug', WHAT, 'the object was changed meanwhile; reconciling again']],
  ],
  ['lost leadership has a line elsewhere', { reason: 'unexpected-error', error: new NotLeadingError() }, []],
])('%s', (_what, retry, lines) => {
  const logged: unknown[] = [];
  const log = (level: string) => (fields: unknown, message: unknown) => void logged.push([level, fields, message]);
  logRetry({ debug: log('debug'), warn: log('warn') }, WHAT, retry);
  expect(logged).toEqual(lines);
});

it('ten thousand failures at once are a hundred lines, and one with the number of the others; conflicts take no place', async () => {
  const clock = new FakeClock();
  const warnings: unknown[] = [];
  const log = createRetryLog({ logger: { debug: () => undefined, warn: (fields) => void warnings.push(fields) }, clock });
  for (let n = 0; n < 1_000; n++) log(WHAT, { reason: CONFLICT });
  for (let n = 0; n < 10_000; n++) log({ kind: 'IPPool', key: `default/${n}` }, { reason: `forbidden: ippools "${n}"` });
  expect(warnings).toHaveLength(100);
  const other = { kind: 'VirtualMachine', key: 'default/a' };
  log(other, { reason: 'gone' });
  expect(warnings.slice(100), 'another kind').toEqual([{ ...other, reason: 'gone' }]);
  await clock.advance(1_000);
  expect(warnings.slice(101)).toEqual([{ leftOut: { IPPool: 9_900 } }]);
});
