import { describe, expect, it } from 'vitest';
import { toAdmissionResponse } from './admission-response.js';
import type { AdmissionProblem } from './admission-review.js';

const problem = (index: number): AdmissionProblem => ({
  reason: 'outside-subnet',
  path: ['spec', 'ipv4Config', 'pool', 'exclude', index],
  value: 'x',
  message: `x is outside`,
  remedy: 'remove it',
});

describe('what the API server is answered', () => {
  it('yes, and no more', () => {
    expect(toAdmissionResponse({ allowed: true, problems: [], warnings: [] })).toEqual({ allowed: true });
  });

  it('yes, with warnings for kubectl', () => {
    expect(toAdmissionResponse({ allowed: true, problems: [], warnings: [problem(1)] })).toEqual({
      allowed: true,
      warnings: ['spec.ipv4Config.pool.exclude[1]: x is outside; remove it'],
    });
  });

  it('no: each problem on a line, and as a cause with its field', () => {
    const whole: AdmissionProblem = { ...problem(0), reason: 'pool-in-use', path: [], message: 'in use' };
    expect(toAdmissionResponse({ allowed: false, problems: [problem(1), whole], warnings: [] })).toEqual({
      allowed: false,
      status: {
        code: 422,
        reason: 'Invalid',
        message: 'spec.ipv4Config.pool.exclude[1]: x is outside; remove it\nin use; remove it',
        details: {
          causes: [
            { reason: 'FieldValueInvalid', field: 'spec.ipv4Config.pool.exclude[1]', message: 'x is outside; remove it' },
            { reason: 'FieldValueInvalid', field: '(root)', message: 'in use; remove it' },
          ],
        },
      },
    });
  });

  it('bounded, whatever a manifest has', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({ ...problem(index), message: 'y'.repeat(5_000) }));
    const { status, warnings } = toAdmissionResponse({ allowed: false, problems: many, warnings: many });
    expect(status?.message.split('\n')).toHaveLength(65);
    expect(status?.message).toContain('and 936 more');
    expect(JSON.stringify({ status, warnings }).length).toBeLessThan(100_000);
  });
});
