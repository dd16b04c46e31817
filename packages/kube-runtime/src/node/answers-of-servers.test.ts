import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { ApiResource } from '../api/api-resource.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { ApiConnection } from './api-connection.js';
import { ApiObjectClient } from './api-object-client.js';

const PODS: ApiResource = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const open: { close: () => void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => unknown;

async function serve(handler: Handler, { resource = PODS, authorizationMs = 0 } = {}) {
  const server = http.createServer((request, response) => void handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const authorization = async () => {
    await new Promise((resolve) => setTimeout(resolve, authorizationMs));
    return undefined;
  };
  const connection = new ApiConnection(
    { server: `http://127.0.0.1:${port}`, tls: {}, authorization, namespace: 'default' },
    { userAgent: 'test', timeoutMs: 1_000 },
  );
  open.push({
    close: () => {
      connection.close();
      server.closeAllConnections();
      server.close();
    },
  });
  return { connection, client: new ApiObjectClient<KubernetesObject>(connection, resource) };
}

const json =
  (body: unknown, status = 200): Handler =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };

describe('answers of servers', () => {
  it('a list whose items are null is an empty one, as servers in Go write it', async () => {
    const { client } = await serve(json({ kind: 'List', metadata: { resourceVersion: '7' }, items: null }));
    expect(await client.list({ limit: 500 })).toEqual({ items: [], resourceVersion: '7' });
  });

  it('the answer to a deletion that is a Status is no object', async () => {
    const { client } = await serve(
      json({ apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Success', details: { name: 'a' } }),
    );
    expect(await client.delete('default/a', 'uid')).toEqual({ ok: true, object: undefined });
  });

  it('a read that is forbidden has that status', async () => {
    const { client } = await serve(json({ kind: 'Status', reason: 'Forbidden', message: 'no' }, 403));
    await expect(client.get('default/a')).rejects.toMatchObject({ status: 403, reason: 'Forbidden' });
  });

  it('what is no JSON is an error that names the request', async () => {
    const { connection } = await serve((_, response) => response.end('<html>sign in</html>'));
    await expect(connection.request({ method: 'GET', path: '/api/v1/pods' })).rejects.toMatchObject({
      code: 'ERR_API_REQUEST',
      message: expect.stringContaining('/api/v1/pods'),
    });
  });

  it('a body that never ends is a failure after the time-out', async () => {
    const { connection } = await serve((_, response) => {
      response.writeHead(200);
      response.write('{');
    });
    await expect(connection.request({ method: 'GET', path: '/api' })).rejects.toMatchObject({ code: 'ERR_API_REQUEST' });
  });

  it('a body that never ends of a watch that is refused is a failure after the time-out', async () => {
    const { client } = await serve((_, response) => {
      response.writeHead(500);
      response.write('{');
    });
    const end = await new Promise((resolve) => client.watch('1', { onEvent: () => undefined, onEnd: resolve }));
    expect(end).toMatchObject({ kind: 'failed' });
  });
});
