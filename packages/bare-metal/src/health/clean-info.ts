/** Makes the report of a management controller fit into a status. The report may be anything. */

const MOST_KEYS = 256;
const MOST_OF_KEY = 128;
const MOST_OF_VALUE = 512;

/** Printable text of at most so many characters. */
export function cleanText(text: string, most: number): string {
  // Of a very long text, only the part that could be shown is processed.
  const shown = text
    .slice(0, most * 4)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]+/gu, ' ')
    .trim();
  return shown.length <= most ? shown : `${shown.slice(0, most - 3)}...`;
}

/** The information with bounded names and texts, sorted; at most the first 256 names. Entries that are not text are omitted. */
export function cleanInfo(info: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const entries = Object.entries(info)
    .flatMap(([name, value]) => (typeof value === 'string' ? [[cleanText(name, MOST_OF_KEY), value] as const] : []))
    .filter(([name]) => name !== '')
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .slice(0, MOST_KEYS);
  return Object.fromEntries(entries.map(([name, value]) => [name, cleanText(value, MOST_OF_VALUE)]));
}
