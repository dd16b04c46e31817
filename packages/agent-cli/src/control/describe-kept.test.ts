import { expect, it } from 'vitest';
import { describeKept, type KeptLease } from './describe-kept.js';

const kept = (reason: Extract<KeptLease, { kind: 'kept' }>['reason']): KeptLease => ({
  ...{ kind: 'kept', reason, macAddress: '02:00:00:00:00:01' },
});

it.each<[KeptLease, string]>([
  [{ kind: 'not-recorded' }, 'could not be recorded: try again'],
  [{ kind: 'time-ahead' }, 'then run vmdhcp-agent release 10.0.0.10 again'],
  [kept('release-address-in-use-by-client'), 'switch it off or unplug it, then release the lease again'],
  [kept('release-not-checked'), 'remedy it, then release the lease again'],
  [kept('release-limit'), 'try again in ten seconds'],
])('%j tells what to do', (end, expected) => {
  const text = describeKept({ ipAddress: '10.0.0.10' }, end);
  expect(text).toContain('10.0.0.10');
  expect(text).toContain(expected);
});
