import type { AgentTrafficReport, ClientTraffic } from '@vmdhcp/explain';
import type { Leader } from '@vmdhcp/explain/observe';
import { describeAgentFailure, mapBounded } from '@vmdhcp/explain/observe';
import { describe, expect, it } from 'vitest';
import { formatAge } from './top-columns.js';
import { type AskedLeader, type TopOrder, type TopQuestion, topRows } from './top-rows.js';

const POOL = 'default/a';
const leader = (more: Partial<Leader> = {}): Leader => ({ namespace: 'agents', group: 'g', pod: 'p', pools: [POOL], ...more });
const QUESTION: TopQuestion = { pool: undefined, sort: 'packets', limit: 10, nowMs: 100_000 };

function client(number: number, more: Partial<ClientTraffic> = {}): ClientTraffic {
  const macAddress = `02:00:00:00:00:0${number}`;
  return {
    ...{ macAddress, pool: POOL, interface: 'net1', lastAtMs: 10_000 * number, last: [] },
    ...{ messages: { DISCOVER: number }, answers: {}, unanswered: {}, ...more },
  };
}

function answered(
  clients: readonly ClientTraffic[],
  places: AgentTrafficReport['places'] = [],
  more: Partial<Leader> = {},
): AskedLeader {
  return { leader: leader(more), asked: { kind: 'answered', traffic: { agent: 'p', sinceMs: 40_000, places, clients } } };
}

const failed = (message: string, more: Partial<Leader> = {}): AskedLeader => ({
  leader: leader(more),
  asked: { kind: 'failed', message, isForbidden: false },
});

describe('rows of pools', () => {
  it('have the counts of the pool, and a NAK is a refusal', () => {
    const place = { pool: POOL, interface: 'net1', lastAtMs: 88_000, messages: { DISCOVER: 5, REQUEST: 2 } };
    const counts = { ...place, answers: { OFFER: 3, NAK: 1 }, unanswered: { rare: 1, often: 2 } };
    expect(topRows([answered([client(1)], [counts])], QUESTION).pools).toEqual([
      {
        ...{ pool: POOL, agent: 'agents/p', group: 'g', clients: 1, packets: 7, answers: 4, refusals: 4, topReason: 'often' },
        ...{ lastSeconds: 12, countedSeconds: 60, error: '' },
      },
    ]);
  });

  it('have NAK as the reason if there is no other', () => {
    const place = { pool: POOL, interface: 'net1', lastAtMs: 0, messages: {}, answers: { NAK: 1 }, unanswered: {} };
    expect(topRows([answered([], [place])], QUESTION).pools).toMatchObject([{ topReason: 'NAK', lastSeconds: undefined }]);
  });

  it('include a pool without packets', () => {
    expect(topRows([answered([])], QUESTION).pools).toMatchObject([{ pool: POOL, packets: 0, error: '' }]);
  });

  it('include an agent that could not be queried, with one row for each of its pools, or one without a pool', () => {
    const leaders = [failed('gone', { pools: ['default/b', 'default/c'] }), failed('idle', { pools: [], pod: undefined })];
    const rows = topRows(leaders, QUESTION).pools;
    expect(rows.map(({ pool, agent, error }) => [pool, agent, error])).toEqual([
      ['', '', 'idle'],
      ['default/b', 'agents/p', 'gone'],
      ['default/c', 'agents/p', 'gone'],
    ]);
  });

  it('include only the requested pool', () => {
    const leaders = [failed('gone', { pools: ['default/b'] }), answered([client(1)])];
    const { pools, clients } = topRows(leaders, { ...QUESTION, pool: 'default/b' });
    expect([pools.map(({ pool }) => pool), clients]).toEqual([['default/b'], []]);
  });
});

describe('rows of clients', () => {
  const refused = client(1, { unanswered: { 'unknown-client': 9 }, lastAtMs: 99_000 });
  it.each<[TopOrder, readonly number[]]>([
    ['packets', [3, 2, 1]],
    ['refusals', [1, 2, 3]],
    ['last', [1, 3, 2]],
    ['name', [1, 2, 3]],
  ])('by %s', (sort, numbers) => {
    const { clients } = topRows([answered([client(2), refused, client(3)])], { ...QUESTION, sort });
    expect(clients.map(({ macAddress }) => Number(macAddress.slice(-1)))).toEqual(numbers);
  });

  it('have their last packet, and are limited in number', () => {
    const last = [{ atMs: 1, received: 'REQUEST', from: '0.0.0.0', answer: undefined, reason: 'unknown-client' }];
    const { clients } = topRows([answered([client(1), client(2, { last })])], { ...QUESTION, limit: 1 });
    expect(clients).toMatchObject([{ macAddress: '02:00:00:00:00:02', last: 'REQUEST: unknown-client' }]);
  });
});

it.each([
  [undefined, ''],
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [7200, '2h'],
  [172_800, '2d'],
])('%s seconds: %j', (seconds, text) => expect(formatAge(seconds)).toBe(text));

it.each([
  [0, '', 'its version does not match this plugin'],
  [64, "error: unknown command 'clients'", 'of an earlier version'],
  [69, 'vmdhcp-agent clients: no agent runs here\nmore', 'vmdhcp-agent clients: no agent runs here'],
  [137, '', 'the agent ended with exit code 137'],
])('exit code %i %j: %s', (exitCode, stderr, text) => expect(describeAgentFailure(exitCode, stderr)).toContain(text));

it('runs a limited number at once, and keeps the order of results', async () => {
  let running = 0;
  let most = 0;
  const waiting: (() => void)[] = [];
  const all = mapBounded([1, 2, 3, 4, 5], 2, async (item) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => waiting.push(resolve));
    running -= 1;
    return item * 10;
  });
  for (let ended = 0; ended < 5; ended++) {
    await expect.poll(() => waiting.length).toBeGreaterThan(0);
    waiting.pop()?.();
  }
  expect([await all, most]).toEqual([[10, 20, 30, 40, 50], 2]);
});
