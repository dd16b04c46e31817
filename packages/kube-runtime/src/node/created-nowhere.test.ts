import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import type { ApiResource } from '../api/api-resource.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { toReconcileResult } from '../queue/to-reconcile-result.js';
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

it('an object cannot be created where its namespace or its kind is missing, and the reason names which', async () => {
  const { client } = await serve(json({ kind: 'Status', reason: 'NotFound', message: 'namespaces "x" not found' }, 404));
  const result = await client.create({ metadata: { namespace: 'x', name: 'a' } });
  expect(toReconcileResult(result)).toMatchObject({ reason: expect.stringContaining('namespaces "x" not found') });
});
