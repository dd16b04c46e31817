/** A line of the log of one of our programs. */
export type LogRecord = Readonly<Record<string, string | undefined>>;

/** Undefined if the line is not JSON, but text for people. */
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

/** Without the words of the system for what the sentence has: `connect ECONNREFUSED 10.0.0.1:9090 (no manager listens there)`, `(ECONNREFUSED)`. */
export function inPlainWords(message: string): string {
  return message.replace(/connect E[A-Z]+ \S+ \(([^)]+)\)/, '$1').replace(/ \(E[A-Z]+\)/, '');
}
