/** An entry in a log of a management controller or of a computer system. */
export interface LogEntry {
  /** The `@odata.id` of the entry, else its `Id`. After the log was cleared it may be used again. */
  readonly id: string;
  /** `Created`, as the service has it: clocks of management controllers begin in 1970, and jump. Empty: none. */
  readonly time: string;
  /** `OK`, `Warning`, `Critical`; empty: none. */
  readonly severity: string;
  readonly message: string;
}

/** What a service reports. */
export interface HostReport {
  /** Flat: `PowerState`, `Cpu[0].Model`. The README lists the keys. What the service does not report is not there. */
  readonly info: Readonly<Record<string, string>>;
  /** All entries of all logs, oldest first, the newest 1,000. Undefined: no log could be read, or one of them failed. */
  readonly log: readonly LogEntry[] | undefined;
}

/** Keys and values; undefined is left out. */
export type Facts = Readonly<Record<string, string | undefined>>;
