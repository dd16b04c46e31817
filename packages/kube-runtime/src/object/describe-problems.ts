/** Lists in messages for people: the first few, each bounded, and how many more there are. */
import { cutText } from './cut-text.js';

export interface ListBounds {
  /** How many are written out; 1 or more. */
  readonly most?: number;
  /** Octets of UTF-8 of each; 3 or more. */
  readonly longest?: number;
}

/** `the first; the second; the third; and 4,093 more`. */
export function describeProblems(problems: readonly string[], { most = 3, longest = 240 }: ListBounds = {}): string {
  const { shown, more } = firstOf(problems, { most, longest });
  return [...shown, ...(more === '' ? [] : [`and ${more}`])].join('; ');
}

/** `net-1, net-2, net-3, net-4, net-5 and 93 more`. */
export function describeNames(names: readonly string[], { most = 5, longest = 128 }: ListBounds = {}): string {
  const { shown, more } = firstOf(names, { most, longest });
  return more === '' ? shown.join(', ') : `${shown.join(', ')} and ${more}`;
}

function firstOf(
  texts: readonly string[],
  { most, longest }: Required<ListBounds>,
): { readonly shown: string[]; readonly more: string } {
  const shown = texts.slice(0, most).map((text) => cutText(text, longest));
  const left = texts.length - shown.length;
  return { shown, more: left === 0 ? '' : `${String(left).replaceAll(/\B(?=(\d{3})+$)/g, ',')} more` };
}
