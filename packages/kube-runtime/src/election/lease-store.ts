/** The record by which processes elect a leader, and where it is kept. */

/** The content of the record. Times of day are in the store's own record; they are for people. */
export interface LeaseRecord {
  /** Empty: released. */
  readonly holder: string;
  readonly leaseDurationMs: number;
  /** How often leadership changed hands. */
  readonly transitions: number;
}

/** A Lease as it is stored, and the version that a write must name. */
export interface StoredLease {
  readonly record: LeaseRecord;
  /** Differs after every write. */
  readonly version: string;
}

/** Stores the record. Failures are thrown, and retried; so are calls that take more than half of `renewDeadlineMs`. */
export interface LeaseStore {
  /** Undefined if there is none yet. */
  readonly read: () => Promise<StoredLease | undefined>;
  /** Writes if the record is still at `version` (undefined: if there is no record); returns undefined if it is not. */
  readonly write: (record: LeaseRecord, version: string | undefined) => Promise<StoredLease | undefined>;
}
