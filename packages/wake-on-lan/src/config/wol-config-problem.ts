/** One thing that is wrong with a WolConfig. */
export interface WolConfigProblem {
  /** The path from the root of the object. */
  readonly path: readonly (string | number)[];
  /** The value there, or what is missing. */
  readonly message: string;
  /** What to write. */
  readonly remedy: string;
}

/** `spec.wolPorts[1]: invalid WOL port 70000; write a number from 1 to 65535`. */
export function describeWolConfigProblem({ path, message, remedy }: WolConfigProblem): string {
  const field = path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');
  return `${field}: ${message}; ${remedy}`;
}
