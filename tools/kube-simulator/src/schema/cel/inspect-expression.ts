/**
 * Checks an expression before it runs: unknown names, and its maximum cost. The costs are not the same numbers as in the real server, but close
 * enough to refuse excessive expressions.
 */
import { parse } from '@bufbuild/cel';
import { type StructuralSchema, structuralSchema } from '../structural-schema.js';
import { environment } from './expression.js';
import { unescapeField } from './field-names.js';
import { maxSize } from './max-size.js';

export interface Inspection {
  /** Absent where the expression compiles. */
  readonly problem: string | undefined;
  /** The maximum cost of one evaluation. */
  readonly cost: number;
}

type Expr = ReturnType<typeof parse>['expr'];

/** A value: its node in the schema (anything without one), and its maximum size. */
interface Known {
  readonly schema?: StructuralSchema | undefined;
  readonly size: number;
}
interface Inspected extends Known {
  readonly cost: number;
}
/** The names that an expression may use. */
export type Scope = ReadonlyMap<string, Known>;

interface Inspecting {
  readonly problems: { readonly id: string; readonly text: string }[];
}

const stringTraversal = 0.1;
const regexTraversal = 0.25;
const typeNames = new Set([
  'int',
  'uint',
  'double',
  'bool',
  'string',
  'bytes',
  'list',
  'map',
  'null_type',
  'type',
  'dyn',
  'optional',
]);
const resource = structuralSchema({
  type: 'object',
  properties: {
    apiVersion: { type: 'string', maxLength: 253 },
    kind: { type: 'string', maxLength: 63 },
    metadata: {
      type: 'object',
      properties: { name: { type: 'string', maxLength: 253 }, generateName: { type: 'string', maxLength: 253 } },
    },
  },
});

/**
 * Returns the names that a rule of a value of `schema` may use.
 *
 * @param optionalOldSelf `oldSelf` is an optional value.
 */
export function scopeOfRule(schema: StructuralSchema, optionalOldSelf: boolean): Scope {
  const self: Known = { schema, size: maxSize(schema) };
  return new Map([
    ['self', self],
    ['oldSelf', optionalOldSelf ? { size: 1 } : self],
  ]);
}

/** Returns the errors in `text`, in the words of the real server, and its cost. */
export function inspectExpression(text: string, scope: Scope): Inspection {
  const inspecting: Inspecting = { problems: [] };
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(text);
  } catch (error) {
    return { problem: syntaxProblem(text, (error as Error).message), cost: 0 };
  }
  const { cost } = inspect(inspecting, parsed.expr, scope);
  const [first] = inspecting.problems;
  const offset = first === undefined ? 0 : (parsed.sourceInfo?.positions[first.id] ?? 0);
  return { problem: first === undefined ? undefined : located(text, offset, first.text), cost };
}

function syntaxProblem(text: string, message: string): string {
  const [, column = '1', problem = message] = /^<input>:\d+:(\d+): (.*)$/s.exec(message) ?? [];
  return located(text, Number(column) - 1, `Syntax error: ${problem}`);
}

/** `ERROR: <input>:1:5: ...` with the line and a mark below it. */
function located(text: string, offset: number, problem: string): string {
  const before = text.slice(0, offset).split('\n');
  const column = before.at(-1)?.length ?? 0;
  const line = text.split('\n')[before.length - 1] ?? '';
  return `ERROR: <input>:${before.length}:${column + 1}: ${problem}\n | ${line}\n | ${'.'.repeat(column)}^`;
}

function inspect(inspecting: Inspecting, expr: Expr | undefined, scope: Scope): Inspected {
  const kind = expr?.exprKind.case;
  if (expr === undefined || kind === undefined) return { cost: 0, size: 1 };
  return inspectors[kind](inspecting, expr, scope);
}

const inspectors: Readonly<Record<Kind, typeof inspect>> = {
  constExpr: inspectConstant,
  identExpr: inspectName,
  selectExpr: inspectSelect,
  callExpr: inspectCall,
  listExpr: inspectList,
  structExpr: () => ({ cost: 30, size: 1 }),
  comprehensionExpr: inspectComprehension,
};

type Kind = NonNullable<Expr['exprKind']['case']>;
type Part<K extends Kind> = Extract<Expr['exprKind'], { case: K }>['value'];

/** Returns the part of an expression that its kind uses. */
function partOf<K extends Kind>(expr: Expr | undefined, kind: K): Part<K> {
  if (expr?.exprKind.case !== kind) throw new TypeError(`the expression is no ${kind}`);
  return expr.exprKind.value as Part<K>;
}

function idOf(expr: Expr | undefined): string {
  return String(expr?.id ?? 0n);
}

function inspectConstant(_: Inspecting, expr: Expr | undefined): Inspected {
  const { value } = partOf(expr, 'constExpr').constantKind;
  return { cost: 0, size: typeof value === 'string' ? value.length : 1 };
}

function inspectList(inspecting: Inspecting, expr: Expr | undefined, scope: Scope): Inspected {
  const items = partOf(expr, 'listExpr').elements.map((item) => inspect(inspecting, item, scope));
  return { cost: 10 + total(items), size: items.length };
}

function total(parts: readonly Inspected[]): number {
  return parts.reduce((sum, { cost }) => sum + cost, 0);
}

function inspectName(inspecting: Inspecting, expr: Expr | undefined, scope: Scope): Inspected {
  const { name } = partOf(expr, 'identExpr');
  const known = scope.get(name);
  if (known === undefined && !typeNames.has(name)) inspecting.problems.push({ id: idOf(expr), text: undeclared(name) });
  return { cost: 1, size: 1, ...known };
}

