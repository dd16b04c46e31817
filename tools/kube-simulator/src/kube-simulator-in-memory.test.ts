/** Requests without a connection get what others get over HTTP. */
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { type KubeSimulator, startKubeSimulator } from './kube-simulator.js';

let simulator: KubeSimulator;

beforeEach(async () => {
  simulator = await startKubeSimulator({ port: 'none', tls: false, tokens: { nobody: { username: 'nobody', groups: [] } } });
});

afterEach(async () => {
  await simulator.stop();
});

interface Exchanged {
  readonly status: number;
  readonly body: string;
  readonly isComplete: boolean;
}

function exchange(method: string, path: string, { body, token = simulator.adminToken }: { body?: object; token?: string } = {}) {
  return new Promise<Exchanged>((resolve) => {
    let status = 0;
    let text = '';
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const request = { method, path, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    simulator.exchange(request, {
      onHead: (sent) => {
        status = sent;
      },
      onData: (part) => {
        text += part.toString();
      },
      onEnd: (isComplete) => resolve({ status, body: text, isComplete }),
    });
  });
}

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

it('an object is created, read and refused', async () => {
  const created = await exchange('POST', CONFIG_MAPS, { body: { metadata: { name: 'a' }, data: { b: 'c' } } });
  expect([created.status, created.isComplete]).toEqual([201, true]);
  expect(JSON.parse((await exchange('GET', `${CONFIG_MAPS}/a`)).body)).toMatchObject({ kind: 'ConfigMap', data: { b: 'c' } });
  expect((await exchange('GET', `${CONFIG_MAPS}/b`)).status).toBe(404);
  expect((await exchange('GET', `${CONFIG_MAPS}/a`, { token: 'nobody' })).status).toBe(403);
});

it('a watch tells of changes until its client leaves, and of its end', async () => {
  const lines: string[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<boolean>();
  const watch = () =>
    simulator.exchange(
      { method: 'GET', path: `${CONFIG_MAPS}?watch=true`, headers: { authorization: `Bearer ${simulator.adminToken}` } },
      { onHead: () => undefined, onData: (part) => lines.push(part.toString()), onEnd: end },
    );
  const leave = watch();
  const names = () => lines.map((line) => (JSON.parse(line) as { object: { metadata: { name: string } } }).object.metadata.name);
  await exchange('POST', CONFIG_MAPS, { body: { metadata: { name: 'a' } } });
  expect(names()).toEqual(['a']);
  leave();
  await exchange('POST', CONFIG_MAPS, { body: { metadata: { name: 'b' } } });
  expect(names()).toEqual(['a']);
  watch();
  await exchange('GET', CONFIG_MAPS);
  expect(simulator.disturbWatches('break')).toBe(1);
  expect(await ended).toBe(false);
});

it('a restart breaks watches and keeps all objects', async () => {
  await exchange('POST', CONFIG_MAPS, { body: { metadata: { name: 'a' } } });
  const { promise: ended, resolve: end } = Promise.withResolvers<boolean>();
  simulator.exchange(
    { method: 'GET', path: `${CONFIG_MAPS}?watch=true`, headers: { authorization: `Bearer ${simulator.adminToken}` } },
    { onHead: () => undefined, onData: () => undefined, onEnd: end },
  );
  await exchange('GET', CONFIG_MAPS);
  await simulator.restart();
  expect(await ended).toBe(false);
  expect((await exchange('GET', `${CONFIG_MAPS}/a`)).status).toBe(200);
});

it('a request whose connection is closed has no answer', async () => {
  simulator.faults.inject({ requests: { resource: 'configmaps' }, effect: { kind: 'close', when: 'after' } });
  const { status, isComplete } = await exchange('POST', CONFIG_MAPS, { body: { metadata: { name: 'a' } } });
  expect([status, isComplete]).toEqual([0, false]);
  expect((await exchange('GET', `${CONFIG_MAPS}/a`)).status).toBe(200);
});

it('webhooks are asked in this process, and their refusals reach clients', async () => {
  const asked: string[] = [];
  const own = await startKubeSimulator({
    port: 'none',
    tls: false,
    services: { 'default/rules': { host: 'rules', port: 443 } },
    callWebhook: async ({ path }, review) => {
      const { uid } = review['request'] as { readonly uid: string };
      asked.push(path);
      const response = { uid, allowed: false, status: { message: 'not today' } };
      return { kind: 'answered', body: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response } };
    },
  });
  onTestFinished(() => own.stop());
  const clientConfig = { service: { namespace: 'default', name: 'rules', path: '/rules' } };
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];
  const webhook = { name: 'a.example.org', clientConfig, rules, sideEffects: 'None', admissionReviewVersions: ['v1'] };
  const configuration = { metadata: { name: 'a' }, webhooks: [webhook] };
  await own.client.create({ group: 'admissionregistration.k8s.io', resource: 'validatingwebhookconfigurations' }, configuration);
  const created = own.client.create({ resource: 'configmaps', namespace: 'default' }, { metadata: { name: 'a' } });
  await expect(created).rejects.toThrow('admission webhook "a.example.org" denied the request: not today');
  expect(asked).toEqual(['/rules?timeout=10s']);
});
