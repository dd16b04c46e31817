import { describe, expect, it } from 'vitest';
import type { Webhook } from '../resources/core/webhook-configuration.js';
import { type MatchAttributes, matchWebhook } from './match-webhook.js';

const target = { group: 'network.example.com', version: 'v1alpha1', resource: 'ippools' };
const rule = { operations: ['CREATE'], apiGroups: [target.group], apiVersions: ['v1alpha1'], resources: ['ippools'] };
const write: MatchAttributes = {
  operation: 'CREATE',
  target,
  otherTargets: [],
  subresource: '',
  namespaced: true,
  namespaceLabels: { team: 'a' },
  objectLabels: [{ app: 'x' }],
};
const webhook = (over: object, ruleOver: object = {}): Webhook => ({
  name: 'v.rec.example.com',
  clientConfig: {},
  rules: [{ ...rule, ...ruleOver }],
  ...over,
});

describe('a webhook is called', () => {
  it.each<[string, Webhook, Partial<MatchAttributes>, boolean]>([
    ['for what its rule names', webhook({}), {}, true],
    ['not for another operation', webhook({}), { operation: 'UPDATE' }, false],
    ['for any operation', webhook({}, { operations: ['*'] }), { operation: 'DELETE' }, true],
    ['not for a subresource that it does not name', webhook({}), { subresource: 'status' }, false],
    ['for a subresource', webhook({}, { resources: ['ippools/status'] }), { subresource: 'status' }, true],
    ['not for the resource, naming the subresource', webhook({}, { resources: ['ippools/status'] }), {}, false],
    ['for all subresources', webhook({}, { resources: ['ippools/*'] }), { subresource: 'status' }, true],
    ['for every resource, but no subresource', webhook({}, { resources: ['*'] }), { subresource: 'status' }, false],
    ['for everything', webhook({}, { resources: ['*/*'] }), { subresource: 'status' }, true],
    ['not outside its scope', webhook({}, { scope: 'Cluster' }), {}, false],
    ['in a namespace that it selects', webhook({ namespaceSelector: { matchLabels: { team: 'a' } } }), {}, true],
    ['not in another', webhook({ namespaceSelector: { matchLabels: { team: 'b' } } }), {}, false],
    [
      'at the cluster scope, whatever namespaces it selects',
      webhook({ namespaceSelector: { matchLabels: { team: 'b' } } }),
      { namespaceLabels: undefined },
      true,
    ],
    ['for an object that it selects', webhook({ objectSelector: { matchLabels: { app: 'x' } } }), {}, true],
    ['not for another', webhook({ objectSelector: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] } }), {}, false],
    [
      'when the object was one that it selects',
      webhook({ objectSelector: { matchLabels: { app: 'x' } } }),
      { objectLabels: [{}, { app: 'x' }] },
      true,
    ],
  ])('%s', (_name, candidate, over, called) => {
    expect(matchWebhook(candidate, { ...write, ...over })).toEqual(called ? target : undefined);
  });

  it('under the version that its rule names, unless it insists on the exact one', () => {
    const other = { ...target, version: 'v1' };
    const inV1 = { ...write, target: other, otherTargets: [target] };
    expect(matchWebhook(webhook({ matchPolicy: 'Equivalent' }), inV1)).toEqual(target);
    expect(matchWebhook(webhook({ matchPolicy: 'Exact' }), inV1)).toBeUndefined();
  });
});
