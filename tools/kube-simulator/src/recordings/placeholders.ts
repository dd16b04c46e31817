/** The kind of a placeholder; `string` is a long text of which the transcript keeps the length and both ends. */
export type PlaceholderKind =
  | 'uid'
  | 'time'
  | 'microtime'
  | 'continue'
  | 'token'
  | 'caBundle'
  | 'fingerprint'
  | 'host:port'
  | 'hash'
  | 'string';

export interface Placeholder {
  readonly kind: PlaceholderKind;
  /** The text in the transcript, with its brackets: the same for equal values. */
  readonly name: string;
}

const NUMBERED: readonly PlaceholderKind[] = ['uid', 'time', 'microtime', 'continue'];
const SINGLE: readonly PlaceholderKind[] = ['token', 'caBundle', 'fingerprint', 'host:port', 'hash'];

/** The literal parts and the placeholders of a text, in order; a text without placeholders is one literal. */
export function splitPlaceholders(text: string): (string | Placeholder)[] {
  const parts: (string | Placeholder)[] = [];
  let literal = '';
  let position = 0;
  while (position < text.length) {
    const placeholder = text[position] === '<' ? placeholderAt(text, position) : undefined;
    if (placeholder === undefined) {
      literal += text[position];
      position += 1;
      continue;
    }
    if (literal !== '') parts.push(literal);
    literal = '';
    parts.push(placeholder);
    position += placeholder.name.length;
  }
  if (literal !== '' || parts.length === 0) parts.push(literal);
  return parts;
}

/** True for `<trimmed>` and its kind: a value that the transcript leaves out. */
export function isLeftOut(value: unknown): boolean {
  return typeof value === 'string' && (value.startsWith('<trimmed') || value === '<accepted, trimmed>');
}

function placeholderAt(text: string, start: number): Placeholder | undefined {
  const end = text.indexOf('>', start);
  if (end === -1) return undefined;
  const inside = text.slice(start + 1, end);
  const name = `<${inside}>`;
  const single = SINGLE.find((kind) => kind === inside);
  if (single !== undefined) return { kind: single, name };
  const [word = '', number = ''] = inside.split(':');
  const numbered = NUMBERED.find((kind) => kind === word);
  if (numbered !== undefined && /^\d+$/.test(number)) return { kind: numbered, name };
  return inside.startsWith('string of ') ? { kind: 'string', name } : undefined;
}

const SHAPES: Readonly<Record<PlaceholderKind, RegExp>> = {
  uid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  time: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  microtime: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/,
  continue: /^[A-Za-z0-9_=%-]+$/,
  token: /^[A-Za-z0-9._-]{20,}$/,
  caBundle: /^[A-Za-z0-9+/=]+$/,
  fingerprint: /^[0-9A-Fa-f]{8,}$/,
  'host:port': /^[^/\s]+:\d+$/,
  hash: /^[0-9A-Za-z]+$/,
  string: /^/,
};

/** True when a text has the form of what the placeholder stands for. */
export function hasShape(kind: PlaceholderKind, text: string): boolean {
  return SHAPES[kind].test(text);
}

/** The text for `<string of N chars, begins: x...>`: every recorded one repeats one character. */
export function repeatedText(name: string): string {
  const [, length = '0', character = 'x'] = /^<string of (\d+) chars, begins: (.)/.exec(name) ?? [];
  return character.repeat(Number(length));
}
