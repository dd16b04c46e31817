/**
 * Who had which address when, as values: records of assignments, how they are stored, and who had an address at a time.
 *
 * @packageDocumentation
 */
export {
  type AssignedClient,
  type AssignmentRecord,
  BEGIN_REASONS,
  type BeginReason,
  END_REASONS,
  type EndReason,
  exactly,
  isSameClient,
  type Moment,
} from './assignment-record.js';
export { AuditBook, type Observation, type PendingBatch } from './audit-book.js';
export type { AuditFacts } from './audit-facts.js';
export { AUDIT_SLOT_NAMES, AUDIT_STATE_NAME, readStoredAudit, type StoredAudit } from './audit-slots.js';
export { type AuditState, formatAuditState, parseAuditState, withGap } from './audit-state.js';
export { withCurrent } from './current-records.js';
export { type ChangeFacts, followPool, NO_RECORDS, type OpenRecords, type PoolChanges } from './follow-pool.js';
export { type EndedRecord, lastEnded } from './last-ended.js';
export { type Gap, type OwnerAnswer, ownerAt, type PoolRecords, UNKNOWN_REASONS, type UnknownReason } from './owner-at.js';
export { type Batch, formatBatch, openRecordsOf, type PoolLog, readPoolLog } from './pool-log.js';
export { parseRecord, RECORD_FIELDS, type RecordText, toRecordText } from './record-text.js';
