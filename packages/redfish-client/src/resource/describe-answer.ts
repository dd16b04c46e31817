import { isResource, listAt, textAt, valueAt } from './resource.js';

const MOST_TEXTS = 3;
const MOST_OF_TEXT = 300;

/**
 * The service's explanation of a refusal, redacted: the messages of `@Message.ExtendedInfo`, otherwise `error.message`; undefined if there is none.
 */
export function describeAnswer(body: unknown, redact: (text: string) => string): string | undefined {
  const info = [
    ...listAt(body, 'error', '@Message.ExtendedInfo'),
    ...listAt(body, '@Message.ExtendedInfo'),
    ...listAt(body, 'Messages'),
  ];
  const texts = info.filter(isResource).map((one) => textAt(one, 'Message') ?? textAt(one, 'MessageId'));
  const found = [...new Set(texts.filter((text) => text !== undefined))].slice(0, MOST_TEXTS);
  const text = found.length > 0 ? found.join(' ') : textAt(valueAt(body, 'error'), 'message');
  return text === undefined ? undefined : plainText(redact(text), MOST_OF_TEXT);
}

/** On one line, without control and formatting characters, at most `most` characters. */
export function plainText(text: string, most: number): string {
  const plain = text
    .slice(0, most * 4)
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .trim();
  const shown = plain.length > most ? `${plain.slice(0, most - 1)}…` : plain;
  // Copied, because a substring would keep the whole text in memory.
  return shown.length < text.length ? Array.from(shown).join('') : shown;
}
