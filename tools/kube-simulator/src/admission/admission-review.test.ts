import { describe, expect, it } from 'vitest';
import { readReviewAnswer } from './admission-review.js';

const answer = (response: object) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  response: { uid: 'u', ...response },
});
const read = (response: object) => readReviewAnswer(answer(response) as never, 'u', 'v.rec.example.com');
const deniedBy = 'admission webhook "v.rec.example.com" denied the request';

describe('the answer of a webhook', () => {
  it.each([
    ['message only', { message: 'because X' }, { code: 400, message: `${deniedBy}: because X` }],
    ['message and code', { message: 'because X', code: 403 }, { code: 403, message: `${deniedBy}: because X` }],
    ['reason only', { reason: 'because Y' }, { code: 400, reason: 'because Y', message: `${deniedBy}: because Y` }],
    ['a denial that calls itself a success', { code: 200, message: 'm' }, { code: 400, message: `${deniedBy}: m` }],
    [
      'details',
      { code: 422, reason: 'Invalid', message: 'm', details: { causes: [{ field: 'spec' }] } },
      { code: 422, reason: 'Invalid', message: `${deniedBy}: m`, details: { causes: [{ field: 'spec' }] } },
    ],
    ['no status', undefined, { code: 400, message: `${deniedBy} without explanation` }],
  ])('denial: %s', (_name, status, failure) => {
    expect(read({ allowed: false, status, warnings: ['w'] })).toEqual({ kind: 'denied', failure, warnings: ['w'] });
  });

  it('allows, perhaps with a patch', () => {
    const patch = [{ op: 'remove', path: '/spec/x' }];
    const encoded = Buffer.from(JSON.stringify(patch)).toString('base64');
    expect(read({ allowed: true })).toEqual({ kind: 'allowed', patch: undefined, warnings: [] });
    expect(read({ allowed: true, patch: encoded, patchType: 'JSONPatch' })).toEqual({ kind: 'allowed', patch, warnings: [] });
  });

  it.each([
    [answer({ uid: 'wrong', allowed: true }), 'expected response.uid="u", got "wrong"'],
    [answer({ allowed: true, patch: 'W10=' }), 'webhook returned response.patch but not response.patchType'],
    [{ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }, 'webhook response was absent'],
    [
      { apiVersion: 'v1', kind: 'Status' },
      'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got v1, Kind=Status',
    ],
  ])('%#: is none', (body, problem) => {
    expect(readReviewAnswer(body as never, 'u', 'v')).toEqual({
      kind: 'broken',
      problem: `received invalid webhook response: ${problem}`,
    });
  });
});
