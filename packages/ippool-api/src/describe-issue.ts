import type { z } from 'zod';

type Path = readonly PropertyKey[];

/** The name of each type for people, and how to write its values. */
const TYPES: Readonly<Record<string, readonly [name: string, howToWrite: string]>> = {
  string: ['text', 'write text'],
  number: ['a number', 'write a number, without quotes'],
  int: ['a whole number', 'write a whole number, without quotes'],
  boolean: ['true or false', 'write true or false, without quotes'],
  array: ['a list', 'write a list, each entry on a line that begins with "- "'],
  object: ['a group of fields', 'write its fields below it, indented'],
  record: ['a group of fields', 'write its fields below it, indented'],
};

const LONGEST_VALUE = 64;

/** The kind of mistake, for programs to compare. */
export type IssueReason = 'field-missing' | 'wrong-type' | 'value-not-allowed' | 'out-of-bounds' | 'wrong-format';

/** What is wrong with a field, and what to do about it, without the field's name. */
export interface ExplainedIssue {
  readonly reason: IssueReason;
  /** The actual and the expected value. */
  readonly message: string;
  /** What to write. */
  readonly remedy: string;
}

/** What a schema finds wrong with a field, for a person. @param root - the object that the schema was given. */
export function explainIssue(issue: z.core.$ZodIssue, root: unknown): ExplainedIssue {
  const value = fieldAt(root, issue.path);
  if (value === undefined) return { reason: 'field-missing', message: 'is missing', remedy: howToWrite(issue) };
  if (value === null) return { reason: 'wrong-type', message: 'is empty', remedy: `${howToWrite(issue)}, or remove the field` };
  if (issue.code === 'invalid_type') return { reason: 'wrong-type', ...describeWrongType(value, issue) };
  if (issue.code === 'invalid_value')
    return {
      reason: 'value-not-allowed',
      message: `${shown(value)} is not allowed here`,
      remedy: `${howToWrite(issue)}${quotesFor(value)}`,
    };
  if (issue.code === 'too_big' || issue.code === 'too_small') return explainBound(issue, value);
  // The message of a format says what is wrong and what to write.
  const [fault = '', remedy = 'correct it'] = issue.message.split('; ', 2);
  return { reason: 'wrong-format', message: `${shown(value)} ${fault}`, remedy };
}

function explainBound(issue: z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall, value: unknown): ExplainedIssue {
  const isNumber = typeof value === 'number';
  const isTooBig = issue.code === 'too_big';
  if (value === '') return { reason: 'out-of-bounds', message: 'is empty', remedy: 'write a value' };
  const size = isTooBig ? ['large', 'long'] : ['small', 'short'];
  const limit = isTooBig ? bound('at most', value, issue.maximum) : bound('at least', value, issue.minimum);
  return {
    reason: 'out-of-bounds',
    message: `${describeSize(value)} is too ${isNumber ? size[0] : size[1]}`,
    remedy: limit,
  };
}

/** The value at a path, if there is one. */
export function fieldAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}

/** YAML has already turned the word into a boolean; the original text is gone. */
function quotesFor(value: unknown): string {
  return typeof value === 'boolean' ? '; in quotes: YAML reads the bare words on, off, yes and no as true and false' : '';
}

function howToWrite(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return TYPES[issue.expected]?.[1] ?? `write a value of type ${issue.expected}`;
  if (issue.code === 'invalid_value') return `write ${issue.values.map(String).join(' or ')}`;
  return 'write a value';
}

function describeWrongType(value: unknown, issue: z.core.$ZodIssueInvalidType): { message: string; remedy: string } {
  const name = TYPES[issue.expected]?.[0] ?? `a value of type ${issue.expected}`;
  const remedy = howToWrite(issue);
  if (typeof value === 'object') return { message: `is ${nameOf(value)}, not ${name}`, remedy };
  if (issue.expected === 'string')
    return {
      message: `${shown(value)} is ${nameOf(value)}, not text`,
      remedy: `put it in quotes, as in "${shown(value)}"`,
    };
  const seconds = secondsOf(issue.path, value);
  if (seconds !== undefined) return { message: `${shown(value)} is text, not a number of seconds`, remedy: `write ${seconds}` };
  if (issue.expected === 'int' && typeof value === 'number') return { message: `${value} is not a whole number`, remedy };
  return { message: `${shown(value)} is ${nameOf(value)}, not ${name}`, remedy };
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** The number to write in a field of seconds for a duration as people write it: 10m, 7 days. */
function secondsOf(path: Path, value: unknown): number | undefined {
  const [, count, unit = ''] = /^(\d{1,9}) ?([smhdw])[a-z]*$/.exec(String(value)) ?? [];
  const isDuration = count !== undefined && /(?:time|seconds)$/i.test(String(path.at(-1)));
  return isDuration ? Number(count) * (SECONDS[unit] ?? 1) : undefined;
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'boolean') return 'a true-or-false value';
  return TYPES[typeof value]?.[0] ?? typeof value;
}

function describeSize(value: unknown): string {
  if (Array.isArray(value)) return `the list of ${value.length} entries`;
  if (typeof value === 'string' && value.length > LONGEST_VALUE) return `the text of ${value.length} characters`;
  return shown(value);
}

function bound(how: 'at most' | 'at least', value: unknown, limit: number | bigint): string {
  if (Array.isArray(value)) return `list ${how} ${limit}`;
  return typeof value === 'number'
    ? `write ${how} ${limit}`
    : `write ${how} ${limit} ${Number(limit) === 1 ? 'character' : 'characters'}`;
}

/** A value as a person would write it, shortened. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}...` : text;
}
