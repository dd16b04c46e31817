import type { Lease } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import type { AddressUse } from '../ports.js';
import { DeclineChecks } from './decline-checks.js';

const SQUATTER = '02:00:00:00:00:66';
const leaseOf = (last: number): Lease => ({ poolName: 'net', macAddress: `02:00:00:00:00:${last}`, address: 0x0a000000 + last });

function setUp() {
  const clock = { nowMs: 0 };
  const questions: ((use: AddressUse) => void)[] = [];
  const outcomes: string[] = [];
  const checks = new DeclineChecks({
    nowMs: () => clock.nowMs,
    findUsers: () => new Promise((resolve) => questions.push(resolve)),
    onOutcome: ({ macAddress }, interfaceName, outcome) =>
      outcomes.push(`${macAddress} on ${interfaceName}: ${outcome.believed ? `used by ${outcome.usedBy}` : outcome.reason}`),
  });
  /** Answers every open probe, and waits for the consequences. */
  const answer = async (use: AddressUse) => {
    for (const resolve of questions.splice(0)) resolve(use);
    await new Promise(setImmediate);
  };
  return { clock, questions, outcomes, checks, answer };
}

describe('a DECLINE is a claim', () => {
  it('that is checked once at a time for each client', async () => {
    const { checks, questions, outcomes, answer } = setUp();
    for (let round = 0; round < 3; round++) checks.claim(leaseOf(10), 'eth1');
    expect(questions).toHaveLength(1);
    expect(outcomes).toEqual(Array(2).fill('02:00:00:00:00:10 on eth1: decline-being-checked'));
    await answer({ byClient: false, others: [SQUATTER] });
    expect(outcomes.at(-1)).toBe(`02:00:00:00:00:10 on eth1: used by ${SQUATTER}`);
    checks.claim(leaseOf(10), 'eth1');
    expect(questions).toHaveLength(1);
  });

  it('that one host can confirm three times an hour', async () => {
    const { clock, checks, outcomes, answer } = setUp();
    const decline = async (last: number, others: readonly string[]) => {
      checks.claim(leaseOf(last), 'eth1');
      await answer({ byClient: false, others });
      return outcomes.at(-1)?.split(': ')[1];
    };
    for (const last of [11, 12, 13]) expect(await decline(last, [SQUATTER])).toBe(`used by ${SQUATTER}`);
    expect(await decline(14, [SQUATTER])).toBe('decline-answered-too-often');
    expect(await decline(15, [SQUATTER, '02:00:00:00:00:77'])).toBe('used by 02:00:00:00:00:77');
    clock.nowMs = 3_600_000;
    expect(await decline(16, [SQUATTER])).toBe(`used by ${SQUATTER}`);
  });
});
