import type { JsonObject } from '../../api-object.js';
import type { LabelSelector } from '../../label-selector.js';

export interface WebhookRule extends JsonObject {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly scope?: 'Cluster' | 'Namespaced' | '*';
}

export interface ServiceReference extends JsonObject {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  readonly port?: number;
}

export interface ClientConfig extends JsonObject {
  readonly url?: string;
  readonly service?: ServiceReference;
  /** PEM, base64. */
  readonly caBundle?: string;
}

/** CEL that must be true, or the webhook is not called. */
export interface MatchCondition extends JsonObject {
  readonly name: string;
  readonly expression: string;
}

/** An entry of `webhooks` of a MutatingWebhookConfiguration or a ValidatingWebhookConfiguration. */
export interface Webhook extends JsonObject {
  readonly name: string;
  readonly clientConfig: ClientConfig;
  readonly rules?: readonly WebhookRule[];
  readonly failurePolicy?: 'Fail' | 'Ignore';
  readonly matchPolicy?: 'Exact' | 'Equivalent';
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[];
  /** Only mutating webhooks have it. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
  readonly matchConditions?: readonly MatchCondition[];
}

/** The webhooks of a configuration with the defaults that the server fills in. */
export const completeWebhooks = (kind: string, webhooks: readonly Webhook[]): readonly Webhook[] =>
  webhooks.map((webhook) => completeWebhook(kind, webhook));

const fieldOrder = [
  'name',
  'clientConfig',
  'rules',
  'failurePolicy',
  'matchPolicy',
  'namespaceSelector',
  'objectSelector',
  'sideEffects',
  'timeoutSeconds',
  'admissionReviewVersions',
  'reinvocationPolicy',
  'matchConditions',
];

const defaults: JsonObject = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
};

const completeWebhook = (kind: string, webhook: Webhook): Webhook => {
  const { clientConfig, rules } = webhook as Partial<Webhook>;
  const complete: JsonObject = {
    ...defaults,
    ...(kind === 'MutatingWebhookConfiguration' ? { reinvocationPolicy: 'Never' } : {}),
    ...webhook,
    clientConfig: completeClientConfig(clientConfig ?? {}),
    ...(rules === undefined ? {} : { rules: rules.map(completeRule) }),
  };
  return Object.fromEntries(fieldOrder.filter((key) => key in complete).map((key) => [key, complete[key]])) as Webhook;
};

const completeClientConfig = ({ url, service, caBundle }: ClientConfig): ClientConfig => ({
  ...(url === undefined ? {} : { url }),
  ...(service === undefined ? {} : { service: { ...service, port: service.port ?? 443 } }),
  ...(caBundle === undefined ? {} : { caBundle }),
});

const completeRule = ({ operations, apiGroups, apiVersions, resources, scope }: WebhookRule): WebhookRule => ({
  operations,
  apiGroups,
  apiVersions,
  resources,
  scope: scope ?? '*',
});
