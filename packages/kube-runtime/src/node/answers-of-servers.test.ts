import { afterEach, describe, expect, it } from 'vitest';
import type { ApiResource } from '../api/api-resource.js';
import { fencedClient, NotLeadingError } from '../election/fenced-client.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { toReconcileResult } from '../queue/to-reconcile-result.js';
import { ApiObjectClient } from './api-object-client.js';
import { answer, type HttpServer, type HttpServerSettings, serveHttp } from './http-server-fixtures.js';

const PODS: ApiResource = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const servers: HttpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(handler: Parameters<typeof serveHttp>[0], settings: HttpServerSettings = {}) {
  const server = await serveHttp(handler, { timeoutMs: 1_000, ...settings });
  servers.push(server);
  return { connection: server.connection, client: new ApiObjectClient<KubernetesObject>(server.connection, PODS) };
}

describe('answers of servers', () => {
  it('a list whose items are null is an empty one, as servers in Go write it', async () => {
    const { client } = await serve(answer(200, { kind: 'List', metadata: { resourceVersion: '7' }, items: null }));
    expect(await client.list({ limit: 500 })).toEqual({ items: [], resourceVersion: '7' });
  });

  it('a Status in answer to a deletion is not taken for an object', async () => {
    const { client } = await serve(
      answer(200, { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Success', details: { name: 'a' } }),
    );
    expect(await client.delete('default/a', 'uid')).toEqual({ ok: true, object: undefined });
  });

  it('a read that is forbidden has that status', async () => {
    const { client } = await serve(answer(403, { kind: 'Status', reason: 'Forbidden', message: 'no' }));
    await expect(client.get('default/a')).rejects.toMatchObject({ status: 403, reason: 'Forbidden' });
  });

  it('an answer that is not JSON is an error that names the request', async () => {
    const { connection } = await serve((_, response) => response.end('<html>sign in</html>'));
    await expect(connection.request({ method: 'GET', path: '/api/v1/pods' })).rejects.toMatchObject({
      code: 'ERR_API_REQUEST',
      message: expect.stringContaining('/api/v1/pods'),
    });
  });

  it('a body that never ends fails after the time-out', async () => {
    const { connection } = await serve((_, response) => {
      response.writeHead(200);
      response.write('{');
    });
    await expect(connection.request({ method: 'GET', path: '/api' })).rejects.toMatchObject({ code: 'ERR_API_REQUEST' });
  });

  it('a refused watch with a body that never ends fails after the time-out', async () => {
    const { client } = await serve((_, response) => {
      response.writeHead(500);
      response.write('{');
    });
    const end = await new Promise((resolve) => client.watch('1', { onEvent: () => undefined, onEnd: resolve }));
    expect(end).toMatchObject({ kind: 'failed' });
  });

  it('an object cannot be created if its namespace or kind is missing, and the reason says which', async () => {
    const { client } = await serve(answer(404, { kind: 'Status', reason: 'NotFound', message: 'namespaces "x" not found' }));
    const result = await client.create({ metadata: { namespace: 'x', name: 'a' } });
    expect(result).toMatchObject({ reason: 'parent-not-found' });
    expect(toReconcileResult(result)).toEqual({ kind: 'retry', reason: expect.stringContaining('namespaces "x" not found') });
  });

  it('fact 16: a write that waited for its token checks the fence again, and is not sent', async () => {
    const methods: (string | undefined)[] = [];
    const token = Promise.withResolvers<string | undefined>();
    const { client } = await serve(
      (request, response) => {
        methods.push(request.method);
        answer(200, { metadata: { name: 'a' } })(request, response);
      },
      { authorization: () => token.promise },
    );
    let isLeading = true;
    const fenced = fencedClient(client, () => isLeading);
    const object = { metadata: { namespace: 'x', name: 'a' } };
    const written = fenced.create(object).catch((error: unknown) => error);
    isLeading = false;
    token.resolve(undefined);
    expect(await written).toBeInstanceOf(NotLeadingError);
    expect(methods).toEqual([]);
    isLeading = true;
    await fenced.create(object);
    expect(methods).toEqual(['POST']);
  });
});
