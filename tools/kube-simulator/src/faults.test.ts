import { describe, expect, it } from 'vitest';
import { type Fault, Faults } from './faults.js';
import type { RequestAttributes } from './request/request-chain.js';

const request: RequestAttributes = {
  user: { username: 'agent', groups: [] },
  verb: 'patch',
  path: '/apis/network.example.com/v1/namespaces/default/ippools/net-48/status',
  isResourceRequest: true,
  group: 'network.example.com',
  version: 'v1',
  resource: 'ippools',
  subresource: 'status',
  namespace: 'default',
  name: 'net-48',
};

const inject = (...faults: Fault[]): Faults => {
  const all = new Faults();
  for (const fault of faults) all.inject(fault);
  return all;
};

const conflict: Fault = { effect: { kind: 'answer', status: 409 } };

describe('a fault', () => {
  it('hits once unless specified otherwise', async () => {
    const faults = inject(conflict);
    expect(await faults.inspect(request)).toMatchObject({ kind: 'answer', failure: { code: 409, reason: 'Conflict' } });
    expect(await faults.inspect(request)).toEqual({ kind: 'none' });
  });

  it('hits the next N requests, or until it is cleared', async () => {
    const faults = inject({ ...conflict, times: 2 }, { effect: { kind: 'close', when: 'after' }, times: 0 });
    const kinds = [];
    for (let round = 0; round < 4; round += 1) kinds.push((await faults.inspect(request)).kind);
    expect(kinds).toEqual(['answer', 'answer', 'close-after', 'close-after']);
    faults.clear(2);
    expect(await faults.inspect(request)).toEqual({ kind: 'none' });
  });

  it.each([
    ['every request', undefined, true],
    ['what it names', { verb: 'patch', resource: 'ippools', subresource: 'status', name: 'net-48', username: 'agent' }, true],
    ['no other verb', { verb: 'get' }, false],
    ['no other object', { resource: 'ippools', name: 'net-49' }, false],
    ['no other user', { username: 'admin' }, false],
    ['not the main resource', { resource: 'ippools', subresource: '' }, false],
  ])('hits %s', async (_name, requests, hit) => {
    const faults = inject({ ...conflict, ...(requests === undefined ? {} : { requests }) });
    expect((await faults.inspect(request)).kind).toBe(hit ? 'answer' : 'none');
  });

  it('leaves discovery alone', async () => {
    expect(await inject(conflict).inspect({ ...request, isResourceRequest: false })).toEqual({ kind: 'none' });
  });

  it('may delay and then do something else', async () => {
    const faults = inject({ effect: { kind: 'delay', delayMs: 30 } }, { effect: { kind: 'close', when: 'before' } });
    const before = performance.now();
    expect(await faults.inspect(request)).toEqual({ kind: 'close-before' });
    expect(performance.now() - before).toBeGreaterThan(25);
  });

  it('answers with the specified message', async () => {
    const effect = { kind: 'answer', status: 429, message: 'slow down', retryAfterSeconds: 7 } as const;
    expect(await inject({ effect }).inspect(request)).toEqual({
      kind: 'answer',
      failure: { code: 429, reason: 'TooManyRequests', message: 'slow down', retryAfterSeconds: 7 },
    });
  });
});
