/** One thing that is wrong with what a person wrote. */
export interface HostProblem {
  readonly reason: HostProblemReason;
  /** From the object's root. */
  readonly path: readonly string[];
  /** What is wrong, with field and value. */
  readonly message: string;
  /** What to do about it. */
  readonly remedy: string;
}

/** The kind of mistake in an object of bare-metal hosts, for programs to compare. */
export type HostProblemReason =
  | 'missing'
  | 'not-a-name'
  | 'not-a-subnet'
  | 'not-a-range'
  | 'not-an-address'
  | 'not-a-host-address'
  | 'not-an-image'
  | 'outside-networks'
  | 'out-of-bounds'
  | 'range-reversed'
  | 'in-range'
  | 'other-prefix'
  | 'same-address'
  | 'half-a-secret'
  | 'secret-missing'
  | 'secret-incomplete';

/** The field, what is wrong with it, and what to do, in one line. */
export function describeHostProblem({ path, message, remedy }: HostProblem): string {
  return `${path.join('.')}: ${message}; ${remedy}`;
}
