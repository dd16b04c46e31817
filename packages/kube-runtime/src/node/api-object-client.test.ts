import { afterEach, describe, expect, it } from 'vitest';
import type { ApiResource } from '../api/api-resource.js';
import { ExpiredError } from '../api/resource-port.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { ApiRequestError } from './api-connection.js';
import { ApiObjectClient } from './api-object-client.js';
import { answer, type HttpServer, serveHttp } from './http-server-fixtures.js';

const PODS: ApiResource = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const NODES: ApiResource = { group: '', version: 'v1', plural: 'nodes', namespaced: false };
const THINGS: ApiResource = { group: 'example.com', version: 'v1', plural: 'things', namespaced: true };

const servers: HttpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(handler: Parameters<typeof serveHttp>[0], resource: ApiResource = PODS) {
  const server = await serveHttp(handler);
  servers.push(server);
  return { server, client: new ApiObjectClient<KubernetesObject>(server.connection, resource) };
}

/** Clients of these resources. Their requests are answered with an empty list, and stored in `asked` with their body. */
async function recorded(resource: ApiResource) {
  const asked: unknown[] = [];
  const { client } = await serve(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    asked.push(text === '' ? `${request.method} ${request.url}` : [`${request.method} ${request.url}`, JSON.parse(text)]);
    response.end(JSON.stringify({ metadata: {}, items: [] }));
  }, resource);
  return { client, asked };
}

describe('where objects are', () => {
  it.each<[ApiResource, string, string]>([
    [PODS, 'x/a', '/api/v1/namespaces/x/pods'],
    [THINGS, 'x/a', '/apis/example.com/v1/namespaces/x/things'],
    [NODES, 'a', '/api/v1/nodes'],
    [{ ...PODS, namespace: 'x' }, 'x/a', '/api/v1/namespaces/x/pods'],
    [{ ...PODS, namespace: 'x' }, 'a', '/api/v1/namespaces/x/pods'],
    [{ ...NODES, namespace: 'x' }, 'x/a', '/api/v1/nodes'],
  ])('%j, %s', async (resource, key, collection) => {
    const { client, asked } = await recorded(resource);
    await client.get(key);
    const [name, namespace] = key.split('/').toReversed();
    const object = { metadata: { name: name ?? '', ...(namespace !== undefined && { namespace }) } };
    await client.replace(object);
    await client.create(object);
    expect(asked).toEqual([`GET ${collection}/a`, [`PUT ${collection}/a`, object], [`POST ${collection}`, object]]);
  });

  it('a list of all namespaces has neither a namespace in its path nor empty selectors', async () => {
    const { client, asked } = await recorded(PODS);
    await client.list({ limit: 500 });
    expect(asked).toEqual(['GET /api/v1/pods?limit=500']);
  });

  it('a patch has the version that guards it, beside what it changes in the metadata', async () => {
    const { client, asked } = await recorded(PODS);
    await client.patch({ key: 'x/a' }, { spec: 1 });
    await client.patch({ key: 'x/a', resourceVersion: '7' }, { spec: 1, metadata: { labels: { a: 'b' } } });
    await client.patchStatus({ key: 'x/a', resourceVersion: '7' }, { status: 1 });
    const path = 'PATCH /api/v1/namespaces/x/pods/a';
    expect(asked).toEqual([
      [path, { spec: 1 }],
      [path, { spec: 1, metadata: { labels: { a: 'b' }, resourceVersion: '7' } }],
      [`${path}/status`, { status: 1, metadata: { resourceVersion: '7' } }],
    ]);
  });

  it('a deletion has preconditions: the uid, and the version if there is one', async () => {
    const { client, asked } = await recorded(PODS);
    await client.delete('x/a', 'u');
    await client.delete('x/a', 'u', '7');
    const options = { apiVersion: 'v1', kind: 'DeleteOptions' };
    expect(asked).toEqual([
      ['DELETE /api/v1/namespaces/x/pods/a', { ...options, preconditions: { uid: 'u' } }],
      ['DELETE /api/v1/namespaces/x/pods/a', { ...options, preconditions: { uid: 'u', resourceVersion: '7' } }],
    ]);
  });

  it('subresources are read without a body, and written with one', async () => {
    const { client, asked } = await recorded(PODS);
    await client.subresource({ key: 'x/a', name: 'scale', verb: 'get' });
    await client.subresource({ key: 'x/a', name: 'scale', verb: 'update', body: { spec: 1 } });
    await client.subresource({ key: 'x/a', name: 'eviction', verb: 'create', body: {} });
    await client.subresource({ key: 'x/a', name: 'scale', verb: 'patch', body: { spec: 2 }, resourceVersion: '7' });
    const path = '/api/v1/namespaces/x/pods/a';
    expect(asked).toEqual([
      `GET ${path}/scale`,
      [`PUT ${path}/scale`, { spec: 1 }],
      [`POST ${path}/eviction`, {}],
      [`PATCH ${path}/scale`, { spec: 2, metadata: { resourceVersion: '7' } }],
    ]);
  });
});

