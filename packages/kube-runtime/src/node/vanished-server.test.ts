/** A server, or a load balancer before it, that vanishes without closing its connections. */
import type { Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { type HttpServer, serveHttp } from './http-server-fixtures.js';

const open: HttpServer[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const CONNECTIONS = 5;

/** A server with so many idle connections, which `vanish` makes silent. New connections are answered. */
async function serveThenVanish() {
  let hasVanished = false;
  const silent = new Set<Socket>();
  const waiting: (() => void)[] = [];
  const server = await serveHttp(
    (request, response) => {
      if (hasVanished && silent.has(request.socket)) return;
      silent.add(request.socket);
      const answer = () => response.end('{}');
      if (hasVanished) answer();
      // Together, so that each request has its own connection.
      else if (waiting.push(answer) === CONNECTIONS) for (const one of waiting.splice(0)) one();
    },
    { timeoutMs: 200 },
  );
  open.push(server);
  const vanish = () => {
    hasVanished = true;
  };
  return { ...server, vanish };
}

it('after a request without an answer the next one opens a connection, instead of waiting on each idle one', async () => {
  const { connection, connected, vanish } = await serveThenVanish();
  const get = () => connection.request({ method: 'GET', path: '/' }).then(() => 'answered', String);
  expect(await Promise.all(Array.from({ length: CONNECTIONS }, get))).toEqual(Array(CONNECTIONS).fill('answered'));
  expect(connected()).toBe(CONNECTIONS);
  vanish();
  expect([await get(), await get()]).toEqual([expect.stringContaining('timeout'), 'answered']);
});

it('after a watch without an answer the next one opens a connection', async () => {
  const { connection, connected, vanish } = await serveThenVanish();
  const watch = () =>
    new Promise<unknown>((resolve) => void connection.stream({ path: '/' }, { onLine: () => undefined, onEnd: resolve }));
  await Promise.all(Array.from({ length: CONNECTIONS }, watch));
  expect(connected()).toBe(CONNECTIONS);
  vanish();
  expect([await watch(), await watch()]).toMatchObject([{ cause: { message: 'no answer within 200 ms' } }, undefined]);
});
