/** A problem and its remedy, for a person. */
export interface Explanation {
  readonly message: string;
  readonly remedy: string;
}

/** Both as one sentence, for conditions and Events. */
export function sentenceOf({ message, remedy }: Explanation): string {
  return `${message}; ${remedy}`;
}
