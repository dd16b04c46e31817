import type { Bindings } from './bindings.js';
import { type Placeholder, splitPlaceholders } from './placeholders.js';

type Part = string | Placeholder;

/** True if the text equals the recorded one, with the values of this run for placeholders, random names and resourceVersions. */
export function textMatches(expected: string, got: string, bindings: Bindings): boolean {
  const isCut = expected.endsWith(CUT);
  const parts = splitPlaceholders(isCut ? expected.slice(0, -CUT.length) : expected);
  const match = (attempt: Bindings): boolean => {
    const rest = restAfter(parts, got, attempt);
    return rest === '' || (isCut && rest !== undefined);
  };
  return match(bindings.copy()) && match(bindings);
}

/** What stands for the end of a long text. */
const CUT = '<trimmed>';

/** The rest of a text after the parts; undefined if it does not begin with them. */
function restAfter(parts: readonly Part[], got: string, bindings: Bindings): string | undefined {
  let rest = got;
  for (const [index, part] of parts.entries()) {
    const next = parts[index + 1];
    const length = typeof part === 'string' ? lengthOfLiteral(part, rest, bindings) : lengthOfValue([part, next], rest, bindings);
    if (length === undefined) return undefined;
    rest = rest.slice(length);
  }
  return rest;
}

function lengthOfValue(
  [part, next]: readonly [Placeholder, Part | undefined],
  rest: string,
  bindings: Bindings,
): number | undefined {
  const known = bindings.value(part.name);
  if (known !== undefined && rest.startsWith(known)) return known.length;
  const length = next === undefined ? rest.length : beginningOf(next, rest, bindings);
  return length >= 0 && bindings.accept(part, rest.slice(0, length)) ? length : undefined;
}

/** Where the part after a value begins: no value contains the character that follows it in a transcript, except a colon. */
function beginningOf(next: Part, rest: string, bindings: Bindings): number {
  if (typeof next !== 'string') return -1;
  const literal = bindings.rename(next);
  return rest.indexOf(literal.startsWith(':') ? literal : literal.slice(0, 1));
}

function lengthOfLiteral(expected: string, rest: string, bindings: Bindings): number | undefined {
  const renamed = bindings.rename(expected);
  if (rest.startsWith(renamed)) return renamed.length;
  return mentionsVersions(expected) ? lengthWithVersions(renamed, rest, bindings) : undefined;
}

const VERSION_WORDS = ['resourceVersion', 'ResourceVersion', 'resource version'];

function mentionsVersions(text: string): boolean {
  return VERSION_WORDS.some((word) => text.includes(word));
}

/** How much of the text is the expected one when resourceVersions in it may be those of this run. */
function lengthWithVersions(expected: string, rest: string, bindings: Bindings): number | undefined {
  let position = 0;
  for (const token of expected.split(/(\d{2,})/)) {
    const isNumber = /^\d{2,}$/.test(token);
    const found = isNumber ? (/^\d+/.exec(rest.slice(position))?.[0] ?? '') : token;
    if (!isNumber && !rest.startsWith(token, position)) return undefined;
    if (isNumber && found !== token && !bindings.versions.mayStandFor(token, found)) return undefined;
    position += found.length;
  }
  return position;
}
