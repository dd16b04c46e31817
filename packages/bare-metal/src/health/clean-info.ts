/** What a management controller reports about its host, as far as a status has room for it. It may be anything. */

const MOST_KEYS = 256;
const MOST_OF_KEY = 128;
const MOST_OF_VALUE = 512;

/** Text in which nothing is hidden, at most so many characters long. */
export function cleanText(text: string, most: number): string {
  // Of a text without end, no more is looked at than could be shown.
  const shown = text
    .slice(0, most * 4)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]+/gu, ' ')
    .trim();
  return shown.length <= most ? shown : `${shown.slice(0, most - 3)}...`;
}

/** The information with names and texts of a bounded length, sorted; the first 256 names of many. Entries that are no text are left out. */
export function cleanInfo(info: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const entries = Object.entries(info)
    .flatMap(([name, value]) => (typeof value === 'string' ? [[cleanText(name, MOST_OF_KEY), value] as const] : []))
    .filter(([name]) => name !== '')
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .slice(0, MOST_KEYS);
  return Object.fromEntries(entries.map(([name, value]) => [name, cleanText(value, MOST_OF_VALUE)]));
}
