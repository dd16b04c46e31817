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

const POOL = { kind: 'IPPool', name: 'net-48' };

describe('the answer to the API server', () => {
  it('yes, and no more', () => {
    expect(toAdmissionResponse({ allowed: true, problems: [], warnings: [] }, POOL)).toEqual({ allowed: true });
  });

  it('yes, with warnings for kubectl', () => {
    expect(toAdmissionResponse({ allowed: true, problems: [], warnings: [problem(1)] }, POOL)).toEqual({
      allowed: true,
      warnings: ['spec.ipv4Config.pool.exclude[1]: x is outside; remove it'],
    });
  });

  it('no: each problem on a line, and as a cause with its field', () => {
    expect(toAdmissionResponse({ allowed: false, problems: [problem(1), problem(2)], warnings: [] }, POOL)).toEqual({
      allowed: false,
      status: {
        code: 422,
        reason: 'Invalid',
        message:
          'spec.ipv4Config.pool.exclude[1]: x is outside; remove it\nspec.ipv4Config.pool.exclude[2]: x is outside; remove it',
        details: {
          kind: 'IPPool',
          name: 'net-48',
          causes: [
            { reason: 'FieldValueInvalid', field: 'spec.ipv4Config.pool.exclude[1]', message: 'x is outside; remove it' },
            { reason: 'FieldValueInvalid', field: 'spec.ipv4Config.pool.exclude[2]', message: 'x is outside; remove it' },
          ],
        },
      },
    });
  });

  it('no, about the whole object: in one text', () => {
    const whole: AdmissionProblem = { ...problem(0), reason: 'pool-in-use', path: [], message: 'in use' };
    expect(toAdmissionResponse({ allowed: false, problems: [whole], warnings: [] }, POOL)).toEqual({
      allowed: false,
      status: { code: 403, reason: 'Forbidden', message: 'in use; remove it' },
    });
  });

  it('bounded, whatever a manifest has', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({ ...problem(index), message: 'y'.repeat(5_000) }));
    const { status, warnings } = toAdmissionResponse({ allowed: false, problems: many, warnings: many }, POOL);
    expect(status?.message.split('\n')).toHaveLength(65);
    expect(status?.message).toContain('and 936 more');
    expect(JSON.stringify({ status, warnings }).length).toBeLessThan(100_000);
  });
});
