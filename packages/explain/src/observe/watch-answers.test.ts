import { ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { describe, expect, it } from 'vitest';
import { watchAnswers } from './watch-answers.js';

interface Watched {
  readonly news: readonly object[];
  readonly failures: readonly string[];
}

/** The results passed on for these replies; an error is thrown. The watch ends with the last one. */
async function watched(answers: readonly (object | Error)[]): Promise<Watched> {
  const stop = new AbortController();
  const [news, failures]: [object[], string[]] = [[], []];
  let round = 0;
  await watchAnswers({
    signal: stop.signal,
    intervalMs: 1,
    ask: async () => {
      const answer = answers[round++];
      if (answer === undefined) stop.abort();
      if (answer instanceof Error) throw answer;
      return answer ?? {};
    },
    onNews: async (answer) => void news.push(answer),
    onFailure: (message) => void failures.push(message),
  });
  return { news, failures };
}

const link = (facts: string) => ({ requests: 7, chain: { links: [{ link: 'pool', facts, findings: [] }] } });
const noAnswer = () => new ApiRequestError('connect ECONNREFUSED 127.0.0.1:6443');

describe('a result that is watched', () => {
  it.each([
    ['the pool fills up', '10.1.0.1-80: 1 address used, 79 free', '10.1.0.1-80: 79 addresses used, 1 free'],
    ['another leader', 'agent-1 is leader, renewed 1 second ago', 'agent-2 is leader, renewed 1 second ago'],
    [
      'another packet',
      'REQUEST once; the last 2 seconds ago: ACK 10.1.0.1',
      'REQUEST twice; the last 2 seconds ago: ACK 10.1.0.1',
    ],
  ])('is passed on: %s', async (_what, before, after) => {
    expect((await watched([link(before), link(after)])).news).toEqual([link(before), link(after)]);
  });

  it.each([
    ['seconds', 'agent-1 is leader, renewed 1 second ago', 'agent-1 is leader, renewed 12 seconds ago'],
    ['minutes', 'it counts since 119 seconds ago', 'it counts since 2 minutes ago'],
    ['hours', 'it counts since 119 minutes ago', 'it counts since 1,002 hours ago'],
  ])('is not passed on if only ages differ: %s', async (_unit, before, after) => {
    expect((await watched([link(before), { ...link(after), requests: 14 }])).news).toEqual([link(before)]);
  });

  it('arrives again after a failure, which is passed on once until there is a result', async () => {
    const [one, two] = [link('one'), link('two')];
    const { news, failures } = await watched([one, noAnswer(), noAnswer(), one, noAnswer(), two]);
    expect(news).toEqual([one, two]);
    expect(failures).toEqual(Array.from({ length: 2 }, () => expect.stringContaining('ECONNREFUSED') as unknown));
  });

  it('is missing if the first query fails', async () => {
    await expect(watched([noAnswer()])).rejects.toMatchObject({ exitCode: ExitCode.unavailable });
  });

  it.each([
    ['a login that has expired', new ApiRequestError('Unauthorized', { status: 401 })],
    ['a refusal', new CommandError('no', ExitCode.noPermission)],
    ['a fault of its own', new TypeError('a fault')],
  ])('ends the watch on %s', async (_what, error) => {
    await expect(watched([link('one'), error])).rejects.toThrow(error.message);
  });
});
