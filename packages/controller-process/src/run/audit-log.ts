import { type AssignmentRecord, toRecordText } from '@vmdhcp/reconciler';
import type { Logger } from '@vmdhcp/service-process';

/**
 * Returns a function that logs one line for each assignment that began or ended, and omits none: a log system can keep them for
 * any time. docs/reference/audit.md describes the fields.
 */
export function createAuditLog(logger: Pick<Logger, 'info'>): (pool: string, records: readonly AssignmentRecord[]) => void {
  return (pool, records) => {
    for (const record of records) {
      const { serial: _ofPool, ...fields } = toRecordText(record);
      const audit = { event: record.end === undefined ? 'began' : 'ended', pool, ...fields };
      logger.info({ audit }, record.end === undefined ? 'address assignment began' : 'address assignment ended');
    }
  };
}
