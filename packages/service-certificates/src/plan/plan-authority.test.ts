import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CertificateFacts, ObservedPair } from './certificate-facts.js';
import { DEFAULT_TIMES, renewalTimeMs } from './certificate-times.js';
import { type AuthorityStep, type ObservedAuthority, planAuthority, retiredToKeep, toPublish } from './plan-authority.js';

const DAY_MS = 86_400_000;
const T0 = 20_000 * DAY_MS;
const { authorityLifetimeMs, backdatedMs, publishedForMs } = DEFAULT_TIMES;

const made = (fingerprint: string, madeAtMs: number, more: Partial<CertificateFacts> = {}): CertificateFacts => ({
  fingerprint,
  notBeforeMs: madeAtMs - backdatedMs,
  notAfterMs: madeAtMs + authorityLifetimeMs,
  isAuthority: true,
  names: [],
  ...more,
});
const pair = (facts: CertificateFacts): ObservedPair => ({ kind: 'readable', facts });
const MISSING: ObservedPair = { kind: 'missing' };
const faulty = (fault: 'key-missing' | 'certificate-unreadable' | 'not-an-authority'): ObservedPair => ({
  kind: 'faulty',
  fault,
});

function observed(parts: Partial<ObservedAuthority>, nowMs = T0): ObservedAuthority {
  const whole = { issuer: pair(made('a', T0)), successor: MISSING, retired: [], published: undefined, ...parts };
  return 'published' in parts ? whole : { ...whole, published: toPublish(whole, nowMs) };
}

const RENEW = renewalTimeMs(made('a', T0));

describe('planAuthority', () => {
  it.each<[string, Partial<ObservedAuthority>, number, AuthorityStep]>([
    ['nothing is there', { issuer: MISSING }, T0, { kind: 'create', reason: 'missing', keepsFormer: false }],
    ['its key was cut out', { issuer: faulty('key-missing') }, T0, { kind: 'create', reason: 'key-missing', keepsFormer: true }],
    [
      'its certificate was edited',
      { issuer: faulty('certificate-unreadable') },
      T0,
      { kind: 'create', reason: 'certificate-unreadable', keepsFormer: false },
    ],
    [
      'a certificate that cannot sign is in its place',
      { issuer: faulty('not-an-authority') },
      T0,
      { kind: 'create', reason: 'not-an-authority', keepsFormer: false },
    ],
    ['it is new', {}, T0, { kind: 'keep', checkAtMs: RENEW }],
    ['it expired', {}, T0 + authorityLifetimeMs, { kind: 'create', reason: 'expired', keepsFormer: false }],
    [
      'it expired, and a successor is there',
      { successor: pair(made('b', RENEW)) },
      T0 + authorityLifetimeMs,
      { kind: 'promote-successor' },
    ],
    [
      'it was cut out, and a successor is there',
      { issuer: MISSING, successor: pair(made('b', T0)) },
      T0,
      { kind: 'promote-successor' },
    ],
    ['the clock is behind', {}, T0 - 2 * DAY_MS, { kind: 'keep', problem: 'clock-behind', checkAtMs: T0 - backdatedMs }],
    ['clocks differ by an hour', {}, T0 - 3_600_000, { kind: 'keep', checkAtMs: RENEW }],
    ['it is due', {}, RENEW, { kind: 'add-successor' }],
    ['it is not due', {}, RENEW - 1, { kind: 'keep', checkAtMs: RENEW }],
    [
      'its successor is published',
      { successor: pair(made('b', RENEW)) },
      RENEW,
      { kind: 'keep', checkAtMs: RENEW + publishedForMs },
    ],
    [
      'its successor was published long enough',
      { successor: pair(made('b', RENEW)) },
      RENEW + publishedForMs,
      { kind: 'promote-successor' },
    ],
    ['its successor cannot be read', { successor: faulty('certificate-unreadable') }, T0, { kind: 'add-successor' }],
    ['its successor is itself', { successor: pair(made('a', T0)) }, T0, { kind: 'add-successor' }],
    ['its successor is expired', { successor: pair(made('b', T0 - 2 * authorityLifetimeMs)) }, T0, { kind: 'add-successor' }],
    ['what is published was edited', { published: ['x'] }, T0, { kind: 'republish' }],
    ['what is published cannot be read', { published: undefined }, T0, { kind: 'republish' }],
    ['an authority before it expired', { retired: [made('z', T0 - authorityLifetimeMs)] }, T0, { kind: 'republish' }],
    [
      'an authority before it is still valid',
      { retired: [made('z', T0 - authorityLifetimeMs + DAY_MS)] },
      T0,
      { kind: 'keep', checkAtMs: RENEW },
    ],
  ])('where %s', (_, parts, nowMs, step) => {
    expect(planAuthority(observed(parts, nowMs), nowMs, DEFAULT_TIMES)).toEqual(step);
  });

  it('renews before two thirds of the lifetime', () => {
    const facts = made('a', T0);
    expect((RENEW - facts.notBeforeMs) / (facts.notAfterMs - facts.notBeforeMs)).toBeLessThan(2 / 3);
  });

  it('law: whatever the clock does, an issuing authority was published long enough to be trusted, unless the former one was unusable', () => {
    const clock = fc.array(fc.integer({ min: 0, max: 400 * DAY_MS }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(clock, (steps) => {
        let nowMs = T0;
        let count = 0;
        let state = observed({});
        const next = (atMs: number) => {
          count += 1;
          return pair(made(`n${count}`, atMs));
        };
        for (const stepMs of steps) {
          nowMs += stepMs;
          for (let round = 0; round < 6; round += 1) {
            const plan = planAuthority(state, nowMs, DEFAULT_TIMES);
            if (plan.kind === 'keep') break;
            const { issuer, successor } = state;
            const old = issuer.kind === 'readable' ? [issuer.facts] : [];
            if (plan.kind === 'promote-successor' && successor.kind === 'readable' && issuer.kind === 'readable') {
              const publishedForSoFarMs = nowMs - (successor.facts.notBeforeMs + backdatedMs);
              expect(publishedForSoFarMs >= publishedForMs || issuer.facts.notAfterMs <= nowMs).toBe(true);
            }
            const retired = [...(plan.kind === 'promote-successor' ? old : []), ...state.retired];
            const after = {
              ...state,
              ...(plan.kind === 'create' && { issuer: next(nowMs), successor: MISSING }),
              ...(plan.kind === 'add-successor' && { successor: next(nowMs) }),
              ...(plan.kind === 'promote-successor' && { issuer: successor, successor: MISSING }),
              retired: retiredToKeep(retired, nowMs),
            };
            state = observed(after, nowMs);
            delete (state as { published?: unknown }).published;
            state = { ...state, published: toPublish(state, nowMs) };
          }
          expect(planAuthority(state, nowMs, DEFAULT_TIMES).kind).toBe('keep');
        }
      }),
    );
  });
});
