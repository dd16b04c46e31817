/** `matchConditions`: expressions about a write, all of which must be true, or the webhook is not called. */
import type { JsonObject } from '../api-object.js';
import type { Webhook } from '../resources/core/webhook-configuration.js';
import { celValue } from '../schema/cel/cel-value.js';
import { compileExpression, type Expression, type Variables } from '../schema/cel/expression.js';

/** `broken`: a condition has no value, and the webhook's failurePolicy is `Fail`. */
export type ConditionsOutcome =
  | { readonly kind: 'hold' }
  | { readonly kind: 'fail' }
  | { readonly kind: 'broken'; readonly problem: string };

interface Condition {
  readonly text: string;
  readonly expression: Expression;
}

const compiled = new WeakMap<Webhook, readonly Condition[]>();

/**
 * Returns whether the conditions of a webhook hold for a write. A false condition takes precedence over conditions without a value.
 *
 * Source: k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions Match.
 * @param review - The `request` of the AdmissionReview that the webhook would get.
 */
export const matchConditions = (webhook: Webhook, review: () => JsonObject): ConditionsOutcome => {
  const conditions = conditionsOf(webhook);
  if (conditions.length === 0) return { kind: 'hold' };
  const variables = variablesOf(review());
  const values = conditions.map((condition) => evaluateCondition(condition, variables));
  if (values.includes(false)) return { kind: 'fail' };
  const problems = values.filter((value) => typeof value === 'string');
  if (problems.length === 0) return { kind: 'hold' };
  if (webhook.failurePolicy === 'Ignore') return { kind: 'fail' };
  return { kind: 'broken', problem: problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]` };
};

/** Whether the condition is true, or why that is not known. */
const evaluateCondition = ({ text, expression }: Condition, variables: Variables): boolean | string => {
  const outcome = expression.evaluate(variables);
  if (!outcome.ok) return `expression '${text}' resulted in error: ${outcome.error}`;
  // The real server refuses an expression of another type when the webhook is registered.
  return typeof outcome.value === 'boolean' ? outcome.value : `expression '${text}' resulted in error: must evaluate to bool`;
};

const conditionsOf = (webhook: Webhook): readonly Condition[] => {
  let conditions = compiled.get(webhook);
  if (conditions === undefined) {
    conditions = (webhook.matchConditions ?? []).map(({ expression }) => ({
      text: expression,
      expression: compileExpression(expression),
    }));
    compiled.set(webhook, conditions);
  }
  return conditions;
};

/** `request` does not have the objects, which are names of their own, and not what makes one review differ from another. */
export const variablesOf = ({ object = null, oldObject = null, uid: _uid, ...request }: JsonObject): Variables => ({
  object: celValue(undefined, object),
  oldObject: celValue(undefined, oldObject),
  request: celValue(undefined, request),
});
