/** What is wrong, and what to do about it: for a person. */
export interface Explanation {
  readonly message: string;
  readonly remedy: string;
}

/** Both as one sentence, as conditions and Events have it. */
export function sentenceOf({ message, remedy }: Explanation): string {
  return `${message}; ${remedy}`;
}
