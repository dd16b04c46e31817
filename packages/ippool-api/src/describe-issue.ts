import type { z } from 'zod';

type Path = readonly PropertyKey[];

/** What a value of each type is called, and how it is written. */
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

/**
 * What a schema finds wrong with a field, as a sentence for a person without the field's name: what is there, what is expected, what to write.
 * @param root - the object that the schema was given.
 */
export function describeIssue(issue: z.core.$ZodIssue, root: unknown): string {
  const value = valueAt(root, issue.path);
  if (value === undefined) return `is missing; ${howToWrite(issue)}`;
  if (value === null) return `is empty; ${howToWrite(issue)}, or remove the field`;
  if (issue.code === 'invalid_type') return describeWrongType(value, issue);
  if (issue.code === 'invalid_value') return `${shown(value)} is not allowed here; ${howToWrite(issue)}`;
  const isNumber = typeof value === 'number';
  if (issue.code === 'too_big')
    return `${describeSize(value)} is too ${isNumber ? 'large' : 'long'}; ${bound('at most', value, issue.maximum)}`;
  if (issue.code === 'too_small')
    return `${describeSize(value)} is too ${isNumber ? 'small' : 'short'}; ${bound('at least', value, issue.minimum)}`;
  // The formats of this package describe what is wrong and what to write.
  return `${shown(value)} ${issue.message}`;
}

/** What stands at a path; undefined: nothing. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}

function howToWrite(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return TYPES[issue.expected]?.[1] ?? `write a value of type ${issue.expected}`;
  if (issue.code === 'invalid_value') return `write ${issue.values.map(String).join(' or ')}`;
  return 'write a value';
}

function describeWrongType(value: unknown, issue: z.core.$ZodIssueInvalidType): string {
  const name = TYPES[issue.expected]?.[0] ?? `a value of type ${issue.expected}`;
  const remedy = howToWrite(issue);
  if (typeof value === 'object') return `is ${nameOf(value)}, not ${name}; ${remedy}`;
  if (issue.expected === 'string')
    return `${shown(value)} is ${nameOf(value)}, not text; put it in quotes, as in "${shown(value)}"`;
  if (issue.expected === 'int' && typeof value === 'number') return `${value} is no whole number; ${remedy}`;
  return `${shown(value)} is ${nameOf(value)}, not ${name}; ${remedy}`;
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
  return typeof value === 'number' ? `write ${how} ${limit}` : `write ${how} ${limit} characters`;
}

/** A value as it would be written; never long. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}...` : text;
}
