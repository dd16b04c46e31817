/**
 * One thing that is wrong with what a person wrote, described so that the person can correct it.
 *
 * `path` leads to the field from the object's root (`['exclude', 1]`), `reason` is the word that programs compare.
 */
export interface Problem<Reason extends string = string> {
  readonly reason: Reason;
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  /** What is wrong, naming field and value. */
  readonly message: string;
  /** What to do about it. */
  readonly remedy: string;
}

/** A value, or all problems that were found instead. */
export type Checked<Value, Reason extends string = string> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly Problem<Reason>[] };

/** `exclude[1]: 10.0.1.7 is outside 10.0.0.0/24; remove it or widen the cidr`. */
export function describeProblem(problem: Problem): string {
  return `${formatPath(problem.path)}: ${problem.message}; ${problem.remedy}`;
}

/** `spec.ipv4Config.pool.exclude[1]`; `(root)` for an empty path. */
export function formatPath(path: readonly (string | number)[]): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  return text === '' ? '(root)' : text.replace(/^\./, '');
}
