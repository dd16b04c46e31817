import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { ApiResource } from '../api/api-resource.js';
import type { WatchEnd, WatchEvent } from '../api/resource-port.js';
import { Reflector } from '../cache/reflector.js';
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

async function serve(handler: Handler, resource: ApiResource = PODS) {
  const server = http.createServer((request, response) => void handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const connection = new ApiConnection(
    { server: `http://127.0.0.1:${port}`, tls: {}, authorization: async () => undefined, namespace: 'default' },
    { userAgent: 'test', timeoutMs: 2_000 },
  );
  open.push({
    close: () => {
      connection.close();
      server.closeAllConnections();
      server.close();
    },
  });
  return new ApiObjectClient<KubernetesObject>(connection, resource);
}

const line = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

async function watchToTheEnd(handler: Handler): Promise<{ events: WatchEvent<KubernetesObject>[]; end: WatchEnd }> {
  const client = await serve(handler);
  const events: WatchEvent<KubernetesObject>[] = [];
  const end = await new Promise<WatchEnd>((resolve) => {
    client.watch('7', { onEvent: (event) => events.push(event), onEnd: resolve });
  });
  return { events, end };
}

describe('a watch over HTTP', () => {
  it('fact 2: asks for bookmarks and for an end, and goes on from the version of the last event or bookmark', async () => {
    const queries: URLSearchParams[] = [];
    const answers = [
      line('ADDED', { metadata: { name: 'a', resourceVersion: '12' } }),
      line('BOOKMARK', { metadata: { resourceVersion: '15' } }),
    ];
    const enough = Promise.withResolvers<void>();
    const client = await serve((request, response) => {
      const query = new URL(request.url ?? '', 'http://server').searchParams;
      response.writeHead(200);
      if (query.get('watch') !== 'true') {
        response.end(JSON.stringify({ metadata: { resourceVersion: '10' }, items: [] }));
        return;
      }
      queries.push(query);
      if (queries.length === 3) enough.resolve();
      else response.end(answers[queries.length - 1]);
    });
    const reflector = new Reflector({
      port: client,
      clock: systemClock,
      backOff: { firstMs: 1, mostMs: 2, random: () => 0 },
      onChange: () => undefined,
    });
    reflector.start();
    await enough.promise;
    reflector.stop();
    expect(queries.map((query) => query.get('resourceVersion'))).toEqual(['10', '12', '15']);
    for (const query of queries) {
      expect(query.get('allowWatchBookmarks')).toBe('true');
      const seconds = Number(query.get('timeoutSeconds'));
      expect(seconds >= 240 && seconds <= 300).toBe(true);
    }
  });

  it.each<[string, Handler]>([
    [
      'status',
      (_, response) => {
        response.writeHead(410);
        response.end(JSON.stringify({ kind: 'Status', code: 410, reason: 'Expired' }));
      },
    ],
    [
      'event',
      (_, response) => {
        response.writeHead(200);
        response.end(line('ERROR', { kind: 'Status', code: 410, message: 'too old resource version' }));
      },
    ],
  ])('fact 3: 410 as %s means that the history is forgotten', async (_, handler) => {
    expect(await watchToTheEnd(handler)).toEqual({ events: [], end: { kind: 'expired' } });
  });

  it('fact 6: another error event, a line that is not JSON, and an unknown type end it with an explanation', async () => {
    for (const [text, message] of [
      [line('ERROR', { code: 500, message: 'etcd' }), 'the watch ended with ERROR: etcd'],
      [line('STRANGE', {}), 'the watch ended with STRANGE: '],
      ['{"type":\n', /JSON/],
    ] as const) {
      const { events, end } = await watchToTheEnd((_, response) => {
        response.writeHead(200);
        response.write(line('DELETED', { metadata: { name: 'a' } }));
        response.end(text + line('ADDED', { metadata: { name: 'b' } }));
      });
      expect(events).toEqual([{ type: 'deleted', object: { metadata: { name: 'a' } } }]);
      expect(end).toMatchObject({ kind: 'failed' });
      expect(String((end as { error: Error }).error.message)).toMatch(message);
    }
  });

  it.each([401, 403, 429, 500, 503])(
    'fact 6: HTTP %i is a failure that is retried, after Retry-After if it is set',
    async (status) => {
      const { end } = await watchToTheEnd((_, response) => {
        response.writeHead(status, { 'retry-after': '3' });
        response.end('no');
      });
      expect(end).toMatchObject({ kind: 'failed', error: { status, retryAfterMs: 3_000 } });
    },
  );

  it('an answer that ends is a watch that was closed', async () => {
    expect(await watchToTheEnd((_, response) => response.end())).toEqual({ events: [], end: { kind: 'closed' } });
  });

  it('fact 23: only a source of metadata requests metadata, in lists and in watches', async () => {
    const accepted: unknown[] = [];
    const handler: Handler = ({ headers: { accept }, url = '' }, response) => {
      accepted.push(accept);
      response.end(url.includes('watch=true') ? '' : JSON.stringify({ metadata: {}, items: [] }));
    };
    for (const metadataOnly of [true, false]) {
      const client = await serve(handler, { ...PODS, metadataOnly });
      await client.list({ limit: 1 });
      await new Promise((resolve) => client.watch('1', { onEvent: () => undefined, onEnd: resolve }));
    }
    expect(accepted).toEqual([
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
      'application/json',
      'application/json',
    ]);
  });

  it('only lists and watches have selectors; names are escaped', async () => {
    const paths: string[] = [];
    const client = await serve(
      (request, response) => {
        paths.push(`${request.method} ${request.url}`);
        response.end(JSON.stringify({ metadata: {}, items: [] }));
      },
      { ...PODS, group: 'example.com', namespace: 'x', labelSelector: 'a=b', fieldSelector: 'c=d' },
    );
    await client.list({ limit: 5, continueToken: 't' });
    await client.get('x/a b');
    await client.create({ metadata: { namespace: 'y', name: 'a' } });
    await client.delete('x/a', 'u');
    expect(paths).toEqual([
      'GET /apis/example.com/v1/namespaces/x/pods?limit=5&continue=t&labelSelector=a%3Db&fieldSelector=c%3Dd',
      'GET /apis/example.com/v1/namespaces/x/pods/a%20b',
      'POST /apis/example.com/v1/namespaces/y/pods',
      'DELETE /apis/example.com/v1/namespaces/x/pods/a',
    ]);
  });
});
