import { stripVTControlCharacters } from 'node:util';

/** Less room than this beside a column of the line: the next lines begin below its indentation instead. */
const LEAST_ROOM = 40;
const HANG = 4;
/** Where a word that is longer than the room may end. */
const WORD_ENDS = /[,/{}=:_-]/;

/**
 * The lines of a terminal that show `line`: broken at spaces, and indented like what they continue. Colours do not count.
 *
 * @param columns - of the terminal; undefined if it is not one: the line stays whole.
 */
export function wrapLine(line: string, columns: number | undefined): readonly string[] {
  if (columns === undefined || widthOf(line) <= columns) return [line];
  const margin = marginOf(stripVTControlCharacters(line), columns);
  const lines: string[] = [];
  let current = '';
  for (const [, gap = '', word = ''] of line.matchAll(/(\s*)(\S+)/g)) {
    if (widthOf(current + gap + word) <= columns) {
      current += gap + word;
      continue;
    }
    if (stripVTControlCharacters(current).trim() !== '') lines.push(current);
    const parts = splitWord(word, columns - margin.length);
    lines.push(...parts.slice(0, -1).map((part) => margin + part));
    current = margin + (parts.at(-1) ?? '');
  }
  return [...lines, current];
}

/** How many columns a text takes. */
export function widthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}

/** What the next lines begin with: the lines of a tree go on, and text stands below the text of its column. */
function marginOf(plain: string, columns: number): string {
  const [tree = ''] = /^[\s│├└─]*/.exec(plain) ?? [];
  const [upToColumn = ''] = /^[\s│├└─]*\S+(?: \S+)*? {2,}(?=\S)/.exec(plain) ?? [];
  const guides = tree.replaceAll('├', '│').replaceAll(/[└─]/g, ' ');
  const isWide = upToColumn !== '' && columns - upToColumn.length >= LEAST_ROOM;
  return guides.padEnd(isWide ? upToColumn.length : tree.length + HANG);
}

/** Parts of at most `room` characters: JSON, paths and names end a line after their punctuation. */
function splitWord(word: string, room: number): readonly string[] {
  if (widthOf(word) <= room || widthOf(word) !== word.length) return [word];
  const ends = [...word.slice(0, room)].flatMap((character, index) => (WORD_ENDS.test(character) ? [index + 1] : []));
  const end = ends.at(-1) ?? room;
  return [word.slice(0, end), ...splitWord(word.slice(end), room)];
}
