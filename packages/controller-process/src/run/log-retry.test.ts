import { CONFLICT, NotLeadingError } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { logRetry, type Retry } from './log-retry.js';

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
