import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { ApiResource } from '../api/api-resource.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { OBJECT_CLIENT_CONTRACT, type ObjectClientTarget, SCALE_CONTRACT } from '../testing/contract.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { ApiConnection } from './api-connection.js';
import { ApiObjectClient } from './api-object-client.js';
import { type MemoryApi, serveMemory } from './memory-api-fixtures.js';
import { systemClock } from './system-clock.js';

const THINGS: ApiResource = { group: 'example.com', version: 'v1', plural: 'things', namespaced: true };
const open: { connection: ApiConnection; api: MemoryApi }[] = [];
afterEach(async () => {
  for (const { connection, api } of open.splice(0)) {
    connection.close();
    await api.close();
  }
});

async function overHttp(resource: ApiResource) {
  const server = new MemoryResource<KubernetesObject>(systemClock);
  const api = await serveMemory(server);
  const connection = new ApiConnection(
    { server: api.url, tls: {}, authorization: async () => undefined, namespace: 'default' },
    { userAgent: 'test' },
  );
  open.push({ connection, api });
  return { server, client: new ApiObjectClient<KubernetesObject>(connection, resource) };
}

async function target(resource: ApiResource, namespace?: string): Promise<ObjectClientTarget> {
  const { client } = await overHttp(resource);
  return {
    client,
    object: (name, text = 'some') => ({
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { ...(namespace && { namespace }), name },
      spec: { text },
    }),
    specPatch: (text) => ({ spec: { text } }),
    status: { ready: true },
    wait: (answer) => answer,
    until: async (what, look) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const timer = setInterval(() => look() && resolve(), 2);
      const limit = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), 5_000);
      onTestFinished(() => clearTimeout(limit));
      await promise.finally(() => clearInterval(timer));
    },
  };
}

describe('fact 24: objects over HTTP', () => {
  it.each(OBJECT_CLIENT_CONTRACT)('$name', async ({ check }) => check(await target(THINGS, 'default')));
});

describe('fact 24: objects of a cluster-scoped kind over HTTP', () => {
  it.each(OBJECT_CLIENT_CONTRACT)('$name', async ({ check }) => check(await target({ ...THINGS, namespaced: false })));
});

describe('fact 24: the scale of objects over HTTP', () => {
  it.each(SCALE_CONTRACT)('$name', async ({ check }) => {
    const { client } = await overHttp(THINGS);
    const object = (name: string, replicas: number) => ({ metadata: { namespace: 'default', name }, spec: { replicas } });
    await check({ client, object, wait: (answer) => answer });
  });
});

describe('subresources over HTTP', () => {
  it('PUT .../start as in KubeVirt: a body is sent, and an empty answer has no object', async () => {
    const { server, client } = await overHttp({ ...THINGS, group: 'subresources.kubevirt.io', plural: 'virtualmachines' });
    server.put({ metadata: { namespace: 'default', name: 'vm' }, spec: {} });
    server.subresources.set('start', (machine, { verb, body }) => ({ object: { ...machine, spec: { started: verb, ...body } } }));
    const call = { key: 'default/vm', name: 'start', verb: 'update' } as const;
    expect(await client.subresource({ ...call, body: { paused: true } })).toEqual({ ok: true, object: undefined });
    expect(server.objects.get('default/vm')?.spec).toEqual({ started: 'update', paused: true });
    expect(await client.subresource({ ...call, verb: 'create' })).toMatchObject({ ok: true });
    expect(server.objects.get('default/vm')?.spec).toEqual({ started: 'create' });
  });
});
