import { type Labels, selectorMatches } from '../label-selector.js';
import type { Webhook, WebhookRule } from '../resources/core/webhook-configuration.js';

/** One way to name the written object: an object with several served versions has several names. */
export interface RuleTarget {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** What selects webhooks for a write. */
export interface MatchAttributes {
  readonly operation: string;
  /** As the request has it. */
  readonly target: RuleTarget;
  /** The same resource under its other versions. */
  readonly otherTargets: readonly RuleTarget[];
  readonly subresource: string;
  readonly namespaced: boolean;
  /** Labels of the namespace (of the object itself if it is a Namespace); undefined at the cluster scope. */
  readonly namespaceLabels: Labels | undefined;
  /** Labels of the object and of the old object. */
  readonly objectLabels: readonly Labels[];
}

/** The name under which the webhook wants to see the write; undefined if it is not called. */
export const matchWebhook = (webhook: Webhook, write: MatchAttributes): RuleTarget | undefined => {
  const { namespaceLabels, objectLabels } = write;
  if (namespaceLabels !== undefined && !selectorMatches(webhook.namespaceSelector, namespaceLabels)) return undefined;
  if (!objectLabels.some((labels) => selectorMatches(webhook.objectSelector, labels))) return undefined;
  const targets = webhook.matchPolicy === 'Exact' ? [write.target] : [write.target, ...write.otherTargets];
  return targets.find((target) => (webhook.rules ?? []).some((rule) => ruleMatches(rule, target, write)));
};

const ruleMatches = (rule: WebhookRule, target: RuleTarget, write: MatchAttributes): boolean =>
  has(rule.operations, write.operation) &&
  has(rule.apiGroups, target.group) &&
  has(rule.apiVersions, target.version) &&
  scopeMatches(rule, write.namespaced) &&
  rule.resources.some((pattern) => resourceMatches(pattern, target.resource, write.subresource));

const scopeMatches = ({ scope = '*' }: WebhookRule, namespaced: boolean): boolean =>
  scope === '*' || (scope === 'Namespaced') === namespaced;

const resourceMatches = (pattern: string, resource: string, subresource: string): boolean => {
  const [wantedResource, wantedSubresource = ''] = pattern.split('/');
  const resourceFits = wantedResource === '*' || wantedResource === resource;
  return resourceFits && (wantedSubresource === '*' || wantedSubresource === subresource);
};

const has = (list: readonly string[], wanted: string): boolean => list.includes('*') || list.includes(wanted);
