/** Logs a line for each address that is allocated, freed or refused, unless there are too many at once. */
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import type { Clock } from '@vmdhcp/kube-runtime';
import type { AddressChange } from '@vmdhcp/reconciler';
import type { Logger } from '@vmdhcp/service-process';

/** The burst of lines, and the time until another one may be written. */
const BURST = 100;
const REFILL_MS = 100;
/** How long omitted lines are counted before their number is logged. */
const SUMMARY_MS = 1_000;

const MESSAGES: Readonly<Record<AddressChange['kind'], string>> = {
  allocated: 'address allocated',
  released: 'address freed',
  refused: 'no address allocated',
};

export interface AddressLogPorts {
  readonly logger: Pick<Logger, 'info'>;
  readonly clock: Clock;
}

/** Returns a function that logs a change, or counts it: the number of omitted lines is logged within a second, by kind. */
export function createAddressLog({ logger, clock }: AddressLogPorts): (change: AddressChange) => void {
  let lines = BURST;
  let refilledAtMs = clock.nowMs();
  let leftOut: Partial<Record<AddressChange['kind'], number>> | undefined;

  const mayWrite = (): boolean => {
    const gained = Math.floor((clock.nowMs() - refilledAtMs) / REFILL_MS);
    lines = Math.min(BURST, lines + gained);
    refilledAtMs += gained * REFILL_MS;
    if (lines === 0) return false;
    lines--;
    return true;
  };
  const logOmitted = (): void => {
    logger.info({ leftOut }, 'too many address changes: log lines omitted');
    leftOut = undefined;
  };
  const count = ({ kind }: AddressChange): void => {
    if (leftOut === undefined) clock.after(SUMMARY_MS, logOmitted);
    leftOut = { ...leftOut, [kind]: (leftOut?.[kind] ?? 0) + 1 };
  };
  return (change) => {
    if (mayWrite()) logger.info(toFields(change), MESSAGES[change.kind]);
    else count(change);
  };
}

function toFields(change: AddressChange): Readonly<Record<string, string | undefined>> {
  const { pool, macAddress, owner } = change;
  if (change.kind === 'refused') return { pool, macAddress, owner, reason: change.reason, why: change.message };
  const address = formatIpv4Address(change.address);
  const previous = change.kind === 'allocated' && change.previous !== undefined ? formatIpv4Address(change.previous) : undefined;
  return { pool, address, ...(previous !== undefined && { previous }), macAddress, owner, reason: change.reason };
}
