import { ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { expect, it } from 'vitest';
import { passingTroubleOf } from './passing-trouble.js';

it.each<[what: string, error: unknown, expected: string | undefined]>([
  ['no answer', new ApiRequestError('GET /x: no answer'), 'GET /x: no answer'],
  ['500', new ApiRequestError('GET /x: 500', { status: 500 }), 'GET /x: 500'],
  ['429', new ApiRequestError('GET /x: 429', { status: 429 }), 'GET /x: 429'],
  [
    'a command that failed for it',
    new CommandError('x', ExitCode.failed, { cause: new ApiRequestError('GET /x: 503', { status: 503 }) }),
    'GET /x: 503',
  ],
  ['a refusal', new ApiRequestError('GET /x: 403', { status: 403 }), undefined],
  ['a fault of the program', new TypeError('x'), undefined],
])('%s', (_what, error, expected) => {
  expect(passingTroubleOf(error)).toBe(expected);
});
