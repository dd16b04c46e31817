import { fnv1a64 } from './fnv1a64.js';

/** The maximum length of a label value, because a Deployment's name becomes one. */
const MOST_CHARACTERS = 63;
const HASH_CHARACTERS = 8;

export interface ObjectNameOptions {
  readonly suffix: string;
  /** The identity of the named thing, which must be unique. */
  readonly of: string;
  /** True if something else could have the same text. */
  readonly isAmbiguous: boolean;
  readonly most?: number;
}

/** A name that Kubernetes accepts (RFC 1123 label): the text itself if it is valid and unique, otherwise as much of it as fits, and a hash. */
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
