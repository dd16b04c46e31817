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
