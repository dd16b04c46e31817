/** An entry in the log of a management controller. */
export interface BmcLogEntry {
  /** The id of the management controller: `Id` or `@odata.id` of Redfish. It may be reused after the log was cleared. */
  readonly id: string;
  /** The time as written there: clocks of management controllers begin in 1970, and jump. */
  readonly time: string;
  /** `OK`, `Warning`, `Critical`; empty if none. */
  readonly severity: string;
  readonly message: string;
}

/** The result of one poll of a management controller. */
export type HealthReport =
  | {
      readonly kind: 'healthy';
      readonly info: Readonly<Record<string, string>>;
      /** All entries, oldest first. Undefined if the log could not be read: then what is known about it stays. */
      readonly log: readonly BmcLogEntry[] | undefined;
    }
  /** It does not answer, or not correctly. `message`: why, without credentials. */
  | { readonly kind: 'unhealthy'; readonly message: string };

/** True if an entry is more than information: its severity is neither `OK` nor empty. */
export function isWarning({ severity }: BmcLogEntry): boolean {
  return !['', 'ok'].includes(severity.trim().toLowerCase());
}