describe('a list', () => {
  it('names the kind of its items, which the server leaves out', async () => {
    const items = [{ metadata: { name: 'a' } }, { kind: 'Other', metadata: { name: 'b' } }];
    const body = { apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '7', continue: 'next' }, items };
    const { client } = await serve(answer(200, body));
    expect(await client.list({ limit: 2 })).toEqual({
      items: [
        { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } },
        { kind: 'Other', metadata: { name: 'b' } },
      ],
      resourceVersion: '7',
      continueToken: 'next',
    });
  });

  it('without a kind has items without one', async () => {
    const { client } = await serve(answer(200, { items: [{ metadata: { name: 'a' } }] }));
    expect(await client.list({ limit: 2 })).toEqual({ items: [{ metadata: { name: 'a' } }], resourceVersion: '' });
  });

  it('whose token is too old has expired', async () => {
    const { client } = await serve(answer(410, { reason: 'Expired', message: 'the token is too old' }));
    const error = await client.list({ limit: 2, continueToken: 'x' }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ExpiredError);
    expect((error as Error).message).toBe('GET /api/v1/pods: 410 the token is too old');
    expect((error as Error).cause).toBeInstanceOf(ApiRequestError);
  });

  it.each([403, 404, 500])('that is answered %d is an error with this status', async (status) => {
    const { client } = await serve(answer(status));
    await expect(client.list({ limit: 2 })).rejects.toMatchObject({ code: 'ERR_API_REQUEST', status });
  });
});

describe('a write that is refused', () => {
  it.each<[number, string | undefined, string]>([
    [400, undefined, 'invalid'],
    [403, 'Forbidden', 'forbidden'],
    [404, 'NotFound', 'not-found'],
    [409, 'Conflict', 'conflict'],
    [409, 'AlreadyExists', 'already-exists'],
    [422, 'Invalid', 'invalid'],
  ])('with %d %s is a refusal: %s', async (status, reason, refusal) => {
    const { client } = await serve(answer(status, { reason, message: 'no' }));
    const message = `PATCH /api/v1/namespaces/x/pods/a: ${status} no`;
    expect(await client.patch({ key: 'x/a' }, {})).toEqual({ ok: false, reason: refusal, message });
  });

  it.each([401, 429, 500, 503])('with %d is an error: it may be tried again', async (status) => {
    const { client } = await serve(answer(status));
    await expect(client.patch({ key: 'x/a' }, {})).rejects.toMatchObject({ status });
  });

  it('without an answer is an error: it may have happened', async () => {
    const { client } = await serve(({ socket }) => socket.destroy());
    await expect(client.patch({ key: 'x/a' }, {})).rejects.toMatchObject({ code: 'ERR_API_REQUEST', status: undefined });
  });
});

describe('a watch', () => {
  const line = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

  it.each<[string, string, object]>([
    ['an ERROR of 410', line('ERROR', { code: 410 }), { kind: 'expired' }],
    [
      'another ERROR',
      line('ERROR', { code: 500, message: 'no' }),
      { kind: 'failed', error: { message: 'the watch ended with ERROR: no' } },
    ],
    ['a line that is not JSON', '{\n', { kind: 'failed' }],
  ])('ends with %s, once, and reports nothing that follows', async (_, last, expected) => {
    const { server, client } = await serve((__, response) => {
      response.write(`${line('ADDED', { metadata: { name: 'a' } })}${last}${line('ADDED', { metadata: { name: 'b' } })}${last}`);
    });
    const events: unknown[] = [];
    const ends: unknown[] = [];
    await new Promise<void>((resolve) => {
      client.watch('1', {
        onEvent: (event) => events.push(event),
        onEnd: (end) => {
          ends.push(end);
          resolve();
        },
      });
    });
    await server.disconnected();
    expect(events).toEqual([{ type: 'added', object: { metadata: { name: 'a' } } }]);
    expect(ends).toMatchObject([expected]);
  });

  it('that is stopped while it reports an event reports no other one, and no end', async () => {
    const { server, client } = await serve((_, response) => {
      response.write(`${line('ADDED', { metadata: { name: 'a' } })}${line('ADDED', { metadata: { name: 'b' } })}`);
    });
    const events: unknown[] = [];
    await new Promise<void>((resolve) => {
      const stop = client.watch('1', {
        onEvent: (event) => {
          events.push(event);
          stop();
          resolve();
        },
        onEnd: () => expect.fail('the end'),
      });
    });
    await server.disconnected();
    expect(events).toHaveLength(1);
  });

  it('that the server refuses as too old has expired', async () => {
    const { client } = await serve(answer(410));
    expect(await new Promise((resolve) => client.watch('1', { onEvent: () => undefined, onEnd: resolve }))).toEqual({
      kind: 'expired',
    });
  });
});
