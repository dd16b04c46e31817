import type { JsonObject } from '../api-object.js';
import type { HiddenStep } from './hidden-step.js';
import { RecordedWebhook, type WebhookBehaviour } from './recorded-webhook.js';
import type { ReplayedScenario } from './replayed-scenario.js';

/** The behaviour of the webhooks of the transcript about admission, by the step before which it begins. */
export function webhookSteps(): Record<number, HiddenStep> {
  const steps: Record<number, HiddenStep> = { 0: startWebhook };
  // Denials: their notes say what the validating webhook answered.
  for (let step = 14; step <= 24; step += 1)
    steps[step] = (scenario) => behave(scenario, { validator: answerInNote(scenario, step) });
  for (const [step, behaviour] of Object.entries(BEHAVIOURS)) steps[Number(step)] = (scenario) => behave(scenario, behaviour);
  steps[39] = (scenario) => scenario.webhook?.stop();
  steps[48] = bindPolicy;
  return steps;
}

interface Behaviours {
  readonly mutator?: WebhookBehaviour;
  readonly validator?: WebhookBehaviour;
}

const allowed = (response: JsonObject): WebhookBehaviour => ({ kind: 'response', response: { allowed: true, ...response } });

const patched = (operations: readonly JsonObject[], patchType: JsonObject = { patchType: 'JSONPatch' }): WebhookBehaviour =>
  allowed({ ...patchType, patch: Buffer.from(JSON.stringify(operations)).toString('base64') });

const text = (status: number, contentType: string, body: string): WebhookBehaviour => ({
  kind: 'text',
  status,
  contentType,
  body,
});

const BEHAVIOURS: Readonly<Record<number, Behaviours>> = {
  25: { validator: allowed({ warnings: ['pool is small', 'x'.repeat(300)] }) },
  26: {
    mutator: patched([
      { op: 'add', path: '/metadata/labels', value: { mutated: 'yes' } },
      { op: 'replace', path: '/spec/ipv4Config/serverIP', value: '192.168.48.9' },
    ]),
  },
  27: { mutator: patched([{ op: 'add', path: '/spec/nope', value: 1 }]) },
  28: { mutator: patched([{ op: 'add', path: '/spec/paused', value: 'yes' }]) },
  29: { mutator: patched([{ op: 'remove', path: '/spec/nope' }]) },
  30: { mutator: patched([{ op: 'add', path: '/metadata/labels', value: { mutated: 'yes' } }], {}) },
  31: { mutator: { kind: 'response', response: { allowed: false, status: { message: 'mutator says no' } } } },
  32: {},
  34: { validator: text(500, 'text/plain', 'boom') },
  35: { validator: text(200, 'text/html', '"<html>"') },
  36: { validator: allowed({ uid: 'wrong' }) },
  37: { mutator: { kind: 'hang' }, validator: { kind: 'hang' } },
};

async function startWebhook(scenario: ReplayedScenario): Promise<void> {
  const webhook = await RecordedWebhook.start();
  scenario.webhook = webhook;
  scenario.bindings.bind('<host:port>', webhook.hostPort);
  scenario.bindings.bind('<caBundle>', webhook.caBundle);
}

function behave({ webhook }: ReplayedScenario, { mutator, validator }: Behaviours): void {
  if (webhook === undefined) return;
  webhook.allowEverything();
  if (mutator !== undefined) webhook.mutator = mutator;
  if (validator !== undefined) webhook.validator = validator;
}

const NOTE = 'webhook answered ';

function answerInNote({ transcript }: ReplayedScenario, step: number): WebhookBehaviour {
  const note = transcript.steps[step]?.note ?? '';
  if (!note.startsWith(NOTE)) throw new Error(`step ${step} has no note about the webhook's answer`);
  return { kind: 'response', response: JSON.parse(note.slice(NOTE.length)) as JsonObject };
}

/** Without a binding a policy has no effect. */
async function bindPolicy(scenario: ReplayedScenario): Promise<void> {
  const body = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'rec' },
    spec: { policyName: 'rec', validationActions: ['Deny'] },
  };
  await scenario.attempt('POST', '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', { body });
}
