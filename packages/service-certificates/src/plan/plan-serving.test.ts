import { describe, expect, it } from 'vitest';
import type { CertificateFacts } from './certificate-facts.js';
import { type ObservedServing, planServing, type ServingStep } from './plan-serving.js';

const DAY_MS = 86_400_000;
const NAMES = ['b.svc', 'a.svc'];
const facts: CertificateFacts = {
  fingerprint: 's',
  notBeforeMs: 0,
  notAfterMs: 100 * DAY_MS,
  isAuthority: false,
  names: ['a.svc', 'b.svc'],
};
const there = (more: Partial<CertificateFacts> = {}): ObservedServing => ({
  pair: { kind: 'readable', facts: { ...facts, ...more } },
  isIssuedByIssuer: true,
  issuerNotAfterMs: 900 * DAY_MS,
  repeatsPublished: true,
});
const issue = (reason: Extract<ServingStep, { kind: 'issue' }>['reason']): ServingStep => ({ kind: 'issue', reason });

describe('planServing', () => {
  it.each<[string, ObservedServing, number, ServingStep]>([
    ['there is none', { ...there(), pair: { kind: 'missing' } }, 1, issue('missing')],
    ['its key was cut out', { ...there(), pair: { kind: 'faulty', fault: 'key-missing' } }, 1, issue('key-missing')],
    ['it is of another authority', { ...there(), isIssuedByIssuer: false }, 1, issue('issued-by-another-authority')],
    ['it is new', there(), 1, { kind: 'keep', checkAtMs: 60 * DAY_MS }],
    ['it is due', there(), 60 * DAY_MS, issue('renewal-due')],
    [
      'a new one would end no later',
      { ...there(), issuerNotAfterMs: 100 * DAY_MS },
      99 * DAY_MS,
      { kind: 'keep', checkAtMs: 60 * DAY_MS },
    ],
    ['it is expired', there(), 100 * DAY_MS, issue('expired')],
    ['it is not valid yet', there({ notBeforeMs: 2 }), 1, issue('not-valid-yet')],
    ['it has other names', there({ names: ['a.svc'] }), 1, issue('names-changed')],
    ['the trusted certificates have changed', { ...there(), repeatsPublished: false }, 1, { kind: 'republish' }],
  ])('where %s', (_, observed, nowMs, step) => {
    expect(planServing(observed, NAMES, nowMs)).toEqual(step);
  });
});
