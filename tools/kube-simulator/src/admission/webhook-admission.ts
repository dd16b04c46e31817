/**
 * Admission by policies and by webhooks. Mutating ones are called one after the other, ordered by configuration name, and each sees what the one
 * before left; validating ones are called at the same time, and the first denial in that order is the answer.
 */
import { randomUUID } from 'node:crypto';
import { AdmissionDenied } from '../admission-denied.js';
import type { ApiClient } from '../api/api-client.js';
import { LiveList } from '../api/live-list.js';
import { ApiError } from '../api-error.js';
import type { ApiObject, JsonObject } from '../api-object.js';
import { forbidden } from '../failures.js';
import type { Labels } from '../label-selector.js';
import { applyJsonPatch } from '../patch/json-patch.js';
import type { Admission, AdmissionRequest } from '../request/request-chain.js';
import type { Webhook } from '../resources/core/webhook-configuration.js';
import { AdmissionPolicies } from './admission-policies.js';
import { nameOf, type ReviewAnswer, readReviewAnswer, toAdmissionReview } from './admission-review.js';
import type { WebhookCaller } from './call-webhook.js';
import { matchConditions } from './match-conditions.js';
import { type MatchAttributes, matchWebhook, type RuleTarget } from './match-webhook.js';
import { resolveWebhookAddress, type ServiceDirectory } from './webhook-address.js';

const group = 'admissionregistration.k8s.io';

export interface WebhookAdmissionOptions {
  readonly api: Pick<ApiClient, 'get' | 'watch'>;
  readonly caller: Pick<WebhookCaller, 'call' | 'close'>;
  readonly services: ServiceDirectory;
  /** The versions of the resource besides that of the request. */
  readonly otherVersions: (type: {
    readonly group: string;
    readonly version: string;
    readonly plural: string;
  }) => readonly string[];
}

interface Call {
  readonly webhook: Webhook;
  readonly target: RuleTarget;
}

interface Answered {
  readonly patch: readonly JsonObject[] | undefined;
  readonly warnings: readonly string[];
}

export class WebhookAdmission implements Admission {
  readonly #options: WebhookAdmissionOptions;
  readonly #mutating: LiveList;
  readonly #validating: LiveList;
  readonly #policies: AdmissionPolicies;

  constructor(options: WebhookAdmissionOptions) {
    this.#options = options;
    this.#mutating = new LiveList(options.api, { group, resource: 'mutatingwebhookconfigurations' });
    this.#validating = new LiveList(options.api, { group, resource: 'validatingwebhookconfigurations' });
    this.#policies = new AdmissionPolicies(options.api);
  }

  /** Stops following configurations and closes the connections to webhooks. */
  stop(): void {
    this.#mutating.stop();
    this.#validating.stop();
    this.#policies.stop();
    this.#options.caller.close();
  }

  async mutate(request: AdmissionRequest): Promise<{ readonly object?: ApiObject; readonly warnings: readonly string[] }> {
    const webhooks = this.#webhooks(this.#mutating, request);
    if (webhooks.length === 0) return mutated(request.object, []);
    const sent = request.operation === 'CREATE' ? asSent(request) : request;
    const first = await this.#mutateInOrder(sent, webhooks);
    const again = webhooks.filter((webhook) => first.stale.has(webhook) && webhook.reinvocationPolicy === 'IfNeeded');
    const second = await this.#mutateInOrder(withObject(sent, first.object), again);
    const object = second.object === sent.object ? request.object : withServerFields(second.object, request.object);
    return mutated(object, [...first.warnings, ...second.warnings]);
  }

  async validate(request: AdmissionRequest): Promise<{ readonly warnings: readonly string[] }> {
    this.#policies.check(request, this.#matchAttributes(request));
    const webhooks = this.#webhooks(this.#validating, request);
    const calls = webhooks.flatMap((webhook) => this.#callFor(webhook, request) ?? []);
    if (calls.length === 0) return { warnings: [] };
    const shown = request.operation === 'CREATE' ? withoutMetadata(request, ['resourceVersion']) : request;
    const results = await Promise.allSettled(calls.map((call) => this.#review(call, shown)));
    const refused = results.find((result) => result.status === 'rejected');
    if (refused !== undefined) throw refused.reason;
    return { warnings: results.flatMap((result) => (result.status === 'fulfilled' ? result.value.warnings : [])) };
  }

  /** Also returns the webhooks that saw an object which a later one changed. */
  async #mutateInOrder(request: AdmissionRequest, webhooks: readonly Webhook[]) {
    const stale = new Set<Webhook>();
    const called: Webhook[] = [];
    const warnings: string[] = [];
    let object = request.object;
    for (const webhook of webhooks) {
      const current = withObject(request, object);
      const call = this.#callFor(webhook, current);
      if (call === undefined) continue;
      const answer = await this.#review(call, current);
      warnings.push(...answer.warnings);
      if (answer.patch !== undefined && object !== undefined) {
        object = applyWebhookPatch(object, answer.patch, call.target);
        for (const earlier of called) stale.add(earlier);
      }
      called.push(webhook);
    }
    return { object, warnings, stale };
  }

  /** Webhooks are not asked about webhook configurations: otherwise a bad one could not be removed. */
  #webhooks(configurations: LiveList, request: AdmissionRequest): readonly Webhook[] {
    if (request.type.group === group) return [];
    return configurations.all().flatMap((config) => (config['webhooks'] ?? []) as readonly Webhook[]);
  }

  /** Throws if a match condition has no value and the webhook's failurePolicy is `Fail`. */
  #callFor(webhook: Webhook, request: AdmissionRequest): Call | undefined {
    const target = matchWebhook(webhook, this.#matchAttributes(request));
    if (target === undefined) return undefined;
    const outcome = matchConditions(webhook, () => toAdmissionReview(request, target, '')['request'] as JsonObject);
    if (outcome.kind === 'broken') throw forbidden(request.type, nameOf(request), { message: outcome.problem });
    return outcome.kind === 'hold' ? { webhook, target } : undefined;
  }

  #matchAttributes(request: AdmissionRequest): MatchAttributes {
    const { type, attributes, operation } = request;
    const target = { group: type.group, version: type.version, resource: type.plural };
    const objects = [request.object, request.oldObject].filter((object) => object !== undefined);
    return {
      operation,
      target,
      otherTargets: this.#options.otherVersions(type).map((version) => ({ ...target, version })),
      subresource: attributes.subresource,
      namespaced: type.namespaced,
      namespaceLabels: this.#namespaceLabels(request),
      objectLabels: objects.map(labelsOf),
    };
  }

