import { ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { describe, expect, it } from 'vitest';
import { passingTroubleOf, readPatiently } from './passing-trouble.js';

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

describe('reading patiently', () => {
  const trouble = new ApiRequestError('GET /x: 503', { status: 503 });
  /** How often it was read, and what came of it, if the first readings fail with these. */
  async function read(...failures: readonly Error[]): Promise<readonly [count: number, outcome: unknown]> {
    let count = 0;
    const reading = readPatiently(
      async () => {
        const failure = failures[count++];
        if (failure !== undefined) throw failure;
        return 'read';
      },
      async () => undefined,
    );
    const outcome = await reading.catch((error: unknown) => error);
    return [count, outcome];
  }

  it('repeats what the API server could not answer now, three times at most', async () => {
    expect(await read(trouble, trouble)).toEqual([3, 'read']);
    expect(await read(trouble, trouble, trouble, trouble, trouble)).toEqual([4, trouble]);
  });

  it('does not repeat what was refused', async () => {
    const refusal = new ApiRequestError('GET /x: 403', { status: 403 });
    expect(await read(refusal)).toEqual([1, refusal]);
  });
});
