/** Logs a line for each address that is allocated, freed or refused, unless there are too many at once. */
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import type { Clock } from '@vmdhcp/kube-runtime';
import type { AddressChange } from '@vmdhcp/reconciler';
import type { Logger } from '@vmdhcp/service-process';
import { LimitedLines } from './limited-lines.js';

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
  const lines = new LimitedLines<AddressChange['kind']>(clock, (leftOut) =>
    logger.info({ leftOut }, 'too many address changes: log lines omitted'),
  );
  return (change) => lines.write(change.kind, () => logger.info(toFields(change), MESSAGES[change.kind]));
}

function toFields(change: AddressChange): Readonly<Record<string, string | undefined>> {
  const { pool, macAddress, owner } = change;
  if (change.kind === 'refused') return { pool, macAddress, owner, reason: change.reason, why: change.message };
  const address = formatIpv4Address(change.address);
  const previous = change.kind === 'allocated' && change.previous !== undefined ? formatIpv4Address(change.previous) : undefined;
  return { pool, address, ...(previous !== undefined && { previous }), macAddress, owner, reason: change.reason };
}