  #namespaceLabels({ type, attributes, object, oldObject }: AdmissionRequest): Labels | undefined {
    if (type.group === '' && type.plural === 'namespaces') return labelsOf(object ?? oldObject);
    if (!type.namespaced) return undefined;
    return labelsOf(this.#options.api.get({ resource: 'namespaces', name: attributes.namespace }));
  }

  /** The webhook's answer; undefined if it failed and its failurePolicy is `Ignore`. Throws on a denial. */
  async #review(call: Call, request: AdmissionRequest): Promise<Answered> {
    const { webhook } = call;
    const answer = await this.#ask(call, request);
    switch (answer.kind) {
      case 'allowed':
        return answer;
      case 'denied':
        throw new AdmissionDenied(answer.failure, answer.warnings);
      case 'broken':
        if (webhook.failurePolicy === 'Ignore') return { patch: undefined, warnings: [] };
        throw internalError(`failed calling webhook "${webhook.name}": ${answer.problem}`);
    }
  }

  async #ask({ webhook, target }: Call, request: AdmissionRequest): Promise<ReviewAnswer> {
    const uid = randomUUID();
    const where = resolveWebhookAddress(webhook, this.#options.services);
    if (where.kind === 'unreachable') return failedCall(where.problem);
    const review = toAdmissionReview(request, target, uid);
    const result = await this.#options.caller.call(where.address, review, (webhook.timeoutSeconds ?? 10) * 1000);
    return result.kind === 'answered' ? readReviewAnswer(result.body, uid, webhook.name) : failedCall(result.problem);
  }
}

const mutated = (object: ApiObject | undefined, warnings: readonly string[]) => ({
  ...(object === undefined ? {} : { object }),
  warnings,
});

/** Applies the server's defaults on a create, after the mutating webhooks. */
const serverFields = ['uid', 'creationTimestamp', 'generation', 'resourceVersion', 'managedFields'];

const asSent = (request: AdmissionRequest): AdmissionRequest => withoutMetadata(request, serverFields);

const withoutMetadata = (request: AdmissionRequest, fields: readonly string[]): AdmissionRequest => {
  if (request.object === undefined) return request;
  const kept = Object.entries(request.object.metadata).filter(([field]) => !fields.includes(field));
  return { ...request, object: { ...request.object, metadata: Object.fromEntries(kept) } };
};

const withServerFields = (object: ApiObject | undefined, from: ApiObject | undefined): ApiObject | undefined => {
  if (object === undefined || from === undefined) return object;
  const own = Object.entries(from.metadata).filter(([field]) => serverFields.includes(field));
  return { ...object, metadata: { ...object.metadata, ...Object.fromEntries(own) } };
};

const withObject = (request: AdmissionRequest, object: ApiObject | undefined): AdmissionRequest =>
  object === undefined ? request : { ...request, object };

const labelsOf = (object: ApiObject | undefined): Labels => (object?.metadata['labels'] as Labels | undefined) ?? {};

const failedCall = (problem: string): ReviewAnswer => ({ kind: 'broken', problem: `failed to call webhook: ${problem}` });

/** The patch is made for the object as the webhook saw it, which may be in another version than the request. */
const applyWebhookPatch = (object: ApiObject, patch: readonly JsonObject[], target: RuleTarget): ApiObject => {
  const { apiVersion } = object;
  const seen = { ...object, apiVersion: target.group === '' ? target.version : `${target.group}/${target.version}` };
  const changed = patch.reduce<JsonObject>(applyOperation, seen) as ApiObject;
  return { ...changed, apiVersion };
};

const applyOperation = (object: JsonObject, operation: JsonObject): JsonObject => {
  try {
    return applyJsonPatch(object, [operation]);
  } catch (error) {
    if (error instanceof ApiError) throw internalError(describeMisfit(operation));
    throw error;
  }
};

const describeMisfit = (operation: JsonObject): string => {
  const { op, path } = operation as { op?: string; path?: string };
  const last = path?.split('/').at(-1) ?? '';
  const missing = op === 'remove' ? `Unable to remove nonexistent key: ${last}: missing value` : 'missing value';
  return `error in ${op ?? ''} for path: '${path ?? ''}': ${missing}`;
};

const internalError = (message: string): ApiError =>
  new ApiError({
    code: 500,
    reason: 'InternalError',
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });
