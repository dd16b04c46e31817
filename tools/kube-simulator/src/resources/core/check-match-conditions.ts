import type { Cause } from '../../api-error.js';
import { duplicate, invalid, required, tooMany } from '../../schema/causes.js';
import { inspectExpression, type Scope } from '../../schema/cel/inspect-expression.js';
import { structuralSchema } from '../../schema/structural-schema.js';
import type { MatchCondition } from './webhook-configuration.js';

const mostConditions = 64;

/** Everything the real server refuses in the `matchConditions` of a webhook at `path`. */
export const checkMatchConditions = (conditions: readonly MatchCondition[], path: string): readonly Cause[] => {
  const names = conditions.map(({ name }) => name);
  return [
    ...(conditions.length > mostConditions ? [tooMany(path, conditions.length, mostConditions)] : []),
    ...conditions.flatMap(({ name, expression }, index) => [
      ...checkExpression(expression ?? '', `${path}[${index}].expression`),
      ...(name ? [] : [required(`${path}[${index}].name`)]),
      ...(name && names.indexOf(name) < index ? [duplicate(`${path}[${index}].name`, name)] : []),
    ]),
  ];
};

const checkExpression = (expression: string, field: string): readonly Cause[] => {
  if (expression.trim() === '') return [required(field)];
  const { problem } = inspectExpression(expression, scope);
  return problem === undefined ? [] : [invalid(field, expression, `compilation failed: ${problem}`)];
};

const text = { type: 'string' };
const fields = (...names: readonly string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, text])),
});
const kind = fields('group', 'version', 'kind');
const resource = fields('group', 'version', 'resource');
const lists = { type: 'object', additionalProperties: { type: 'array', items: text } };
const userInfo = {
  type: 'object',
  properties: { username: text, uid: text, groups: { type: 'array', items: text }, extra: lists },
};

/** Source: k8s.io/apiserver/pkg/admission/plugin/cel BuildRequestType. */
const request = structuralSchema({
  type: 'object',
  properties: {
    kind,
    resource,
    subResource: text,
    requestKind: kind,
    requestResource: resource,
    requestSubResource: text,
    name: text,
    namespace: text,
    operation: text,
    userInfo,
    dryRun: { type: 'boolean' },
    options: { 'x-kubernetes-preserve-unknown-fields': true },
  },
});

/** Objects may have any field, because expressions do not know which kinds a webhook matches. */
const scope: Scope = new Map([
  ['object', { size: 1 }],
  ['oldObject', { size: 1 }],
  ['request', { schema: request, size: 1 }],
]);
