/** A problem or warning about one place in a pools file. */
export interface PoolsFileFinding {
  /** From 1. */
  readonly line: number;
  readonly column: number;
  /** `IPPool default/net-48`, as far as it is known. */
  readonly object: string;
  /** `spec.ipv4Config.cidr`. */
  readonly path: string;
  /** What is wrong and what to do. */
  readonly message: string;
}

/** `pools.yaml:12:5: IPPool default/net-48: spec.ipv4Config.cidr: ...`. */
export function describePoolsFileFinding(file: string, { line, column, object, path, message }: PoolsFileFinding): string {
  return `${file}:${line}:${column}: ${object}: ${path === '' ? '' : `${path}: `}${message}`;
}
