import { expect, it } from 'vitest';
import { checkWebhooks } from './check-webhook-configuration.js';
import { completeWebhooks, type Webhook } from './webhook-configuration.js';

const rules = [{ apiGroups: ['g'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] }];
const sent = {
  name: 'v.rec.example.com',
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  rules,
  clientConfig: { url: 'https://x/v' },
};

it('gets its defaults, in the order of the real server', () => {
  expect(JSON.stringify(completeWebhooks('ValidatingWebhookConfiguration', [sent])[0])).toBe(
    '{"name":"v.rec.example.com","clientConfig":{"url":"https://x/v"},"rules":[{"operations":["CREATE"],"apiGroups":["g"],"apiVersions":["v1"],"resources":["things"],"scope":"*"}],' +
      '"failurePolicy":"Fail","matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},"sideEffects":"None","timeoutSeconds":10,"admissionReviewVersions":["v1"]}',
  );
  expect(completeWebhooks('MutatingWebhookConfiguration', [sent])[0]).toMatchObject({ reinvocationPolicy: 'Never' });
});

it('names everything that is wrong', () => {
  const wrong = {
    name: 'nodots',
    clientConfig: { url: 'http://x' },
    rules: [{ operations: ['CREATE'], apiGroups: [], apiVersions: ['v1'], resources: ['pods', '*/*'] }],
    timeoutSeconds: 99,
  };
  const causes = checkWebhooks(completeWebhooks('ValidatingWebhookConfiguration', [wrong as Webhook]));
  expect(causes.map(({ field, message }) => `${field}: ${message}`)).toEqual([
    'webhooks[0].name: Invalid value: "nodots": should be a domain with at least three segments separated by dots',
    'webhooks[0].rules[0].resources: Invalid value: ["pods","*/*"]: if \'*/*\' is present, must not specify other resources',
    'webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun',
    'webhooks[0].timeoutSeconds: Invalid value: 99: the timeout value must be between 1 and 30 seconds',
    'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
    'webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1',
  ]);
});

it.each([
  ['object.spec != oldObject.spec && request.userInfo.groups.exists(group, group == "a")', []],
  ['request.options.whatever', []],
  [' ', ['webhooks[0].matchConditions[0].expression: Required value']],
  [
    'self.x',
    [
      "webhooks[0].matchConditions[0].expression: Invalid value: \"self.x\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'self' (in container '')\n | self.x\n | ^",
    ],
  ],
  ['request.verb == "x"', [expect.stringContaining("undefined field 'verb'")]],
  ['object.spec ==', [expect.stringContaining('Syntax error')]],
])('its match condition %s', (expression, expected) => {
  const matchConditions = [{ name: 'one', expression }];
  const causes = checkWebhooks(completeWebhooks('ValidatingWebhookConfiguration', [{ ...sent, matchConditions }]));
  expect(causes.map(({ field, message }) => `${field}: ${message}`)).toEqual(expected);
});

it('its match conditions have names of their own, and are not too many', () => {
  const one = { name: 'one', expression: 'true' };
  const fieldsOf = (matchConditions: { readonly name: string; readonly expression: string }[]) =>
    checkWebhooks(completeWebhooks('ValidatingWebhookConfiguration', [{ ...sent, matchConditions }])).map(
      ({ field, reason }) => `${field} ${reason}`,
    );
  expect(fieldsOf([one, one, { ...one, name: '' }])).toEqual([
    'webhooks[0].matchConditions[1].name FieldValueDuplicate',
    'webhooks[0].matchConditions[2].name FieldValueRequired',
  ]);
  expect(fieldsOf(Array.from({ length: 65 }, (_, index) => ({ ...one, name: `n${index}` })))).toEqual([
    'webhooks[0].matchConditions FieldValueTooMany',
  ]);
});
