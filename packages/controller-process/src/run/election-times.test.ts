import { describe, expect, it } from 'vitest';
import { readElectionTimes } from './election-times.js';

describe('readElectionTimes', () => {
  it.each<[string, Record<string, string>, number[]]>([
    ["client-go's", {}, [15_000, 10_000, 2_000]],
    [
      'changed',
      { CATTLE_ELECTION_LEASE_DURATION: '1m30s', CATTLE_ELECTION_RENEW_DEADLINE: '60s', CATTLE_ELECTION_RETRY_PERIOD: '500ms' },
      [90_000, 60_000, 500],
    ],
    ['with the Lease of upstream', { CATTLE_ELECTION_LEASE_DURATION: '45s' }, [45_000, 30_000, 2_000]],
    ['with the deadline of upstream', { CATTLE_ELECTION_RENEW_DEADLINE: '30s' }, [45_000, 30_000, 2_000]],
    ['for development', { CATTLE_DEV_MODE: '1' }, [162_000_000, 108_000_000, 2_000]],
  ])('%s', (_, environment, [leaseDurationMs, renewDeadlineMs, retryPeriodMs]) => {
    expect(readElectionTimes(environment)).toEqual({ leaseDurationMs, renewDeadlineMs, retryPeriodMs });
  });

  it.each(['45', 's', '1x', '-5s', '0s'])('%j is not a duration', (text) => {
    expect(() => readElectionTimes({ CATTLE_ELECTION_LEASE_DURATION: text })).toThrow(
      `CATTLE_ELECTION_LEASE_DURATION=${text} is not a duration; write one like 45s or 1m30s`,
    );
  });

  it.each<Record<string, string>>([
    { CATTLE_ELECTION_LEASE_DURATION: '10s', CATTLE_ELECTION_RENEW_DEADLINE: '10s' },
    { CATTLE_ELECTION_RETRY_PERIOD: '9s' },
  ])('%j does not fit together', (environment) => {
    expect(() => readElectionTimes(environment)).toThrow('do not fit together');
  });
});
