import type { z } from 'zod';
import { explainIssue, fieldAt, type IssueReason } from './describe-issue.js';
import { repairTypes } from './repair-types.js';
import { type UnknownField, unknownFields } from './unknown-fields.js';

/** The kind of mistake in an object, for programs to compare. */
export type ObjectProblemReason = IssueReason | 'no-object' | 'unknown-kind' | 'nested-too-deeply';

/** One thing wrong with an object; `path` leads to it from the object's root. */
export interface ObjectProblem {
  readonly reason: ObjectProblemReason;
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  /** The actual and the expected value. */
  readonly message: string;
  /** What to write. */
  readonly remedy: string;
  /** True if the field is missing. */
  readonly isMissing?: true;
}

/** An object that keeps its schema, or everything that is wrong with it. */
export type ParsedKind<One> =
  | {
      readonly ok: true;
      readonly object: One;
      /** Fields that the kind does not have: typing errors, mostly. */
      readonly unknownFields: readonly UnknownField[];
    }
  | {
      readonly ok: false;
      readonly problems: readonly ObjectProblem[];
      readonly unknownFields: readonly UnknownField[];
      /** The object with empty values in place of values of a wrong type. Only for finding its other problems. */
      readonly rest?: One;
    };

/** The schema of each kind. */
export type SchemaByKind<One> = Readonly<Record<string, z.ZodType<One>>>;

/** The object of one of these kinds in parsed YAML or JSON, or the first 1,000 problems that its schema finds. Never throws. */
export function parseByKind<One>(schemas: SchemaByKind<One>, value: unknown): ParsedKind<One> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return failure('no-object', {
      path: [],
      value,
      message: 'is not an object',
      remedy: 'write apiVersion, kind, metadata and spec',
    });
  }
  const kind = 'kind' in value && typeof value.kind === 'string' ? value.kind : '';
  const schema = Object.hasOwn(schemas, kind) ? schemas[kind] : undefined;
  return schema === undefined ? unknownKind(kind, Object.keys(schemas)) : parseWithin(schema, value);
}

function unknownKind(kind: string, kinds: readonly string[]): ParsedKind<never> {
  const message = kind === '' ? 'is missing' : `${JSON.stringify(kind)} is not a kind that is read here`;
  const remedy = `write one of ${kinds.join(', ')}`;
  return failure('unknown-kind', { path: ['kind'], value: kind, message, remedy });
}

function parseWithin<One>(schema: z.ZodType<One>, value: object): ParsedKind<One> {
  try {
    return parseBy(schema, value);
  } catch (error) {
    // The value is nested deeper than the stack is.
    if (!(error instanceof RangeError)) throw error;
    const problem = { path: [], value: undefined, message: 'is nested too deeply', remedy: 'write it flatter' };
    return failure('nested-too-deeply', problem);
  }
}

/** A person corrects the first ones and looks again. An object with hundreds of thousands of problems must not keep the processor busy. */
const MOST_PROBLEMS = 1_000;

function parseBy<One>(schema: z.ZodType<One>, value: object): ParsedKind<One> {
  const parsed = schema.safeParse(value);
  const unknown = unknownFields(schema, value);
  if (parsed.success) return { ok: true, object: parsed.data, unknownFields: unknown };
  const { issues } = parsed.error;
  const rest = issues.length > MOST_PROBLEMS ? undefined : repairTypes(schema, value);
  const problems = withoutEchoes(issues)
    .slice(0, MOST_PROBLEMS)
    .map((issue) => toProblem(issue, value));
  return { ok: false, problems, unknownFields: unknown, ...(rest !== undefined && { rest }) };
}

function failure(reason: ObjectProblemReason, problem: Omit<ObjectProblem, 'reason'>): ParsedKind<never> {
  return { ok: false, problems: [{ reason, ...problem }], unknownFields: [] };
}

/** zod also measures a value of a wrong type, such as a text instead of a list; only the wrong type is worth reporting. */
function withoutEchoes(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const wrongTypes = new Set(issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => path.join('.')));
  return issues.filter(({ code, path }) => code === 'invalid_type' || !wrongTypes.has(path.join('.')));
}

function toProblem(issue: z.core.$ZodIssue, value: unknown): ObjectProblem {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const found = fieldAt(value, path);
  const problem = { ...explainIssue(issue, value), path, value: found };
  return found === undefined ? { ...problem, isMissing: true } : problem;
}
