import {
  isRecord,
  type KubernetesObject,
  type ObjectClient,
  planOwnedObject,
  readList,
  readText,
  writePlan,
} from '@vmdhcp/kube-runtime';
import {
  type RegistrationKind,
  type RegistrationSettings,
  toWebhookConfigurations,
  WEBHOOK_LABELS,
} from './webhook-registration.js';

type Client = Pick<ObjectClient<KubernetesObject>, 'get' | 'create' | 'patch' | 'delete'>;

export interface RegistrationChange {
  readonly kind: RegistrationKind;
  readonly name: string;
  /** `refused`: it is not ours, or the API server does not accept it. */
  readonly outcome: 'created' | 'updated' | 'refused';
  readonly message?: string;
}

/**
 * Creates or corrects both configurations, and returns what it changed. Another replica may do the same at the same moment: then
 * its write counts.
 */
export async function registerWebhook(
  clientOf: (kind: RegistrationKind) => Client,
  settings: RegistrationSettings,
): Promise<RegistrationChange[]> {
  const changes: RegistrationChange[] = [];
  for (const desired of toWebhookConfigurations(settings)) {
    const change = await registerOne(clientOf(desired.kind as RegistrationKind), desired, settings);
    if (change !== undefined) changes.push(change);
  }
  // Some API servers refuse owners of objects that the client may not delete: a registration without an owner is better than none.
  const isOwnerRefused = settings.owner !== undefined && changes.some(({ outcome }) => outcome === 'refused');
  return isOwnerRefused ? await registerWebhook(clientOf, { ...settings, owner: undefined }) : changes;
}

async function registerOne(
  client: Client,
  desired: KubernetesObject,
  { trusted }: RegistrationSettings,
): Promise<RegistrationChange | undefined> {
  const { name } = desired.metadata;
  const kind = desired.kind as RegistrationKind;
  const observed = await client.get(name);
  const wanted = trusted === undefined ? withInjected(desired, observed) : desired;
  const plan = planOwnedObject(wanted, observed && { ...observed, kind }, { isOwn });
  if (plan.kind === 'refuse') return { kind, name, outcome: 'refused', message: plan.message };
  const result = await writePlan(client, plan);
  if (result === undefined) return undefined;
  if (result.ok) return { kind, name, outcome: plan.kind === 'create' ? 'created' : 'updated' };
  // Another replica was first.
  if (result.reason === 'conflict' || result.reason === 'already-exists' || result.reason === 'not-found') return undefined;
  return { kind, name, outcome: 'refused', message: result.message };
}

function isOwn({ metadata: { labels = {} } }: KubernetesObject): boolean {
  return Object.entries(WEBHOOK_LABELS).every(([key, value]) => labels[key] === value);
}

/** The list of webhooks is written as a whole: keep what cert-manager has written into it. */
function withInjected(desired: KubernetesObject, observed: KubernetesObject | undefined): KubernetesObject {
  const there = new Map(
    readList(observed, 'webhooks').map((one) => [readText(one, 'name'), readText(one, 'clientConfig', 'caBundle')]),
  );
  const webhooks = readList(desired, 'webhooks').map((one) => {
    if (!isRecord(one)) return one;
    const caBundle = there.get(readText(one, 'name'));
    return caBundle === undefined ? one : { ...one, clientConfig: { ...(one['clientConfig'] as object), caBundle } };
  });
  return { ...desired, webhooks } as unknown as KubernetesObject;
}
