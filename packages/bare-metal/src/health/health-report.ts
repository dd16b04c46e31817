/** An entry in the log of a management controller. */
export interface BmcLogEntry {
  /** As the management controller has it: `Id` or `@odata.id` of Redfish. After the log was cleared it may be used again. */
  readonly id: string;
  /** As written there: clocks of management controllers begin in 1970, and jump. */
  readonly time: string;
  /** `OK`, `Warning`, `Critical`; empty: none. */
  readonly severity: string;
  readonly message: string;
}

/** What one poll of a management controller found. */
export type HealthReport =
  | {
      readonly kind: 'healthy';
      readonly info: Readonly<Record<string, string>>;
      /** All entries, oldest first. Undefined: the log could not be read, so that what is known of it stays. */
      readonly log: readonly BmcLogEntry[] | undefined;
    }
  /** It does not answer, or not as it should. `message`: why, without credentials. */
  | { readonly kind: 'unhealthy'; readonly message: string };

/** True if an entry is more than information: its severity is neither `OK` nor empty. */
export function isWarning({ severity }: BmcLogEntry): boolean {
  return !['', 'ok'].includes(severity.trim().toLowerCase());
}
