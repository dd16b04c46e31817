import type { Cause } from '../../api-error.js';
import { checkMatchConditions } from './check-match-conditions.js';
import type { ClientConfig, Webhook, WebhookRule } from './webhook-configuration.js';

/** Everything the real server refuses in a webhook configuration (after defaulting), as far as it is checked here. */
export const checkWebhooks = (webhooks: readonly Webhook[]): readonly Cause[] => {
  const names = webhooks.map((webhook) => webhook.name);
  return webhooks.flatMap((webhook, index) => [
    ...checkWebhook(webhook, `webhooks[${index}]`),
    ...(names.indexOf(webhook.name) < index ? [duplicate(`webhooks[${index}].name`, webhook.name)] : []),
  ]);
};

const checkWebhook = (webhook: Webhook, path: string): readonly Cause[] => [
  ...checkName(webhook.name ?? '', `${path}.name`),
  ...(webhook.rules ?? []).flatMap((rule, index) => checkRule(rule, `${path}.rules[${index}]`)),
  ...checkEnum(webhook.failurePolicy, `${path}.failurePolicy`, ['Fail', 'Ignore']),
  ...checkEnum(webhook.matchPolicy, `${path}.matchPolicy`, ['Equivalent', 'Exact']),
  ...checkSideEffects(webhook.sideEffects, `${path}.sideEffects`),
  ...checkTimeout(webhook.timeoutSeconds ?? 10, `${path}.timeoutSeconds`),
  ...checkClientConfig(webhook.clientConfig, `${path}.clientConfig`),
  ...checkReviewVersions(webhook.admissionReviewVersions ?? [], `${path}.admissionReviewVersions`),
  ...checkMatchConditions(webhook.matchConditions ?? [], `${path}.matchConditions`),
];

const checkName = (name: string, field: string): readonly Cause[] =>
  name.split('.').filter(Boolean).length >= 3
    ? []
    : [invalid(field, name, 'should be a domain with at least three segments separated by dots')];

// An empty list of groups is let through by the real server; so it is here.
const checkRule = (rule: Partial<WebhookRule>, path: string): readonly Cause[] => {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [] } = rule;
  return [
    ...checkList(operations, `${path}.operations`),
    ...operations.flatMap((operation, index) => checkEnum(operation, `${path}.operations[${index}]`, knownOperations)),
    ...checkAlone(apiGroups, `${path}.apiGroups`, { wildcard: '*', others: 'API groups' }),
    ...checkList(apiVersions, `${path}.apiVersions`),
    ...checkAlone(apiVersions, `${path}.apiVersions`, { wildcard: '*', others: 'API versions' }),
    ...checkList(resources, `${path}.resources`),
    ...checkAlone(resources, `${path}.resources`, { wildcard: '*/*', others: 'resources' }),
  ];
};

const knownOperations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];

interface Wildcard {
  readonly wildcard: string;
  readonly others: string;
}

const checkAlone = (list: readonly string[], field: string, { wildcard, others }: Wildcard): readonly Cause[] =>
  list.length > 1 && list.includes(wildcard)
    ? [invalid(field, list, `if '${wildcard}' is present, must not specify other ${others}`)]
    : [];

const checkList = (list: readonly string[], field: string): readonly Cause[] => (list.length > 0 ? [] : [required(field, '')]);

const checkEnum = (value: string | undefined, field: string, supported: readonly string[]): readonly Cause[] =>
  value === undefined || supported.includes(value) ? [] : [notSupported(field, value, supported)];

const checkSideEffects = (value: string | undefined, field: string): readonly Cause[] => {
  const supported = ['None', 'NoneOnDryRun'];
  return value === undefined
    ? [required(field, `must specify one of ${supported.join(', ')}`)]
    : checkEnum(value, field, supported);
};

const checkTimeout = (seconds: number, field: string): readonly Cause[] =>
  seconds >= 1 && seconds <= 30 ? [] : [invalid(field, seconds, 'the timeout value must be between 1 and 30 seconds')];

const checkReviewVersions = (versions: readonly string[], field: string): readonly Cause[] => {
  if (versions.length === 0) return [required(field, 'must specify one of v1, v1beta1')];
  if (versions.some((version) => version === 'v1' || version === 'v1beta1')) return [];
  return [invalid(field, versions, 'must include at least one of v1, v1beta1')];
};

const checkClientConfig = (config: ClientConfig, path: string): readonly Cause[] => {
  const { url, service } = config;
  if ((url === undefined) === (service === undefined)) return [required(path, 'exactly one of url or service is required')];
  if (url !== undefined) return checkUrl(url, `${path}.url`);
  return [
    ...(service?.name ? [] : [required(`${path}.service.name`, 'service name is required')]),
    ...(service?.namespace ? [] : [required(`${path}.service.namespace`, 'service namespace is required')]),
  ];
};

const checkUrl = (url: string, field: string): readonly Cause[] => {
  const form = 'desired format: https://host[/path]';
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1] ?? '';
  if (scheme !== 'https') return [invalid(field, scheme, `'https' is the only allowed URL scheme; ${form}`)];
  return URL.canParse(url) ? [] : [invalid(field, '', `host must be specified; ${form}`)];
};

const invalid = (field: string, value: unknown, why: string): Cause => {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${why}`, field };
};

const required = (field: string, why: string): Cause => {
  return { reason: 'FieldValueRequired', message: why === '' ? 'Required value' : `Required value: ${why}`, field };
};

const duplicate = (field: string, value: string): Cause => {
  return { reason: 'FieldValueDuplicate', message: `Duplicate value: ${JSON.stringify(value)}`, field };
};

const notSupported = (field: string, value: string, supported: readonly string[]): Cause => {
  const list = supported.map((word) => `"${word}"`).join(', ');
  return { reason: 'FieldValueNotSupported', message: `Unsupported value: "${value}": supported values: ${list}`, field };
};
