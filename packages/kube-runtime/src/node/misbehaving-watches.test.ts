/** Caches on servers with working lists and broken watches. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, expect, it, vi } from 'vitest';
import type { ApiResource } from '../api/api-resource.js';
import { SharedCaches } from '../cache/shared-caches.js';
import type { Clock } from '../clock/clock.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { ApiObjectClient } from './api-object-client.js';
import { answer, type HttpServer, serveHttp } from './http-server-fixtures.js';
import { systemClock } from './system-clock.js';

const PODS: ApiResource = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const servers: HttpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A cache of pods, whose watches are answered by `watch`. */
async function follow(watch: (request: IncomingMessage, response: ServerResponse) => unknown, clock: Clock = systemClock) {
  const list = answer(200, { metadata: { resourceVersion: '7' }, items: [] });
  const server = await serveHttp((request, response) => (request.url?.includes('watch=') ? watch : list)(request, response));
  servers.push(server);
  const errors: unknown[] = [];
  const caches = new SharedCaches({
    clock,
    backOff: { firstMs: 10, mostMs: 40, random: () => 0.5 },
    open: () => new ApiObjectClient<KubernetesObject>(server.connection, PODS),
  });
  const cache = caches.subscribe(PODS, { onChange: () => undefined, onError: (error) => errors.push(error) });
  cache.start();
  return { caches, cache, errors };
}

it.each([{}, null, 1])('an event whose object is %j does not end the process', async (object) => {
  const thrown: unknown[] = [];
  const note = (error: unknown) => thrown.push(error);
  const before = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', note);
  const { cache, errors } = await follow((_, response) => response.write(`${JSON.stringify({ type: 'ADDED', object })}\n`));
  await vi.waitFor(() => expect(errors.length + thrown.length).toBeGreaterThan(0), 10_000);
  cache.stop();
  process.off('uncaughtException', note);
  for (const listener of before) process.on('uncaughtException', listener);
  expect(thrown).toEqual([]);
  expect(errors.length).toBeGreaterThan(0);
});

it('a kind that may be listed but not watched is not ready, because its cache gets old', async () => {
  const clock: Clock = { nowMs: () => performance.now() * 10_000, after: systemClock.after };
  const forbidden = answer(403, { kind: 'Status', reason: 'Forbidden', message: 'cannot watch' });
  const { caches, cache } = await follow(forbidden, clock);
  await vi.waitFor(() => expect(caches.unready()).toEqual([expect.stringContaining('cannot watch')]), 10_000);
  cache.stop();
});
