import net from 'node:net';
import { expect, it } from 'vitest';
import { ApiConnection } from './api-connection.js';
import { ApiObjectClient } from './api-object-client.js';

it('a watch that the server never answers fails after the time-out of requests', async () => {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => void sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  const connection = new ApiConnection(
    { server: `http://127.0.0.1:${port}`, tls: {}, authorization: async () => undefined, namespace: 'default' },
    { userAgent: 'test', timeoutMs: 300 },
  );
  const client = new ApiObjectClient(connection, { group: '', version: 'v1', plural: 'pods', namespaced: true });
  const end = await Promise.race([
    new Promise((resolve) => client.watch('1', { onEvent: () => undefined, onEnd: resolve })),
    new Promise((resolve) => setTimeout(() => resolve('nothing for ten times as long'), 3_000)),
  ]);
  for (const socket of sockets) socket.destroy();
  server.close();
  connection.close();
  expect(end).toMatchObject({ kind: 'failed' });
});
