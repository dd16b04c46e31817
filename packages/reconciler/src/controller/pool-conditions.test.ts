import type { ConditionOf } from '@vmdhcp/ippool-api';
import { describe, expect, it } from 'vitest';
import { NOTHING_KNOWN_OF_AGENTS } from '../agents/pool-agents.js';
import type { ClaimRefusal } from '../assignment/address-request.js';
import type { PoolPlan } from '../assignment/plan-pools.js';
import { pool } from '../fixtures/object-fixtures.js';
import { type PoolView, PoolViews } from '../view/pool-views.js';
import { type PoolObstacle, poolConditions, WITHOUT_AGENTS, withCause } from './pool-conditions.js';
import { agentWarnings, entryWarning, exhaustionWarning } from './pool-warnings.js';

function view(more: { readonly spec?: object; readonly status?: object } = {}): PoolView {
  const object = pool();
  return new PoolViews().of({
    ...object,
    spec: { ...(object.spec as object), ...more.spec },
    ...(more.status && { status: more.status }),
  });
}

const OBSTACLE: PoolObstacle = { reason: 'network-taken', message: 'another pool serves it' };
const texts = (conditions: readonly ConditionOf<'IPPool'>[]) =>
  conditions.map(({ type, status, reason, message }) => [`${type}=${status}`, reason, message].filter(Boolean).join(' '));

describe('the conditions of a pool', () => {
  it('are good for a pool in use', () => {
    expect(texts(poolConditions(view(), undefined, []))).toEqual(['Stopped=False', 'CacheReady=True']);
  });

  it('say that a pool is paused', () => {
    expect(texts(poolConditions(view({ spec: { paused: true } }), undefined, []))).toEqual([
      'Stopped=True',
      'CacheReady=False Paused the pool is paused: nothing is allocated or served; set spec.paused to false',
    ]);
  });

  it('a problem of the pool takes precedence over its pause', () => {
    expect(texts(poolConditions(view({ spec: { paused: true } }), OBSTACLE, []))).toEqual([
      'Stopped=True',
      'CacheReady=False NetworkTaken another pool serves it',
    ]);
  });

  it('invalid entries come before notes, and the first reason counts', () => {
    const status = { ipv4: { allocated: { '10.0.0.300': '02:00:00:00:00:01' } } };
    const note = { reason: 'SegmentShared', message: 'shared' } as const;
    const [, condition = ''] = texts(poolConditions(view({ status }), undefined, [note]));
    expect(condition).toMatch(
      /^CacheReady=True EntriesSkipped ignored, because it is invalid: status.ipv4.allocated has .*; shared$/,
    );
    expect(texts(poolConditions(view(), undefined, [note]))[1]).toBe('CacheReady=True SegmentShared shared');
  });
});

describe('the conditions that agents report', () => {
  it('have the cause if the pool is not used, otherwise the report', () => {
    const notServed: ConditionOf<'IPPool'> = { type: 'AgentReady', status: 'False', reason: 'NotServed', message: 'not served' };
    const other: ConditionOf<'IPPool'> = { type: 'AgentReady', status: 'False', reason: 'NotLeading', message: 'standby' };
    expect(withCause(notServed, OBSTACLE)).toEqual({ ...notServed, reason: 'NetworkTaken', message: 'another pool serves it' });
    expect(withCause(other, OBSTACLE)).toBe(other);
    expect(withCause(notServed, undefined)).toBe(notServed);
  });

  it('without agents there is nothing to wait for', () => {
    expect(texts(WITHOUT_AGENTS.conditions)).toEqual(['Registered=True', 'AgentReady=True']);
  });
});

describe('the Events of a pool', () => {
  it('conditions that need action, each reason once; no others', () => {
    const conditions: ConditionOf<'IPPool'>[] = [
      { type: 'Registered', status: 'False', reason: 'NetworkMissing', message: 'create it' },
      { type: 'AgentReady', status: 'False', reason: 'NetworkMissing', message: 'create it' },
      { type: 'AgentReady', status: 'False', reason: 'NotLeading', message: 'wait' },
      { type: 'Registered', status: 'True' },
    ];
    expect(agentWarnings({ ...NOTHING_KNOWN_OF_AGENTS, conditions })).toEqual([
      { reason: 'NetworkMissing', message: 'create it' },
    ]);
  });

  it.each([
    ['02:00:00:00:00:66', 'is in use by 02:00:00:00:00:66: ', 'for 02:00:00:00:00:66 in spec'],
    [
      undefined,
      'is in use by an unknown machine, as its client found out: ',
      "for that machine's MAC address, once you have found it, in spec",
    ],
  ])('an address that %s uses', (usedBy, who, remedy) => {
    const conflict = { address: 0x0a00000a, macAddress: '02:00:00:00:00:0a', ...(usedBy !== undefined && { usedBy }) };
    const [warning] = agentWarnings({ ...NOTHING_KNOWN_OF_AGENTS, conflicts: [conflict] });
    expect(warning?.reason).toBe('AddressConflict');
    expect(warning?.message).toContain(`10.0.0.10, which was assigned to 02:00:00:00:00:0a, ${who}`);
    expect(warning?.message).toContain(remedy);
  });

  it('an entry that cannot be read', () => {
    const [entry] = view({ status: { ipv4: { allocated: { nonsense: 'x' } } } }).recorded.unreadable;
    expect(entryWarning(entry as NonNullable<typeof entry>)).toEqual({
      reason: 'EntriesSkipped',
      message: expect.stringMatching(
        /^status.ipv4.allocated has .*nonsense.*: no client gets that address until the entry is removed$/,
      ),
    });
  });

  it.each<[ClaimRefusal['reason'], number]>([
    ['pool-exhausted', 1],
    ['address-taken', 0],
  ])('a claim that is refused as %s causes %i warnings, which say where there is room', (reason, count) => {
    const refusals = new Map([['default/vm-a', new Map([['02:00:00:00:00:0a', { reason, message: 'why' }]])]]);
    const warnings = exhaustionWarning({ refusals } as unknown as PoolPlan, view());
    expect(warnings.map((warning) => warning.reason)).toEqual(Array(count).fill('PoolExhausted'));
    for (const { message } of warnings) expect(message).toMatch(/^every address is in use and virtual machines wait for one; ./);
  });
});
