/** How wide a terminal is, and whether it shows colours. */
export interface Terminal {
  /** Undefined if it is not a terminal: then nothing is wrapped or cut. */
  readonly columns: number | undefined;
  readonly hasColour: boolean;
}

export const NO_TERMINAL: Terminal = { columns: undefined, hasColour: false };

/**
 * Sources: no-color.org: any text but the empty one disables colours; force-color.org: any text but the empty one enables them where it is not a terminal.
 */
export function terminalOf(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  environment: Readonly<Record<string, string | undefined>>,
): Terminal {
  const mayColour = !environment['NO_COLOR'];
  if (stream.isTTY !== true) return { ...NO_TERMINAL, hasColour: mayColour && Boolean(environment['FORCE_COLOR']) };
  const hasColour = mayColour && environment['TERM'] !== 'dumb';
  return { columns: Math.max(40, stream.columns ?? 80), hasColour };
}

const CODES = { red: 31, green: 32, yellow: 33, dim: 2, bold: 1 } as const;
export type Colour = keyof typeof CODES;

export function paint(text: string, colour: Colour, { hasColour }: Terminal): string {
  return hasColour && text !== '' ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
}

/** Lines of at most `width` characters, broken at spaces; a longer word stays whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
