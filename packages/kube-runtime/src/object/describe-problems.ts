/** Lists in messages for people: the first few, each bounded, and how many more there are. */
import { cutText } from './cut-text.js';

export interface ListBounds {
  /** How many are shown; 1 or more. */
  readonly most?: number;
  /** The maximum octets of UTF-8 of each; 3 or more. */
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
  return { shown, more: left === 0 ? '' : `${withCommas(left)} more` };
}

/** `1 client`, `0 clients`, `1,024 clients`. @param plural - default: with an s. */
export function describeCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${withCommas(count)} ${count === 1 ? singular : plural}`;
}

function withCommas(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}
