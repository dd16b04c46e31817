import type { CelInput } from '@bufbuild/cel';
import type { StructuralSchema, ValidationRule } from '../structural-schema.js';
import { compileExpression, type Expression, type Variables } from './expression.js';

export interface Bindings extends Variables {
  readonly self: CelInput;
}

export interface CompiledRule {
  readonly rule: ValidationRule;
  /** It compares with the old value, and does not run without one. */
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

/** True if a rule of the node or below it compares with the old value. */
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

/** Words in string literals are not names of the expression. */
function readsOldSelf(text: string): boolean {
  return /\boldSelf\b/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""'));
}
