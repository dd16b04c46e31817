import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../api-object.js';
import { metadataOf, type Reply, TestCluster } from './test-cluster.js';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start();
});
afterAll(() => cluster.stop());

const widget = (name: string): string => `${cluster.widgets}/${name}`;
const object = (metadata: JsonObject, spec: JsonObject): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata,
  spec,
});

async function created(name: string, metadata: JsonObject = {}): Promise<Reply> {
  const reply = await cluster.createWidget(name, { metadata, spec: { size: 1 } });
  expect(reply.status).toBe(201);
  return reply;
}

describe('a create', () => {
  it('fills in what the server knows, and defaults', async () => {
    const { body } = await created('full', { uid: 'mine', generation: 7, creationTimestamp: '2026-01-01T00:00:00Z' });
    expect(body).toMatchObject({ metadata: { generation: 1, namespace: 'ns' }, spec: { size: 1, colour: 'grey' } });
    expect(metadataOf({ body } as Reply)['uid']).not.toBe('mine');
  });

  it('with a name that is taken is 409, and says if the existing object is being deleted', async () => {
    await created('taken', { finalizers: ['example.com/hold'] });
    expect((await cluster.createWidget('taken')).body['message']).toBe('widgets.example.com "taken" already exists');
    await cluster.delete(widget('taken'));
    const again = await cluster.createWidget('taken');
    expect(again.status).toBe(409);
    expect(again.body['message']).toBe('object is being deleted: widgets.example.com "taken" already exists');
  });

  it('makes names of at most 63 characters', async () => {
    const reply = await cluster.post(cluster.widgets, object({ generateName: 'g'.repeat(80) }, {}));
    expect(metadataOf(reply)['name']).toMatch(/^g{58}[a-z0-9]{5}$/);
  });

  it('stores nothing on a dry run', async () => {
    const reply = await cluster.post(`${cluster.widgets}?dryRun=All`, object({ name: 'dry' }, {}));
    expect(reply.status).toBe(201);
    expect(metadataOf(reply)['resourceVersion']).toBeUndefined();
    expect((await cluster.get(widget('dry'))).status).toBe(404);
  });

  it.each<[string, JsonObject, number, string]>([
    ['no name', {}, 422, 'Widget.example.com "" is invalid: metadata.name: Required value: name or generateName is required'],
    ['a resourceVersion', { name: 'x', resourceVersion: '5' }, 500, 'resourceVersion should not be set on objects to be created'],
    [
      'another namespace',
      { name: 'x', namespace: 'other' },
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
  ])('with %s is refused', async (_what, metadata, status, message) => {
    const reply = await cluster.post(cluster.widgets, object(metadata, {}));
    expect(reply.status).toBe(status);
    expect(reply.body['message']).toBe(message);
  });

  it('in a namespace that does not exist is 404', async () => {
    const reply = await cluster.post('/api/v1/namespaces/none/configmaps', { metadata: { name: 'x' } });
    expect(reply.body['message']).toBe('namespaces "none" not found');
  });
});

describe('an update', () => {
  it('with an old resourceVersion is 409, one without is 422 for custom resources and overwrites a ConfigMap', async () => {
    const { body } = await created('stale');
    await cluster.patch(widget('stale'), { spec: { size: 2 } });
    expect((await cluster.put(widget('stale'), body)).status).toBe(409);
    const { resourceVersion: _none, ...metadata } = body['metadata'] as JsonObject;
    expect((await cluster.put(widget('stale'), { ...body, metadata })).status).toBe(422);
    await cluster.post('/api/v1/namespaces/ns/configmaps', { metadata: { name: 'c' }, data: { a: '1' } });
    expect((await cluster.put('/api/v1/namespaces/ns/configmaps/c', { metadata: { name: 'c' }, data: {} })).status).toBe(200);
  });

  it('that changes nothing writes nothing', async () => {
    const { body } = await created('same');
    const again = await cluster.put(widget('same'), body);
    const patched = await cluster.patch(widget('same'), { spec: { size: 1 } });
    const expected = (body['metadata'] as JsonObject)['resourceVersion'];
    expect([metadataOf(again)['resourceVersion'], metadataOf(patched)['resourceVersion']]).toEqual([expected, expected]);
  });

  it.each<[string, JsonObject, number]>([
    ['labels', { metadata: { labels: { a: 'b' } } }, 1],
    ['finalizers', { metadata: { finalizers: [] } }, 1],
    ['spec', { spec: { size: 9 } }, 2],
    ['status, through the main resource', { status: { x: 1 } }, 1],
  ])('to %s keeps or increments the generation', async (what, patch, generation) => {
    const name = `generation-${what.length}`;
    await created(name);
    expect(metadataOf(await cluster.patch(widget(name), patch))['generation']).toBe(generation);
  });

  it('through /status changes the status alone', async () => {
    await created('status');
    const patch = { metadata: { labels: { a: 'b' } }, spec: { size: 5 }, status: { x: 1 } };
    const { body } = await cluster.patch(`${widget('status')}/status`, patch);
    expect(body).toMatchObject({ spec: { size: 1 }, status: { x: 1 }, metadata: { generation: 1 } });
    expect((body['metadata'] as JsonObject)['labels']).toBeUndefined();
  });

  it('with another uid is 409 by PUT and 422 by PATCH', async () => {
    const { body } = await created('uid');
    const metadata = { ...(body['metadata'] as JsonObject), uid: 'other' };
    expect((await cluster.put(widget('uid'), { ...body, metadata })).status).toBe(409);
    expect((await cluster.patch(widget('uid'), { metadata: { uid: 'other' } })).status).toBe(422);
  });

  it('to a Lease that does not exist creates it', async () => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/ns/leases';
    expect((await cluster.put(`${leases}/fresh`, { metadata: { name: 'fresh' }, spec: { holderIdentity: 'a' } })).status).toBe(
      201,
    );
  });

  it.each(['2026-01-01T00:00:10.500Z', '2026-01-01T00:00:10Z', '2026-01-01T00:00:10.1234567Z'])(
    'to a Lease with renewTime %s is 400: six digits are required',
    async (renewTime) => {
      const leases = '/apis/coordination.k8s.io/v1/namespaces/ns/leases';
      expect((await cluster.post(leases, { metadata: { name: 'l' }, spec: { renewTime } })).status).toBe(400);
    },
  );
});

