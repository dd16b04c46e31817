import { type CelInput, celEnv, isCelError, parse, plan } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import type { StructuralSchema, ValidationRule } from '../structural-schema.js';
import { ipFunctions } from './ip-functions.js';
import { listFunctions } from './list-functions.js';

export const environment: ReturnType<typeof celEnv> = celEnv({ funcs: [...strings, ...ipFunctions, ...listFunctions] });

export interface Bindings {
  readonly [name: string]: CelInput;
  readonly self: CelInput;
}

/** What an expression gave: its value, or why it has none. */
export type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string };

export interface Expression {
  evaluate(bindings: Bindings): Outcome;
}

export interface CompiledRule {
  readonly rule: ValidationRule;
  /** It compares with the value before: without one it does not run. */
  readonly usesOldSelf: boolean;
  readonly condition: Expression;
  readonly message: Expression | undefined;
}

const compiled = new WeakMap<StructuralSchema, readonly CompiledRule[]>();

/** Returns the rules of a node (not of those below it), compiled once. */
export function compiledRules(schema: StructuralSchema): readonly CompiledRule[] {
  let rules = compiled.get(schema);
  if (rules === undefined) {
    rules = schema.rules.filter(({ rule }) => rule !== '').map(compileRule);
    compiled.set(schema, rules);
  }
  return rules;
}

const transitions = new WeakMap<StructuralSchema, boolean>();

/** True where a rule of the node or below it compares with the value before. */
export function hasTransitionRules(schema: StructuralSchema): boolean {
  if (!schema.has.rules) return false;
  let found = transitions.get(schema);
  if (found === undefined) {
    const { additionalProperties, items } = schema;
    const below = [
      ...schema.properties.values(),
      ...schema.allOf,
      items,
      additionalProperties === true ? undefined : additionalProperties,
    ];
    found =
      compiledRules(schema).some((rule) => rule.usesOldSelf) ||
      below.some((node) => node !== undefined && hasTransitionRules(node));
    transitions.set(schema, found);
  }
  return found;
}

function compileRule(rule: ValidationRule): CompiledRule {
  const { messageExpression } = rule;
  const texts = [rule.rule, messageExpression ?? ''];
  return {
    rule,
    usesOldSelf: texts.some((text) => readsOldSelf(text)),
    condition: compileExpression(rule.rule),
    message: messageExpression === undefined || messageExpression === '' ? undefined : compileExpression(messageExpression),
  };
}

/** Words in string literals are none of the expression's names. */
function readsOldSelf(text: string): boolean {
  return /\boldSelf\b/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""'));
}

function compileExpression(text: string): Expression {
  try {
    const run = plan(environment, parse(text)) as (bindings: Bindings) => unknown;
    return { evaluate: (bindings) => outcomeOf(run(bindings)) };
  } catch (error) {
    const failed: Outcome = { ok: false, error: `rule compile error: ${(error as Error).message}` };
    return { evaluate: () => failed };
  }
}

function outcomeOf(result: unknown): Outcome {
  return isCelError(result) ? { ok: false, error: errorText(result.message) } : { ok: true, value: result };
}

const errorTexts: readonly (readonly [RegExp, string])[] = [
  [/^\w+ divide by zero$/, 'division by zero'],
  [/^\w+ modulus by zero$/, 'modulus by zero'],
  [/^field not found: (.*)$/, 'no such key: $1'],
  [/^index (-?\d+) out of bounds .*$/, 'index out of bounds: $1'],
  [/^u?int overflow during .*$/, 'integer overflow'],
  [/^found no matching overload .*$/s, 'no such overload'],
];

/** The words of the real server for a message of the library. */
function errorText(message: string): string {
  const [pattern, text] = errorTexts.find(([known]) => known.test(message)) ?? [];
  return pattern === undefined || text === undefined ? message : message.replace(pattern, text);
}
