import type { ElectionTimes } from '@vmdhcp/reconciler';
import { CommandError, ExitCode } from '@vmdhcp/service-process';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Upstream's times and the variables that change them. @throws CommandError for a duration that is none. */
export function readElectionTimes(environment: Readonly<Record<string, string | undefined>>): ElectionTimes {
  const isDevelopment = Boolean(environment['CATTLE_DEV_MODE']);
  const read = (name: string, otherwise: string) => parseDuration(name, environment[name] || otherwise);
  return {
    leaseDurationMs: read('CATTLE_ELECTION_LEASE_DURATION', isDevelopment ? '45h' : '45s'),
    renewDeadlineMs: read('CATTLE_ELECTION_RENEW_DEADLINE', isDevelopment ? '30h' : '30s'),
    retryPeriodMs: read('CATTLE_ELECTION_RETRY_PERIOD', '2s'),
  };
}

/** `45s`, `1m30s`, `500ms`: durations as Go writes them. */
function parseDuration(name: string, text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  const totalMs = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0);
  if (parts.map(([part]) => part).join('') !== text || totalMs <= 0) {
    throw new CommandError(`${name}=${text} is no duration; write one like 45s or 1m30s`, ExitCode.usage);
  }
  return totalMs;
}
