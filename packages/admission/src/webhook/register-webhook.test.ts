import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { registerWebhook } from './register-webhook.js';
import type { RegistrationKind, RegistrationSettings } from './webhook-registration.js';

const NONE = { wakeOnLan: false, bareMetal: false };
const SETTINGS: RegistrationSettings = { name: 'hook', namespace: 'system', trusted: 'PEM', injectFrom: undefined, ...NONE };

function setUp() {
  const clock = new FakeClock();
  const servers = {
    MutatingWebhookConfiguration: new MemoryResource<KubernetesObject>(clock),
    ValidatingWebhookConfiguration: new MemoryResource<KubernetesObject>(clock),
  };
  const register = async (more: Partial<RegistrationSettings> = {}) => {
    const changes = registerWebhook((kind: RegistrationKind) => servers[kind], { ...SETTINGS, ...more });
    await clock.advance(100);
    return (await changes).map(({ kind, outcome }) => `${kind} ${outcome}`);
  };
  const webhooksOf = (kind: RegistrationKind) =>
    (servers[kind].objects.get('hook') as unknown as { webhooks: Webhook[] }).webhooks;
  return { clock, servers, register, webhooksOf };
}

interface Webhook {
  readonly name: string;
  readonly failurePolicy: string;
  readonly timeoutSeconds: number;
  readonly sideEffects: string;
  readonly clientConfig: Readonly<Record<string, unknown>>;
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly scope: string;
  }[];
}

describe('registerWebhook', () => {
  it('creates both configurations, and then writes nothing', async () => {
    const { register, webhooksOf } = setUp();
    expect(await register()).toEqual(['MutatingWebhookConfiguration created', 'ValidatingWebhookConfiguration created']);
    expect(await register()).toEqual([]);
    const all = [...webhooksOf('MutatingWebhookConfiguration'), ...webhooksOf('ValidatingWebhookConfiguration')];
    expect(all.map(({ failurePolicy, rules: [rule] }) => `${rule?.resources.join()} ${failurePolicy}`)).toEqual([
      'ippools Fail',
      'ippools Fail',
      'virtualmachinenetworkconfigs Ignore',
      'virtualmachines Ignore',
    ]);
    expect(all.every(({ timeoutSeconds, sideEffects }) => timeoutSeconds === 5 && sideEffects === 'None')).toBe(true);
    expect(all.every(({ rules }) => rules.every(({ apiGroups, resources }) => ![...apiGroups, ...resources].includes('*')))).toBe(
      true,
    );
  });

  it.each([
    [{ wakeOnLan: true, bareMetal: false }, ['wolconfigs']],
    [{ wakeOnLan: false, bareMetal: true }, ['clusteragents', 'hostendpoints', 'hostoperations']],
  ])('with %o sends their kinds, which are cluster-scoped, and lets them pass without a response', async (features, kinds) => {
    const { register, webhooksOf } = setUp();
    await register(features);
    const asked = webhooksOf('ValidatingWebhookConfiguration').flatMap(({ failurePolicy, rules }) =>
      rules.map(({ resources, scope }) => `${resources.join()} ${scope} ${failurePolicy}`),
    );
    expect(asked.slice(3)).toEqual(kinds.map((plural) => `${plural} Cluster Ignore`));
    expect(await register(NONE)).toEqual(['ValidatingWebhookConfiguration updated']);
    expect(webhooksOf('ValidatingWebhookConfiguration')).toHaveLength(3);
  });

  it('repairs edits, and keeps the trusted certificates up to date', async () => {
    const { servers, register, webhooksOf } = setUp();
    await register();
    const there = servers.ValidatingWebhookConfiguration.objects.get('hook') as KubernetesObject;
    servers.ValidatingWebhookConfiguration.put({ ...there, webhooks: [] } as KubernetesObject);
    expect(await register()).toEqual(['ValidatingWebhookConfiguration updated']);
    expect(await register({ trusted: 'OLD AND NEW' })).toHaveLength(2);
    const bundles = webhooksOf('ValidatingWebhookConfiguration').map(({ clientConfig }) => clientConfig['caBundle']);
    expect(new Set(bundles)).toEqual(new Set([Buffer.from('OLD AND NEW').toString('base64')]));
  });

  it('keeps what cert-manager writes', async () => {
    const { servers, register, webhooksOf } = setUp();
    const given = { trusted: undefined, injectFrom: 'system/cert' };
    await register(given);
    const there = servers.MutatingWebhookConfiguration.objects.get('hook') as KubernetesObject;
    expect(there.metadata.annotations).toEqual({ 'cert-manager.io/inject-ca-from': 'system/cert' });
    const [webhook] = webhooksOf('MutatingWebhookConfiguration');
    const injected = { ...webhook, clientConfig: { ...webhook?.clientConfig, caBundle: 'eA==' } };
    servers.MutatingWebhookConfiguration.put({ ...there, webhooks: [injected] } as unknown as KubernetesObject);
    expect(await register(given)).toEqual([]);
  });

  const owner = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'hook', uid: '1' };

  it('both have no owner if the API server refuses one', async () => {
    const { clock, servers } = setUp();
    const clientOf = (kind: RegistrationKind) => {
      const server = servers[kind];
      const create: typeof server.create = async (object) =>
        object.metadata.ownerReferences === undefined
          ? await server.create(object)
          : { ok: false, reason: 'forbidden', message: 'may not delete it' };
      return { create, get: server.get.bind(server), patch: server.patch.bind(server), delete: server.delete.bind(server) };
    };
    const registered = registerWebhook(clientOf, { ...SETTINGS, owner });
    await clock.advance(100);
    const changes = await registered;
    expect(changes.map(({ outcome }) => outcome)).toEqual(['created', 'created']);
  });

  it('both are deleted with their owner', async () => {
    const { servers, register } = setUp();
    await register();
    expect(await register({ owner })).toHaveLength(2);
    expect(await register({ owner })).toEqual([]);
    expect(await register()).toEqual([]);
    for (const { objects } of Object.values(servers)) expect(objects.get('hook')?.metadata.ownerReferences).toEqual([owner]);
  });

  it('a configuration of another owner is left alone', async () => {
    const { servers, register } = setUp();
    const theirs = { metadata: { name: 'hook' }, webhooks: [] } as unknown as KubernetesObject;
    servers.MutatingWebhookConfiguration.put(theirs);
    expect(await register()).toEqual(['MutatingWebhookConfiguration refused', 'ValidatingWebhookConfiguration created']);
    expect(servers.MutatingWebhookConfiguration.objects.get('hook')).toMatchObject({ webhooks: [] });
  });
});
