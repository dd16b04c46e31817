import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../api-error.js';
import type { JsonObject } from '../api-object.js';
import { createServerCertificate, type ServerCertificate } from '../http/certificates.js';
import { type KubeSimulator, startKubeSimulator } from '../kube-simulator.js';

type Answer = JsonObject | { readonly status: number; readonly text: string } | 'hang';

let certificate: ServerCertificate;
let webhook: Server;
let simulator: KubeSimulator;
/** What the webhook answers at a path; `{ allowed: true }` otherwise. */
let answers: { [path: string]: Answer };
let received: { readonly path: string; readonly review: JsonObject }[];

beforeAll(async () => {
  certificate = await createServerCertificate(['127.0.0.1', 'hook.system.svc']);
  webhook = createServer({ key: certificate.key, cert: certificate.certificate }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { request: review } = JSON.parse(Buffer.concat(chunks).toString()) as { request: JsonObject };
      const path = request.url ?? '';
      received.push({ path, review });
      const answer = answers[path.split('?')[0] ?? ''] ?? { allowed: true };
      if (answer === 'hang') return;
      if ('text' in answer) response.writeHead(answer['status'] as number).end(answer['text']);
      else
        response.end(
          JSON.stringify({
            apiVersion: 'admission.k8s.io/v1',
            kind: 'AdmissionReview',
            response: { uid: review['uid'], ...answer },
          }),
        );
    });
  });
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  webhook.closeAllConnections();
  webhook.close();
});

beforeEach(async () => {
  answers = {};
  received = [];
  simulator = await startKubeSimulator({ tls: false });
});

afterEach(() => simulator.stop());

const port = () => (webhook.address() as AddressInfo).port;

const configure = (kind: 'Mutating' | 'Validating', path: string, over: object = {}) =>
  simulator.client.create(
    { group: 'admissionregistration.k8s.io', resource: `${kind.toLowerCase()}webhookconfigurations` },
    {
      metadata: { name: path },
      webhooks: [
        {
          name: `${path}.rec.example.com`,
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          timeoutSeconds: 1,
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
          clientConfig: {
            url: `https://127.0.0.1:${port()}/${path}`,
            caBundle: Buffer.from(certificate.authority).toString('base64'),
          },
          ...over,
        },
      ],
    },
  );

const path = { resource: 'configmaps', namespace: 'default' };
const create = (name: string, data: JsonObject = { seed: '1' }) => simulator.client.create(path, { metadata: { name }, data });
const patch = (...operations: JsonObject[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

const failureOf = async (request: Promise<unknown>) => {
  const error = await request.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof ApiError ? error.failure : expect.fail('not refused');
};

describe('webhooks', () => {
  it('see a create, an update and a delete; mutating ones first', async () => {
    await configure('Mutating', 'm');
    await configure('Validating', 'v');
    await create('a');
    await simulator.client.patch({ ...path, name: 'a' }, { type: 'merge', body: { data: { x: '1' } } });
    await simulator.client.delete({ ...path, name: 'a' });
    expect(received.map(({ path: asked, review }) => `${asked} ${review['operation'] as string}`)).toEqual([
      '/m?timeout=1s CREATE',
      '/v?timeout=1s CREATE',
      '/m?timeout=1s UPDATE',
      '/v?timeout=1s UPDATE',
      '/m?timeout=1s DELETE',
      '/v?timeout=1s DELETE',
    ]);
    const [mutating, validating, , updating, , deleting] = received.map(({ review }) => review);
    expect(mutating?.['object']).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', namespace: 'default' },
      data: { seed: '1' },
    });
    expect(validating).toMatchObject({
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'a',
      namespace: 'default',
      object: { metadata: { uid: expect.any(String) } },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions' },
    });
    expect(updating).toMatchObject({ object: { data: { x: '1' } }, oldObject: {}, options: { kind: 'UpdateOptions' } });
    expect(deleting).toMatchObject({ object: null, oldObject: { data: { x: '1' } }, options: { kind: 'DeleteOptions' } });
  });

  it('are not asked about other namespaces and other kinds', async () => {
    await configure('Validating', 'v');
    answers['/v'] = { allowed: false };
    await simulator.client.create({ ...path, namespace: 'kube-system' }, { metadata: { name: 'a' } });
    await simulator.client.create({ resource: 'secrets', namespace: 'default' }, { metadata: { name: 'a' } });
    expect(received).toEqual([]);
  });

  it('deny', async () => {
    await configure('Validating', 'v');
    answers['/v'] = { allowed: false, status: { message: 'because X', code: 403 } };
    expect(await failureOf(create('a'))).toEqual({
      code: 403,
      message: 'admission webhook "v.rec.example.com" denied the request: because X',
    });
    expect(simulator.client.get({ ...path, name: 'a' })).toBeUndefined();
  });

  it('change what is stored, one after the other', async () => {
    await configure('Mutating', 'm1');
    await configure('Mutating', 'm2');
    await configure('Validating', 'v');
    answers['/m1'] = patch({ op: 'add', path: '/data/first', value: 'm1' });
    answers['/m2'] = patch({ op: 'copy', from: '/data/first', path: '/data/second' });
    const { metadata, ...content } = await create('a');
    expect(content).toMatchObject({ data: { first: 'm1', second: 'm1' } });
    expect(metadata.uid).toBeDefined();
    expect(received.at(-1)?.review).toMatchObject({ object: { data: { first: 'm1', second: 'm1' } } });
  });

  it('are asked again about what a later one changed, if they want to', async () => {
    await configure('Mutating', 'm1', { reinvocationPolicy: 'IfNeeded' });
    await configure('Mutating', 'm2');
    answers['/m2'] = patch({ op: 'add', path: '/data/late', value: 'yes' });
    await create('a');
    expect(received.map((each) => each.path.slice(0, 3))).toEqual(['/m1', '/m2', '/m1']);
  });
});

