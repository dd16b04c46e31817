/** Fields that pino-pretty shows itself, or that the message already contains. */
const ELSEWHERE: ReadonlySet<string> = new Set(['level', 'time', 'msg', 'name', 'event']);

/** Fields that come first in every line; the others follow in their own order. */
const FIRST = ['pool', 'interface', 'address', 'mac', 'hostname', 'owner', 'reason'];

/** A log record on one line, for a person: the message, then `key=value` pairs; a text with spaces or control characters is in quotes. */
export function describeRecord(record: Readonly<Record<string, unknown>>): string {
  const keys = Object.keys(record).filter((key) => !ELSEWHERE.has(key) && record[key] !== undefined);
  const ordered = [...FIRST.filter((key) => keys.includes(key)), ...keys.filter((key) => !FIRST.includes(key))];
  const message = typeof record['msg'] === 'string' ? escapeControls(record['msg']) : '';
  const values = ordered.map((key) => `${key}=${describeValue(record[key])}`).join(' ');
  return [message, values].filter((part) => part !== '').join('  ');
}

function describeValue(value: unknown): string {
  const text = isError(value) ? value.message : value;
  if (typeof text === 'string') return /^[\x21\x23-\x7e]+$/.test(text) ? text : escapeControls(JSON.stringify(text));
  return escapeControls(JSON.stringify(text) ?? 'null');
}

/** An error from pino's serializer, without its stack, which is in the JSON log. */
function isError(value: unknown): value is { readonly message: string } {
  return (
    typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string' && 'stack' in value
  );
}

/** Keeps a line a single line, without control characters. */
function escapeControls(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) =>
    character === '\n' ? ' ' : `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