it('a Pod gets its node by a binding; hardly anything else of its spec may change', async () => {
  const pods = '/api/v1/namespaces/ns/pods';
  await cluster.post(pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'img:1' }] } });
  expect((await cluster.patch(`${pods}/p`, { spec: { nodeName: 'n' } })).status).toBe(422);
  expect((await cluster.patch(`${pods}/p`, { spec: { terminationGracePeriodSeconds: 3 } })).status).toBe(422);
  expect((await cluster.patch(`${pods}/p`, { metadata: { labels: { a: 'b' } } })).status).toBe(200);
  expect((await cluster.post(`${pods}/p/binding`, { metadata: { name: 'p' }, target: { name: 'n' } })).status).toBe(201);
  expect((await cluster.get(`${pods}/p`)).body).toMatchObject({ spec: { nodeName: 'n' }, metadata: { generation: 1 } });
  await cluster.delete(`${pods}/p`, { gracePeriodSeconds: 0 });
});

describe('a deletion', () => {
  it('answers a Status, or the object where a finalizer holds it', async () => {
    await created('gone');
    expect((await cluster.delete(widget('gone'))).body).toMatchObject({ kind: 'Status', status: 'Success' });
    await created('finalized', { finalizers: ['example.com/hold'] });
    const kept = await cluster.delete(widget('finalized'));
    expect(kept.body).toMatchObject({ kind: 'Widget', metadata: { generation: 2, deletionGracePeriodSeconds: 0 } });
    const again = await cluster.delete(widget('finalized'));
    expect(metadataOf(again)).toEqual(metadataOf(kept));
  });

  it('ends with the last finalizer, whose removal answers with the old resourceVersion', async () => {
    await created('last', { finalizers: ['example.com/hold'] });
    const kept = await cluster.delete(widget('last'));
    expect(
      (await cluster.patch(widget('last'), { metadata: { finalizers: ['example.com/hold', 'example.com/new'] } })).status,
    ).toBe(422);
    const released = await cluster.patch(widget('last'), { metadata: { finalizers: null } });
    expect(metadataOf(released)['resourceVersion']).toBe(metadataOf(kept)['resourceVersion']);
    expect((await cluster.get(widget('last'))).status).toBe(404);
  });

  it('checks its preconditions', async () => {
    const { body } = await created('sure');
    const { uid } = body['metadata'] as { readonly uid: string };
    expect((await cluster.delete(widget('sure'), { preconditions: { uid: 'other' } })).status).toBe(409);
    expect((await cluster.delete(widget('sure'), { preconditions: { uid, resourceVersion: '1' } })).status).toBe(409);
    expect((await cluster.delete(widget('sure'), { preconditions: { uid } })).status).toBe(200);
  });

  it('waits for a Pod on a node, and not for a Pod without a node', async () => {
    const pods = '/api/v1/namespaces/ns/pods';
    const spec = { containers: [{ name: 'c', image: 'img:1' }] };
    await cluster.post(pods, { metadata: { name: 'free' }, spec });
    expect((await cluster.delete(`${pods}/free`)).body).toMatchObject({
      kind: 'Pod',
      metadata: { deletionGracePeriodSeconds: 0 },
    });
    expect((await cluster.get(`${pods}/free`)).status).toBe(404);
    await cluster.post(pods, { metadata: { name: 'bound' }, spec: { ...spec, nodeName: 'n' } });
    expect(metadataOf(await cluster.delete(`${pods}/bound`))['deletionGracePeriodSeconds']).toBe(30);
    expect(metadataOf(await cluster.delete(`${pods}/bound`, { gracePeriodSeconds: 5 }))['deletionGracePeriodSeconds']).toBe(5);
    expect((await cluster.get(`${pods}/bound`)).status).toBe(200);
    await cluster.delete(`${pods}/bound`, { gracePeriodSeconds: 0 });
    expect((await cluster.get(`${pods}/bound`)).status).toBe(404);
  });
});

