import type { ElectionTimes } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode } from '@vmdhcp/service-process';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

const DEFAULT = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
/** With CATTLE_DEV_MODE: a controller that is stopped at a breakpoint keeps its Lease. */
const DEVELOPMENT = { ...DEFAULT, leaseDurationMs: 162_000_000, renewDeadlineMs: 108_000_000 };
/** How much later than planned the last attempt before the deadline may begin. */
const RETRY_SPREAD = 1.2;

/**
 * The times of client-go's elections, and upstream's variables that change them. If only one variable of two is set, the other
 * time changes in proportion. A candidate waits for the duration in the Lease if that is longer.
 *
 * @throws CommandError for an invalid duration, and for times that do not fit together.
 */
export function readElectionTimes(environment: Readonly<Record<string, string | undefined>>): ElectionTimes {
  const otherwise = environment['CATTLE_DEV_MODE'] ? DEVELOPMENT : DEFAULT;
  const read = (name: string) => {
    const text = environment[name];
    return text ? parseDuration(name, text) : undefined;
  };
  const lease = read('CATTLE_ELECTION_LEASE_DURATION');
  const deadline = read('CATTLE_ELECTION_RENEW_DEADLINE');
  const times: ElectionTimes = {
    leaseDurationMs: lease ?? (deadline === undefined ? otherwise.leaseDurationMs : deadline * 1.5),
    renewDeadlineMs: deadline ?? (lease === undefined ? otherwise.renewDeadlineMs : lease / 1.5),
    retryPeriodMs: read('CATTLE_ELECTION_RETRY_PERIOD') ?? otherwise.retryPeriodMs,
  };
  assertRoom(times);
  return times;
}

function assertRoom({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: ElectionTimes): void {
  if (leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs * RETRY_SPREAD) return;
  const message = `the times of the election do not fit together: CATTLE_ELECTION_LEASE_DURATION is ${leaseDurationMs} ms and must be longer than CATTLE_ELECTION_RENEW_DEADLINE, which is ${renewDeadlineMs} ms and must be longer than ${RETRY_SPREAD} times CATTLE_ELECTION_RETRY_PERIOD, which is ${retryPeriodMs} ms`;
  throw new CommandError(message, ExitCode.usage);
}

/** `45s`, `1m30s`, `500ms`: durations as Go writes them. */
function parseDuration(name: string, text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  const totalMs = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0);
  if (parts.map(([part]) => part).join('') !== text || totalMs <= 0) {
    throw new CommandError(`${name}=${text} is not a duration; write one like 45s or 1m30s`, ExitCode.usage);
  }
  return totalMs;
}
