import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../api-object.js';
import type { Webhook } from '../resources/core/webhook-configuration.js';
import { matchConditions } from './match-conditions.js';

const update = {
  uid: 'u',
  kind: { group: 'kubevirt.io', version: 'v1', kind: 'VirtualMachine' },
  operation: 'UPDATE',
  namespace: 'default',
  userInfo: { username: 'me', groups: ['a', 'b'] },
  object: { metadata: { name: 'vm', labels: { team: 'a' } }, spec: { running: true, cpus: 2, networks: [{ multus: {} }] } },
  oldObject: { metadata: { name: 'vm' }, spec: { networks: [{ multus: {} }], cpus: 2, running: true } },
} satisfies JsonObject;
const { oldObject: _oldObject, ...created } = update;
const creation = { ...created, operation: 'CREATE', oldObject: null } satisfies JsonObject;

const outcomeOf = (expressions: readonly string[], review: JsonObject, failurePolicy: 'Fail' | 'Ignore' = 'Fail') => {
  const conditions = expressions.map((expression, index) => ({ name: `c${index}`, expression }));
  const webhook: Webhook = { name: 'v.rec.example.com', clientConfig: {}, failurePolicy, matchConditions: conditions };
  return matchConditions(webhook, () => review);
};

describe('matchConditions', () => {
  it.each<[string, JsonObject, boolean]>([
    ['object.spec != oldObject.spec', update, false],
    ['object.metadata != oldObject.metadata', update, true],
    ['request.operation == "UPDATE" && oldObject.spec.cpus == 2', update, true],
    ['request.operation != "UPDATE" || object.spec != oldObject.spec', creation, true],
    ['oldObject == null', creation, true],
    ['oldObject == null', update, false],
    ['has(object.spec.template) && object.spec.template.x', update, false],
    ['object.spec.networks.exists(network, has(network.multus))', update, true],
    ['(has(oldObject.metadata.labels) ? oldObject.metadata.labels : {}) == {}', update, true],
    ['(has(object.metadata.labels) ? object.metadata.labels : {}) == {"team": "a"}', update, true],
    ['request.userInfo.username == "me" && "b" in request.userInfo.groups', update, true],
    ['request.namespace == "default" && request.kind.kind == "VirtualMachine"', update, true],
    ['!has(request.object) && !has(request.uid)', update, true],
  ])('%s', (expression, review, holds) => {
    expect(outcomeOf([expression], review)).toEqual({ kind: holds ? 'hold' : 'fail' });
  });

  it('all of them must be true; without any the webhook is called', () => {
    expect(outcomeOf(['true', 'true'], update)).toEqual({ kind: 'hold' });
    expect(outcomeOf(['true', 'false'], update)).toEqual({ kind: 'fail' });
    expect(outcomeOf([], update)).toEqual({ kind: 'hold' });
  });

  it('one without a value: the failurePolicy decides, unless another one is false', () => {
    const problem = "expression 'object.spec.nope' resulted in error: no such key: nope";
    expect(outcomeOf(['object.spec.nope'], update)).toEqual({ kind: 'broken', problem });
    expect(outcomeOf(['object.spec.nope'], update, 'Ignore')).toEqual({ kind: 'fail' });
    expect(outcomeOf(['object.spec.nope', 'false'], update)).toEqual({ kind: 'fail' });
    expect(outcomeOf(['object.spec.nope', 'object.spec.cpus'], update)).toEqual({
      kind: 'broken',
      problem: `[${problem}, expression 'object.spec.cpus' resulted in error: must evaluate to bool]`,
    });
  });
});
