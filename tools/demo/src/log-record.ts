/** A line of the log of one of our programs. */
export type LogRecord = Readonly<Record<string, string | undefined>>;

/** Undefined: it is no JSON, but text for people. */
export function parseLogLine(line: string): LogRecord | undefined {
  try {
    return JSON.parse(line) as Record<string, string>;
  } catch {
    return undefined;
  }
}

/** The message of a record, with its reason where it has one. */
export function withReason(message: string, reason: string | undefined): string {
  return reason === undefined ? message : `${message}: ${reason}`;
}