describe('match conditions', () => {
  const conditions = (...expressions: readonly string[]) => ({
    matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
  });

  it('that are false keep a webhook from being called, whatever it would answer', async () => {
    await configure('Validating', 'v', conditions('request.operation == "CREATE"', 'object.data.seed == "2"'));
    answers['/v'] = { allowed: false };
    await create('a');
    expect(received).toEqual([]);
    await failureOf(create('b', { seed: '2' }));
    expect(received).toHaveLength(1);
  });

  it('see what an earlier webhook changed', async () => {
    await configure('Mutating', 'm1');
    await configure('Mutating', 'm2', conditions('object.data.seed == "3"'));
    answers['/m1'] = patch({ op: 'replace', path: '/data/seed', value: '3' });
    await create('a');
    expect(received.map((each) => each.path.slice(0, 3))).toEqual(['/m1', '/m2']);
  });

  it('without a value refuse the write, or skip the webhook with failurePolicy Ignore', async () => {
    await configure('Validating', 'v', conditions('object.data.nope == "2"'));
    const { code, reason, message } = await failureOf(create('a'));
    expect({ code, reason, message }).toEqual({
      code: 403,
      reason: 'Forbidden',
      message: `configmaps "a" is forbidden: expression 'object.data.nope == "2"' resulted in error: no such key: nope`,
    });
    const configurations = { group: 'admissionregistration.k8s.io', resource: 'validatingwebhookconfigurations' };
    const body = [{ op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Ignore' }];
    await simulator.client.patch({ ...configurations, name: 'v' }, { type: 'json', body });
    await create('a');
    expect(received).toEqual([]);
  });
});

describe('a webhook that fails', () => {
  const refused = (why: string) => `Internal error occurred: failed calling webhook "v.rec.example.com": ${why}`;

  it.each<[string, Answer, string]>([
    [
      'with 500',
      { status: 500, text: 'boom' },
      'failed to call webhook: an error on the server ("boom") has prevented the request from succeeding',
    ],
    [
      'without JSON',
      { status: 200, text: '<html>' },
      "failed to call webhook: couldn't get version/kind; json parse error: invalid character '<' looking for beginning of value",
    ],
    [
      'for another review',
      { uid: 'wrong', allowed: true },
      expect.stringMatching(/^received invalid webhook response: expected response.uid="[-0-9a-f]+", got "wrong"$/),
    ],
  ])('%s', async (_name, answer, why) => {
    await configure('Validating', 'v');
    answers['/v'] = answer;
    const { code, reason, message } = await failureOf(create('a'));
    expect({ code, reason }).toEqual({ code: 500, reason: 'InternalError' });
    expect(message.replace(refused(''), '')).toEqual(why);
  });

  it('to answer in time', async () => {
    await configure('Validating', 'v');
    answers['/v'] = 'hang';
    const { message } = await failureOf(create('a'));
    expect(message).toBe(
      refused(`failed to call webhook: Post "https://127.0.0.1:${port()}/v?timeout=1s": context deadline exceeded`),
    );
  });

  it('to be there', async () => {
    await configure('Validating', 'v', { clientConfig: { url: 'https://127.0.0.1:1/v' } });
    const { message } = await failureOf(create('a'));
    expect(message).toBe(
      refused(
        'failed to call webhook: Post "https://127.0.0.1:1/v?timeout=1s": dial tcp 127.0.0.1:1: connect: connection refused',
      ),
    );
  });

  it('to show a certificate that is trusted', async () => {
    const other = await createServerCertificate(['127.0.0.1']);
    const caBundle = Buffer.from(other.authority).toString('base64');
    await configure('Validating', 'v', { clientConfig: { url: `https://127.0.0.1:${port()}/v`, caBundle } });
    const { message } = await failureOf(create('a'));
    expect(message).toContain('tls: failed to verify certificate: x509: certificate signed by unknown authority');
  });

  it('is passed over with failurePolicy Ignore', async () => {
    await configure('Validating', 'v', { failurePolicy: 'Ignore' });
    answers['/v'] = { status: 500, text: 'boom' };
    await create('a');
    expect(received).toHaveLength(1);
  });

  it('in its patch is not, whatever its policy', async () => {
    await configure('Mutating', 'm', { failurePolicy: 'Ignore' });
    answers['/m'] = patch({ op: 'remove', path: '/data/nope' });
    const { code, message } = await failureOf(create('a'));
    expect(code).toBe(500);
    expect(message).toBe(
      "Internal error occurred: error in remove for path: '/data/nope': Unable to remove nonexistent key: nope: missing value",
    );
  });
});

describe('a Service that a webhook names', () => {
  const clientConfig = () => ({
    service: { namespace: 'system', name: 'hook', path: '/v' },
    caBundle: Buffer.from(certificate.authority).toString('base64'),
  });
  const failed =
    'failed calling webhook "v.rec.example.com": failed to call webhook: Post "https://hook.system.svc:443/v?timeout=1s"';

  it('is called where it is really served', async () => {
    await configure('Validating', 'v', { clientConfig: clientConfig() });
    expect((await failureOf(create('a'))).message).toBe(`Internal error occurred: ${failed}: service "hook" not found`);
    simulator.serveService('system', 'hook', { host: '127.0.0.1', port: port() });
    await create('a');
    expect(received.map((each) => each.path)).toEqual(['/v?timeout=1s']);
  });
});
