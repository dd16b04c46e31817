/** Text in an SVG: whatever names it has, it stays text. */
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
/** Slightly more than the mean width of a character of a sans-serif font, relative to its size. */
const MEAN_WIDTH = 0.55;

/** As text or as the value of an attribute; what XML does not have becomes U+FFFD. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** What fits into a width, in pixels. */
export function fitText(text: string, width: number, fontSize: number): string {
  const most = Math.max(1, Math.floor(width / (fontSize * MEAN_WIDTH)));
  const characters = [...text.replace(/\s+/g, ' ')];
  return characters.length <= most ? characters.join('') : `${characters.slice(0, most - 1).join('')}…`;
}

/** Lines of whole words; what is too long ends with an ellipsis. @param most - lines. */
export function wrapText(
  text: string,
  { width, fontSize, most }: { readonly width: number; readonly fontSize: number; readonly most: number },
): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1);
    if (line !== undefined && (lines.length === most || widthOf(`${line} ${word}`, fontSize) <= width))
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => fitText(line, width, fontSize));
}

/** About how wide a text is, in pixels. */
export function widthOf(text: string, fontSize: number): number {
  return [...text].length * fontSize * MEAN_WIDTH;
}