describe('limits', () => {
  it.each([
    ['over 3 MiB', 3_200_000, 413, 'Request entity too large: limit is 3145728'],
    ['over what etcd takes', 1_600_000, 500, 'etcdserver: request is too large'],
  ])('a request %s is refused', async (_what, size, status, message) => {
    const reply = await cluster.createWidget('big', { metadata: {}, spec: { colour: 'x'.repeat(size) } });
    expect(reply.status).toBe(status);
    expect(reply.body['message']).toBe(message);
  });

  it('annotations of more than 256 KiB together are refused, also in an update, and what was there stays', async () => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/ns/leases';
    const annotations = (octets: number) => ({ one: 'x'.repeat(131_072), two: 'é'.repeat((octets - 131_072 - 6) / 2) });
    await cluster.post(leases, { metadata: { name: 'lead' }, spec: { holderIdentity: 'a' } });
    const patch = (octets: number) => cluster.patch(`${leases}/lead`, { metadata: { annotations: annotations(octets) } });
    const refused = await patch(262_146);
    expect(refused.status).toBe(422);
    expect(refused.body['message']).toBe(
      'Lease.coordination.k8s.io "lead" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes',
    );
    expect(metadataOf(await cluster.get(`${leases}/lead`))['annotations']).toBeUndefined();
    expect((await patch(262_144)).status).toBe(200);
  });

  it('annotations of a template of Pods have the same limit', async () => {
    const template = {
      metadata: { labels: { app: 'a' }, annotations: { networks: 'x'.repeat(262_144) } },
      spec: { containers: [{ name: 'c', image: 'img:1' }] },
    };
    const spec = { selector: { matchLabels: { app: 'a' } }, template };
    const reply = await cluster.post('/apis/apps/v1/namespaces/ns/deployments', { metadata: { name: 'd' }, spec });
    expect(reply.status).toBe(422);
    expect(reply.body['message']).toBe(
      'Deployment.apps "d" is invalid: spec.template.annotations: Too long: may not be more than 262144 bytes',
    );
  });

  it.each([
    ['text/html', 'GET', 406],
    ['application/json', 'OPTIONS', 405],
  ])('accepting %s with %s is refused', async (accept, method, status) => {
    expect((await cluster.request(method, cluster.widgets, { headers: { accept } })).status).toBe(status);
  });
});

describe('the scale of a Deployment', () => {
  it('is patched at the version that the patch names, and at no other', async () => {
    const template = { metadata: { labels: { app: 'scaled' } }, spec: { containers: [{ name: 'c', image: 'img:1' }] } };
    const spec = { replicas: 0, paused: true, selector: { matchLabels: { app: 'scaled' } }, template };
    await cluster.post('/apis/apps/v1/namespaces/ns/deployments', { metadata: { name: 'scaled' }, spec });
    const path = '/apis/apps/v1/namespaces/ns/deployments/scaled/scale';
    const stale = await cluster.patch(path, { metadata: { resourceVersion: '1' }, spec: { replicas: 3 } });
    expect(stale).toMatchObject({ status: 409, body: { reason: 'Conflict' } });
    expect(await cluster.patch(path, { spec: { replicas: 4 } })).toMatchObject({ status: 200, body: { spec: { replicas: 4 } } });
  });
});

it('a restart keeps the data, and ends what was watched before', async () => {
  await created('kept');
  const before = await cluster.resourceVersion();
  await cluster.simulator.restart();
  expect((await cluster.get(widget('kept'))).status).toBe(200);
  expect(Number(await cluster.resourceVersion())).toBeGreaterThanOrEqual(Number(before));
  const [event] = await cluster.watch('resourceVersion=5&timeoutSeconds=1');
  expect(event).toMatchObject({ type: 'ERROR', object: { code: 410 } });
});
