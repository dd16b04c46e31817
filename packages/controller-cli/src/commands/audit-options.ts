import { ownNamespace } from '@vmdhcp/controller-process/own-namespace';
import type { AuditSettings } from '@vmdhcp/reconciler';
import { booleanOption } from '@vmdhcp/service-process';
import { InvalidArgumentError, Option } from 'commander';

/** The values from commander. */
export interface AuditOptions {
  readonly audit: boolean;
  readonly auditMebibytes: number;
  readonly namespace?: string;
  readonly onlyNamespace?: string;
}

const MEBIBYTE = 1_048_576;
/**
 * There are 64 ConfigMaps, and each may have 1 MiB: half of that, so that there is also room for assignments that have not ended.
 */
const MOST_MEBIBYTES = 32;

/** The records of who had which address when. */
export const auditOptions = (): Option[] => [
  booleanOption('--no-audit', 'keep no records of who had which address'),
  new Option(
    '--audit-mebibytes <number>',
    'room for those records, in ConfigMaps in the namespace of the agents; assignments that have not ended always have room',
  )
    .argParser(parseMebibytes)
    .default(8),
];

/** Undefined if none are kept. */
export function toAudit({ audit, auditMebibytes, namespace, onlyNamespace }: AuditOptions): AuditSettings | undefined {
  if (!audit) return undefined;
  return { namespace: namespace || onlyNamespace || ownNamespace(), mostOctets: auditMebibytes * MEBIBYTE };
}

function parseMebibytes(text: string): number {
  const mebibytes = Number(text);
  if (!/^\d+$/.test(text) || mebibytes < 1 || mebibytes > MOST_MEBIBYTES)
    throw new InvalidArgumentError(`write a whole number from 1 to ${MOST_MEBIBYTES}.`);
  return mebibytes;
}
