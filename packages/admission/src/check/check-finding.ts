/** A finding about one place in a file of manifests. */
export interface CheckFinding {
  /** The name as given on the command line. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly severity: 'problem' | 'warning';
  /** `IPPool default/net-48`, as far as it is known. */
  readonly object: string;
  /** `spec.ipv4Config.cidr`; empty for the whole object. */
  readonly field: string;
  /** The value in the file; absent if there is none. */
  readonly value?: unknown;
  readonly reason: string;
  readonly message: string;
  readonly remedy: string;
}

/** `problem: pools.yaml:12:5: IPPool default/net-48: spec.ipv4Config.cidr: ...; ...`. */
export function describeFinding({ severity, file, line, column, object, field, message, remedy }: CheckFinding): string {
  return `${severity}: ${file}:${line}:${column}: ${object}: ${field === '' ? '' : `${field}: `}${message}; ${remedy}`;
}

export function byPlace(one: CheckFinding, other: CheckFinding): number {
  if (one.file !== other.file) return one.file < other.file ? -1 : 1;
  return one.line - other.line || one.column - other.column;
}
