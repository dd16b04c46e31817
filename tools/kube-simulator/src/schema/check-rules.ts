import type { Cause } from '../api-error.js';
import type { Json } from '../api-object.js';
import { forbidden, invalid, notSupported, required } from './causes.js';
import { inspectExpression, scopeOfRule } from './cel/inspect-expression.js';
import { maxSize } from './cel/max-size.js';
import { entryOf, type FieldPath, fieldOf, formatPath } from './field-path.js';
import type { StructuralSchema, ValidationRule } from './structural-schema.js';

/** The maximum costs of one rule, and of all rules of a schema. */
const ruleLimit = 10_000_000;
const schemaLimit = 100_000_000;
/** How many of the most expensive rules are named if the sum is over its limit. */
const namedRules = 4;

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

interface Checking {
  readonly causes: Cause[];
  readonly costs: { readonly path: string; readonly cost: number }[];
}

/** Returns the errors in the rules of a schema: rules that do not compile, and rules that may cost too much. */
export function checkRules(schema: StructuralSchema, path: FieldPath): Cause[] {
  const checking: Checking = { causes: [], costs: [] };
  checkNode(checking, { schema, path, cardinality: 1 });
  return [...checking.causes, ...checkTotal(checking, path)];
}

interface Node {
  readonly schema: StructuralSchema;
  readonly path: FieldPath;
  /** How often the node may be in one object. */
  readonly cardinality: number;
}

function checkNode(checking: Checking, node: Node): void {
  const { schema, path, cardinality } = node;
  if (!schema.has.rules) return;
  for (const [index, rule] of schema.rules.entries()) {
    checkRule(checking, node, { rule, path: entryOf(fieldOf(path, 'x-kubernetes-validations'), index) });
  }
  for (const [name, property] of schema.properties) {
    checkNode(checking, { schema: property, path: entryOf(fieldOf(path, 'properties'), name), cardinality });
  }
  const entries = schema.additionalProperties === true ? undefined : schema.additionalProperties;
  const many = cardinality * maxSize(schema);
  if (entries !== undefined)
    checkNode(checking, { schema: entries, path: fieldOf(path, 'additionalProperties'), cardinality: many });
  if (schema.items !== undefined) checkNode(checking, { schema: schema.items, path: fieldOf(path, 'items'), cardinality: many });
}

interface RuleAt {
  readonly rule: ValidationRule;
  readonly path: FieldPath;
}

function checkRule(checking: Checking, node: Node, { rule, path }: RuleAt): void {
  const field = (name: string): string => formatPath(fieldOf(path, name));
  if (rule.rule.trim() === '') {
    checking.causes.push(required(field('rule'), 'rule is not specified'));
    return;
  }
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
    checking.causes.push(notSupported(field('reason'), rule.reason, reasons));
  }
  if (rule.message?.trim().includes('\n') === true) {
    checking.causes.push(invalid(field('message'), rule.message, 'message must not contain line breaks'));
  }
  checkExpression(checking, node, { rule, field: field('rule'), text: rule.rule, name: 'rule' });
  if (rule.messageExpression === undefined || rule.messageExpression === '') return;
  checkExpression(checking, node, {
    rule,
    field: field('messageExpression'),
    text: rule.messageExpression,
    name: 'messageExpression',
  });
}

interface ExpressionAt {
  readonly rule: ValidationRule;
  readonly field: string;
  readonly text: string;
  readonly name: 'rule' | 'messageExpression';
}

function checkExpression(checking: Checking, { schema, cardinality }: Node, { rule, field, text, name }: ExpressionAt): void {
  const { problem, cost } = inspectExpression(text, scopeOfRule(schema, rule.optionalOldSelf === true));
  if (problem !== undefined) {
    const what = name === 'rule' ? 'compilation failed' : 'messageExpression compilation failed';
    checking.causes.push(invalid(field, shownRule(rule), `${what}: ${problem}`));
    return;
  }
  const highest = cost * cardinality;
  checking.costs.push({ path: field, cost: highest });
  if (highest > ruleLimit) checking.causes.push(forbidden(field, exceeds(`estimated ${name} cost`, highest / ruleLimit)));
}

function checkTotal({ costs }: Checking, path: FieldPath): Cause[] {
  const sum = costs.reduce((all, { cost }) => all + cost, 0);
  if (sum <= schemaLimit) return [];
  const dearest = costs
    .toSorted((a, b) => (a.cost === b.cost ? 0 : b.cost - a.cost))
    .slice(0, namedRules)
    .filter(({ cost }) => cost > ruleLimit);
  const contributed = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
  const whole = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
  return [
    ...dearest.map((rule) => forbidden(rule.path, contributed)),
    forbidden(formatPath(path), exceeds(whole, sum / schemaLimit)),
  ];
}

function exceeds(what: string, factor: number): string {
  const times = factor > 100 ? 'more than 100x' : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  const advice =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';
  return `${what} exceeds budget by factor of ${times} (${advice})`;
}

/** A rule as the real server shows it: with the names it has there. */
function shownRule(rule: ValidationRule): Json {
  return {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}