function undeclared(name: string): string {
  return `undeclared reference to '${name}' (in container '')`;
}

function inspectSelect(inspecting: Inspecting, expr: Expr | undefined, scope: Scope): Inspected {
  const { operand, field } = partOf(expr, 'selectExpr');
  const inner = inspect(inspecting, operand, scope);
  const selected = fieldOf(inner.schema, field);
  if (typeof selected === 'string') inspecting.problems.push({ id: idOf(expr), text: selected });
  return { cost: inner.cost + 1, ...(typeof selected === 'object' ? selected : { size: 1 }) };
}

/** Returns the error, or undefined if the schema does not specify the field. */
function fieldOf(schema: StructuralSchema | undefined, field: string): Known | string | undefined {
  if (schema === undefined || schema.types.length === 0) return undefined;
  if (schema.types[0] !== 'object') return `type '${schema.types[0]}' does not support field selection`;
  const name = unescapeField(field);
  const additional = schema.additionalProperties;
  const found = schema.properties.get(name) ?? (additional === true ? undefined : additional) ?? resource.properties.get(name);
  if (found !== undefined) return { schema: found, size: maxSize(found) };
  return additional === true || schema.preserveUnknownFields ? undefined : `undefined field '${field}'`;
}

function inspectCall(inspecting: Inspecting, expr: Expr | undefined, scope: Scope): Inspected {
  const { function: name, target, args } = partOf(expr, 'callExpr');
  const namespace = target?.exprKind.case === 'identExpr' ? target.exprKind.value.name : undefined;
  const qualified = namespace !== undefined && environment.funcs.find(`${namespace}.${name}`) !== undefined;
  const operands = [...(target === undefined || qualified ? [] : [target]), ...args].map((arg) =>
    inspect(inspecting, arg, scope),
  );
  if (!qualified && !isOperator(name) && environment.funcs.find(name) === undefined) {
    inspecting.problems.push({ id: idOf(expr), text: undeclared(name) });
  }
  const own = callOf(name, operands);
  return { ...own, cost: total(operands) + own.cost };
}

/** Operators that the library evaluates itself. */
function isOperator(name: string): boolean {
  return name.startsWith('@') || /^[^a-z]+$/.test(name) || name === 'dyn';
}

type CallCost = (first: Known, second: Known, third: Known) => Inspected;

const logic: CallCost = () => ({ cost: 0, size: 1 });
const passed: CallCost = (first) => ({ cost: 1, ...first });
const regex: CallCost = ({ size }, pattern) => ({
  cost: (1 + size * stringTraversal) * (1 + pattern.size * regexTraversal),
  size,
});

/** The cost of a call besides its operands, and its result. */
const calls: ReadonlyMap<string, CallCost> = new Map<string, CallCost>([
  ['_&&_', logic],
  ['_||_', logic],
  ['_?_:_', (_, yes, no) => ({ cost: 0, schema: yes.schema, size: Math.max(yes.size, no.size) })],
  ['_[_]', (first) => ({ cost: 1, ...itemOf(first) })],
  ['_+_', (first, second) => ({ cost: 1 + (first.size + second.size) * stringTraversal, size: first.size + second.size })],
  ['@in', (_, list) => ({ cost: list.size, size: 1 })],
  ['contains', (text, part) => ({ cost: (1 + text.size * stringTraversal) * (1 + part.size * stringTraversal), size: 1 })],
  ['matches', regex],
  ['find', regex],
  ['findAll', regex],
  // The length of a number's text has no bound.
  ['string', ({ schema, size }) => ({ cost: 1, size: schema?.types[0] === 'string' ? size : Number.POSITIVE_INFINITY })],
  ['value', passed],
  ['orValue', passed],
  ['dyn', passed],
]);

function callOf(name: string, operands: readonly Inspected[]): Inspected {
  const nothing: Known = { size: 1 };
  const [first = nothing, second = nothing, third = nothing] = operands.map(({ schema, size }): Known => ({ schema, size }));
  const known = calls.get(name);
  if (known !== undefined) return known(first, second, third);
  const smallest = Math.min(...operands.map((operand) => operand.size));
  return { cost: 1 + (operands.length === 0 ? 0 : smallest * stringTraversal), size: first.size };
}

function itemOf(list: Known | undefined): Known {
  const { items, additionalProperties } = list?.schema ?? {};
  const item = items ?? (additionalProperties === true ? undefined : additionalProperties);
  return item === undefined ? { size: 1 } : { schema: item, size: maxSize(item) };
}

function inspectComprehension(inspecting: Inspecting, expr: Expr | undefined, scope: Scope): Inspected {
  const { iterRange, iterVar, accuVar, accuInit, loopCondition, loopStep, result } = partOf(expr, 'comprehensionExpr');
  const range = inspect(inspecting, iterRange, scope);
  const isMap = range.schema?.types[0] === 'object';
  const inner: Scope = new Map<string, Known>([
    ...scope,
    [accuVar, { size: range.size }],
    [iterVar, isMap ? { size: 64 } : itemOf(range)],
  ]);
  const step = total([inspect(inspecting, loopCondition, inner), inspect(inspecting, loopStep, inner)]);
  const around = total([range, inspect(inspecting, accuInit, scope), inspect(inspecting, result, inner)]);
  return { cost: around + range.size * step, schema: isMap ? undefined : range.schema, size: range.size };
}
