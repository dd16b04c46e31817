import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import type { ApiResource } from '../api/api-resource.js';
import { SharedCaches } from '../cache/shared-caches.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { ApiConnection } from './api-connection.js';
import { ApiObjectClient } from './api-object-client.js';
import { systemClock } from './system-clock.js';

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

it('a kind that may be listed and not watched is not ready: what is cached only grows old', async () => {
  const { client } = await serve((request, response) => {
    if (request.url?.includes('watch='))
      json({ kind: 'Status', reason: 'Forbidden', message: 'cannot watch' }, 403)(request, response);
    else json({ metadata: { resourceVersion: '7' }, items: [] })(request, response);
  });
  const clock = { nowMs: () => performance.now() * 10_000, after: systemClock.after };
  const backOff = { firstMs: 10, mostMs: 40, random: () => 0.5 };
  const caches = new SharedCaches({ clock, backOff, open: () => client });
  const cache = caches.subscribe(PODS, { onChange: () => undefined });
  cache.start();
  await new Promise((resolve) => setTimeout(resolve, 300));
  const unready = caches.unready();
  cache.stop();
  expect(unready).toEqual([expect.stringContaining('cannot watch')]);
});
