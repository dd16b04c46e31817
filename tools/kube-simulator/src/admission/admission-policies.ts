/**
 * ValidatingAdmissionPolicies: expressions that each write they match has to meet. Without parameters, `authorizer`, `messageExpression`, audit annotations and the actions
 * `Warn` and `Audit`.
 *
 * Source: k8s.io/apiserver/pkg/admission/plugin/policy/validating.
 */
import type { ApiClient } from '../api/api-client.js';
import { LiveList } from '../api/live-list.js';
import { ApiError } from '../api-error.js';
import type { ApiObject, JsonObject } from '../api-object.js';
import { forbidden } from '../failures.js';
import { objectsOf, section, textOf } from '../json-parts.js';
import type { AdmissionRequest } from '../request/request-chain.js';
import type { Webhook, WebhookRule } from '../resources/core/webhook-configuration.js';
import { compileExpression, type Expression, type Variables } from '../schema/cel/expression.js';
import { nameOf, toAdmissionReview } from './admission-review.js';
import { matchConditions, variablesOf } from './match-conditions.js';
import { type MatchAttributes, matchWebhook } from './match-webhook.js';

const group = 'admissionregistration.k8s.io';
/** HTTP status by the reason of a validation. */
const CODES: Readonly<Record<string, number>> = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413, Invalid: 422 };

interface Validation {
  readonly text: string;
  readonly expression: Expression;
  readonly message: string | undefined;
  readonly reason: string;
}

interface Policy {
  /** Matching is written as for a webhook. */
  readonly match: Webhook;
  readonly variables: readonly (readonly [name: string, expression: Expression])[];
  readonly validations: readonly Validation[];
}

const compiled = new WeakMap<ApiObject, Policy>();

export class AdmissionPolicies {
  readonly #policies: LiveList;
  readonly #bindings: LiveList;

  constructor(api: Pick<ApiClient, 'watch'>) {
    this.#policies = new LiveList(api, { group, resource: 'validatingadmissionpolicies' });
    this.#bindings = new LiveList(api, { group, resource: 'validatingadmissionpolicybindings' });
  }

  stop(): void {
    this.#policies.stop();
    this.#bindings.stop();
  }

  /** @throws ApiError for a write that a policy denies. */
  check(request: AdmissionRequest, write: MatchAttributes): void {
    if (request.type.group === group) return;
    for (const binding of this.#bindings.all()) {
      const { policyName, validationActions } = section(binding, 'spec');
      const policy = this.#policies.all().find(({ metadata }) => metadata.name === policyName);
      if (policy !== undefined && Array.isArray(validationActions) && validationActions.includes('Deny'))
        checkPolicy(request, write, { policy, binding });
    }
  }
}

interface Bound {
  readonly policy: ApiObject;
  readonly binding: ApiObject;
}

function checkPolicy(request: AdmissionRequest, write: MatchAttributes, { policy, binding }: Bound): void {
  const { match, variables, validations } = policyOf(policy);
  const target = matchWebhook(match, write);
  if (target === undefined) return;
  const review = (): JsonObject => toAdmissionReview(request, target, '')['request'] as JsonObject;
  const outcome = matchConditions(match, review);
  if (outcome.kind === 'fail') return;
  const [policyName, bindingName] = [policy.metadata.name ?? '', binding.metadata.name ?? ''];
  const deny = (why: string, reason: string): ApiError =>
    denial(request, `ValidatingAdmissionPolicy '${policyName}' with binding '${bindingName}' denied request: ${why}`, reason);
  if (outcome.kind === 'broken') throw deny(outcome.problem, 'Invalid');
  const values = withVariables(variablesOf(review()), variables);
  for (const validation of validations) {
    const why = problemOf(validation, values, match.failurePolicy);
    if (why !== undefined) throw deny(why, validation.reason);
  }
}

/** Undefined if the write meets it. */
function problemOf({ text, expression, message }: Validation, values: Variables, failurePolicy: unknown): string | undefined {
  const result = expression.evaluate(values);
  if (!result.ok) return failurePolicy === 'Ignore' ? undefined : `expression '${text}' resulted in error: ${result.error}`;
  return result.value === true ? undefined : (message ?? `failed expression: ${text}`);
}

/** The names with the variables of the policy: strings, numbers and booleans. A variable without a value is absent. */
function withVariables(values: Variables, variables: Policy['variables']): Variables {
  let own: Readonly<Record<string, unknown>> = {};
  for (const [name, expression] of variables) {
    const result = expression.evaluate({ ...values, variables: own as never });
    if (result.ok) own = { ...own, [name]: result.value };
  }
  return { ...values, variables: own as never };
}

function denial({ type, ...request }: AdmissionRequest, message: string, reason: string): ApiError {
  const { failure } = forbidden(type, nameOf({ type, ...request }), { message });
  const code = CODES[reason] ?? 422;
  return new ApiError({ ...failure, code, reason, details: { ...failure.details, causes: [{ message }] } });
}

function policyOf(object: ApiObject): Policy {
  const known = compiled.get(object);
  if (known !== undefined) return known;
  const spec = section(object, 'spec');
  const { resourceRules, ...constraints } = section(spec, 'matchConstraints');
  const policy: Policy = {
    match: {
      ...constraints,
      name: object.metadata.name ?? '',
      clientConfig: {},
      rules: objectsOf(resourceRules) as readonly WebhookRule[],
      ...(spec['failurePolicy'] === 'Ignore' && { failurePolicy: 'Ignore' }),
      matchConditions: objectsOf(spec['matchConditions']) as never,
    },
    variables: objectsOf(spec['variables']).map(({ name, expression }) => [textOf(name), compileExpression(textOf(expression))]),
    validations: objectsOf(spec['validations']).map(({ expression, message, reason }) => ({
      text: textOf(expression),
      expression: compileExpression(textOf(expression)),
      message: typeof message === 'string' ? message.trim() : undefined,
      reason: typeof reason === 'string' ? reason : 'Invalid',
    })),
  };
  compiled.set(object, policy);
  return policy;
}
