/** The state of the records of assignments, for metrics. */
export interface AuditFacts {
  /** The octets of all records, in ConfigMaps. */
  readonly storedOctets: number;
  /** The limit above which the oldest are deleted. */
  readonly mostOctets: number;
  /** The number of records that are not stored yet. */
  readonly pendingRecords: number;
  /** Everything before this time is stored, except for gaps; in milliseconds since 1970. */
  readonly completeUntilMs: number;
  /** Since when the records of a pool are complete, by its key; in milliseconds since 1970. */
  readonly reachBackMs: ReadonlyMap<string, number>;
}
