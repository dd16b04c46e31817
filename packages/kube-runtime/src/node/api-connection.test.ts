import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { KeyedQueue } from '../queue/keyed-queue.js';
import { FakeClock } from '../testing/fake-clock.js';
import { AnswerTooLongError, ApiConnection, ApiRequestError } from './api-connection.js';
import { ApiObjectClient } from './api-object-client.js';

const open: { close: () => void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => unknown;

async function serve(handler: Handler, timeoutMs = 1_000, mostAnswerOctets?: number): Promise<ApiConnection> {
  const server = http.createServer((request, response) => void handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const connection = new ApiConnection(
    { server: `http://127.0.0.1:${port}`, tls: {}, authorization: async () => undefined, namespace: 'default' },
    { userAgent: 'test', timeoutMs, ...(mostAnswerOctets !== undefined && { mostAnswerOctets }) },
  );
  open.push({
    close: () => {
      connection.close();
      server.closeAllConnections();
      server.close();
    },
  });
  return connection;
}

it('fact 6: a server that answers 429 and Retry-After: 2 gets no request for two seconds', async () => {
  const connection = await serve((_, response) => {
    response.writeHead(429, { 'retry-after': '2', 'content-type': 'application/json' });
    response.end(JSON.stringify({ kind: 'Status', reason: 'TooManyRequests', message: 'too many requests' }));
  });
  const client = new ApiObjectClient(connection, { group: '', version: 'v1', plural: 'pods', namespaced: true });
  const clock = new FakeClock();
  const retried = Promise.withResolvers<number>();
  const queue = new KeyedQueue({
    clock,
    backOff: { firstMs: 100, mostMs: 30_000, random: () => 0.5 },
    reconcile: async () => {
      await client.patch({ key: 'default/a' }, {});
      return { kind: 'settled' };
    },
    onRetry: (_, { afterMs }) => retried.resolve(afterMs),
  });
  queue.add('a');
  expect(await retried.promise).toBe(2_000);
  await queue.stop();
  expect(clock.pending).toBe(0);
});

it('an answer that is longer than allowed ends the request, before all of it is read, and the next one is answered', async () => {
  const sent = { octets: 0 };
  const connection = await serve(
    async (request, response) => {
      if (request.url === '/short') {
        response.end('{}');
        return;
      }
      for (let part = 0; part < 1_000 && !response.destroyed; part++) {
        sent.octets += 65_536;
        if (!response.write(Buffer.alloc(65_536, 32))) await Promise.race([once(response, 'drain'), once(response, 'close')]);
      }
      response.end('{}');
    },
    10_000,
    1_000_000,
  );
  const failure = await connection.request({ method: 'GET', path: '/long' }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ApiRequestError);
  expect((failure as Error).cause).toBeInstanceOf(AnswerTooLongError);
  expect((failure as Error).message).toContain('the answer has more than 1000000 octets');
  expect(sent.octets).toBeLessThan(30_000_000);
  expect(await connection.request({ method: 'GET', path: '/short' })).toEqual({});
});

it('chunk boundaries inside a character and a line', async () => {
  const text = `${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'ä€😀', resourceVersion: '7' } } })}\n`;
  const bytes = Buffer.from(text.repeat(3));
  const connection = await serve(async (_, response) => {
    response.writeHead(200);
    for (const byte of bytes) {
      response.write(Buffer.from([byte]));
      if (byte > 127) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    response.end();
  });
  const client = new ApiObjectClient(connection, { group: '', version: 'v1', plural: 'pods', namespaced: true });
  const names: string[] = [];
  await new Promise<void>((resolve) => {
    client.watch('1', {
      onEvent: (event) => 'object' in event && names.push(event.object.metadata.name),
      onEnd: () => resolve(),
    });
  });
  expect(names).toEqual(['ä€😀', 'ä€😀', 'ä€😀']);
});

it('a response body that never ends is given up', async () => {
  const connection = await serve((_, response) => {
    response.writeHead(200);
    response.write('{"a":');
    const timer = setInterval(() => response.write(' '), 50);
    response.on('close', () => clearInterval(timer));
  }, 500);
  await expect(connection.request({ method: 'GET', path: '/' })).rejects.toThrow();
});

it('a watch whose answer is an error with a body that never ends is reported', async () => {
  const connection = await serve((_, response) => {
    response.writeHead(500);
    response.write('{');
  }, 300);
  const client = new ApiObjectClient(connection, { group: '', version: 'v1', plural: 'pods', namespaced: true });
  const end = await Promise.race([
    new Promise((resolve) => client.watch('1', { onEvent: () => undefined, onEnd: resolve })),
    new Promise((resolve) => setTimeout(() => resolve('nothing'), 3_000)),
  ]);
  expect(end).toMatchObject({ kind: 'failed' });
});

it('idle connections that the server closes do not fail requests', async () => {
  const server = http.createServer((_, response) => response.end('{}'));
  server.keepAliveTimeout = 5;
  (server as unknown as { keepAliveTimeoutBuffer: number }).keepAliveTimeoutBuffer = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const connection = new ApiConnection(
    { server: `http://127.0.0.1:${port}`, tls: {}, authorization: async () => undefined, namespace: 'default' },
    { userAgent: 'test' },
  );
  open.push({
    close: () => {
      connection.close();
      server.close();
    },
  });
  let failed = 0;
  for (let i = 0; i < 100; i++) {
    await connection.request({ method: 'GET', path: '/' }).catch(() => failed++);
    await new Promise((resolve) => setTimeout(resolve, 3 + (i % 6)));
  }
  expect(failed, 'of 100 GETs').toBe(0);
}, 20_000);

it('a time-out that is not a whole number of milliseconds works too', async () => {
  const connection = await serve((_, response) => response.end('{"kind":"APIVersions"}'), 10_000 / 3);
  expect(await connection.request({ method: 'GET', path: '/api' })).toEqual({ kind: 'APIVersions' });
});
