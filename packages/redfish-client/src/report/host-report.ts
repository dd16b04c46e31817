/** An entry in a log of a management controller or of a computer system. */
export interface LogEntry {
  /** The `@odata.id` of the entry, otherwise its `Id`. It may be reused after the log was cleared. */
  readonly id: string;
  /** `Created`, unchanged: clocks of management controllers begin in 1970, and jump. Empty for none. */
  readonly time: string;
  /** `OK`, `Warning`, `Critical`; empty: none. */
  readonly severity: string;
  readonly message: string;
}

/** The report of a service. */
export interface HostReport {
  /** Flat: `PowerState`, `Cpu[0].Model`. The README lists the keys. Missing fields are left out. */
  readonly info: Readonly<Record<string, string>>;
  /** All entries of all logs, oldest first, the newest 1,000. Undefined: no log could be read, or one of them failed. */
  readonly log: readonly LogEntry[] | undefined;
}

/** Keys and values; undefined values are left out. */
export type Facts = Readonly<Record<string, string | undefined>>;
