import { describe, expect, it } from 'vitest';
import { creation, ipPool, shown } from './admission-fixtures.js';
import { defaultIpPool } from './default-ip-pool.js';
import { factsOfObjects } from './facts-of-objects.js';
import { reviewUnfilledIpPool } from './review-unfilled-ip-pool.js';

const facts = factsOfObjects([]);
const open = { serverIP: undefined, pool: undefined };

function found(config: Readonly<Record<string, unknown>>): readonly string[] {
  const request = creation(ipPool({ ...open, ...config }));
  const { problems } = defaultIpPool(request, facts);
  expect(problems).not.toEqual([]);
  const review = reviewUnfilledIpPool(request, facts, problems);
  expect(review.allowed).toBe(false);
  return review.problems.map((problem) => shown(problem));
}

describe('an IPPool that cannot be completed', () => {
  it('is refused with the reason and all other problems, each once; missing fields are not repeated', () => {
    const problems = found({ cidr: '192.168.0.0/24', router: 'x', ntp: ['?'], pool: { exclude: ['10.0.0.1'] } });
    const paths = problems.map((text) => text.split(': ')[0]);
    expect(new Set(paths).size).toBe(paths.length);
    expect(problems.filter((text) => /serverIP|pool\.start|pool\.end/.test(text))).toEqual([]);
    for (const part of ['router', 'ntp', 'exclude', 'networkName']) expect(problems.join('\n')).toContain(part);
  });
});
