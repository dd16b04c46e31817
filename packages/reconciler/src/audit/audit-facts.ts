/** How the records of assignments are kept, for metrics. */
export interface AuditFacts {
  /** Of all records, in ConfigMaps. */
  readonly storedOctets: number;
  /** From here on the oldest are deleted. */
  readonly mostOctets: number;
  /** Not stored yet. */
  readonly pendingRecords: number;
  /** What happened before is stored, but for gaps; in milliseconds since 1970. */
  readonly completeUntilMs: number;
  /** Since when the records of a pool are complete, by its key; in milliseconds since 1970. */
  readonly reachBackMs: ReadonlyMap<string, number>;
}
