import { expect, it } from 'vitest';
import { describeKept, type KeptLease } from './describe-kept.js';

const MAC = { macAddress: '02:00:00:00:00:01' };

it.each<[KeptLease, string]>([
  [{ kind: 'not-recorded' }, 'could not be recorded: try again'],
  [{ kind: 'time-ahead' }, 'then run vmdhcp-agent release 10.0.0.10 again'],
  [{ kind: 'kept', reason: 'in-use-by-client', ...MAC }, 'switch it off or unplug it, then release the lease again'],
  [
    { kind: 'kept', reason: 'in-use-by-another-host', ...MAC },
    '02:00:00:00:00:01 answers ARP for it; give that host another address',
  ],
  [{ kind: 'kept', reason: 'not-checked', ...MAC }, '02:00:00:00:00:01 keeps its lease of 10.0.0.10: the agent could not probe'],
  [{ kind: 'kept', reason: 'not-checked' }, '10.0.0.10 stays in quarantine: the agent could not probe'],
  [{ kind: 'kept', reason: 'being-checked', ...MAC }, 'try again in ten seconds'],
])('says what to do about %j', (end, expected) => {
  const text = describeKept({ ipAddress: '10.0.0.10' }, end);
  expect(text).toContain('10.0.0.10');
  expect(text).toContain(expected);
});
