import { fnv1a64 } from './fnv1a64.js';

/** As long as a label value may be, which is what a Deployment's name becomes. */
const MOST_CHARACTERS = 63;
const HASH_CHARACTERS = 8;

export interface ObjectNameOptions {
  readonly suffix: string;
  /** What the name stands for, and nothing else does. */
  readonly of: string;
  /** True: something else could have the same text. */
  readonly isAmbiguous: boolean;
  readonly most?: number;
}

/**
 * A name that Kubernetes takes (RFC 1123 label): the text itself where that is one and means one thing only, else as much of it
 * as there is room for and a hash.
 */
export function objectNameWithin(text: string, { suffix, of, isAmbiguous, most = MOST_CHARACTERS }: ObjectNameOptions): string {
  const room = most - suffix.length;
  if (!isAmbiguous && text.length <= room && isLabel(text)) return text + suffix;
  const hash = fnv1a64(of).toString(16).padStart(16, '0').slice(0, HASH_CHARACTERS);
  const readable = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, room - HASH_CHARACTERS - 1)
    .replace(/-+$/, '');
  return `${readable === '' ? '' : `${readable}-`}${hash}${suffix}`;
}

function isLabel(text: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(text);
}
