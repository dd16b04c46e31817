/** Credentials that do not come: an exec plugin may wait for a person, or for a server that has vanished. */
import { afterEach, describe, expect, it } from 'vitest';
import { ApiConnection } from './api-connection.js';
import type { ClusterConnection } from './cluster-connection.js';

const open: ApiConnection[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

const never = () => new Promise<undefined>(() => undefined);
const neverCa = () => new Promise<Buffer>(() => undefined);
const MESSAGE = 'no credentials within 100 ms: an exec plugin of the kubeconfig may wait for something';

describe.each<[string, Pick<ClusterConnection, 'authorization' | 'ca'>]>([
  ['a token', { authorization: never }],
  ['a CA', { authorization: async () => undefined, ca: neverCa }],
])('while %s does not come', (_, credentials) => {
  const connect = () => {
    const cluster = { server: 'http://127.0.0.1:1', tls: {}, namespace: 'default', ...credentials };
    const connection = new ApiConnection(cluster, { userAgent: 'test', timeoutMs: 100 });
    open.push(connection);
    return connection;
  };

  it('a request fails after its time limit, and says why', async () => {
    await expect(connect().request({ method: 'GET', path: '/version' })).rejects.toThrow(`GET /version: ${MESSAGE}`);
  });

  it('a watch fails after its time limit, and says why', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    connect().stream({ path: '/watch' }, { onLine: () => undefined, onEnd: resolve });
    expect(await promise).toMatchObject({ message: MESSAGE });
  });
});

it('credentials that come too late send no request', async () => {
  const token = Promise.withResolvers<undefined>();
  const cluster = { server: 'http://127.0.0.1:1', tls: {}, namespace: 'default', authorization: () => token.promise };
  const connection = new ApiConnection(cluster, { userAgent: 'test', timeoutMs: 100 });
  open.push(connection);
  let begun = 0;
  const mayBegin = () => {
    begun++;
    return true;
  };
  await expect(connection.request({ method: 'POST', path: '/', body: {}, mayBegin })).rejects.toThrow(MESSAGE);
  token.resolve(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toBe(0);
});
