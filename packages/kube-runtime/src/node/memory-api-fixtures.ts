/** An API server for one kind, as far as the HTTPS adapter uses it: objects in memory behind HTTP. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WriteRefusal, WriteResult } from '../api/object-client.js';
import { ExpiredError, type WatchEvent } from '../api/resource-port.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { MemoryResource } from '../testing/memory-resource.js';

const STATUS: Readonly<Record<WriteRefusal, readonly [number, string]>> = {
  conflict: [409, 'Conflict'],
  'already-exists': [409, 'AlreadyExists'],
  'not-found': [404, 'NotFound'],
  'parent-not-found': [404, 'NotFound'],
  invalid: [422, 'Invalid'],
  forbidden: [403, 'Forbidden'],
};

type Body = Record<string, unknown> & { metadata?: Record<string, unknown> };

interface Call {
  readonly request: http.IncomingMessage;
  readonly response: http.ServerResponse;
  readonly query: URLSearchParams;
  /** Undefined: the collection. */
  readonly key: string | undefined;
  readonly subresource: string | undefined;
}

export interface MemoryApi {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Serves the objects at `/apis/<group>/<version>[/namespaces/<namespace>]/<plural>`, whatever group and plural are. */
export async function serveMemory(objects: MemoryResource<KubernetesObject>): Promise<MemoryApi> {
  const server = http.createServer((request, response) => void answer(objects, toCall(request, response)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function toCall(request: http.IncomingMessage, response: http.ServerResponse): Call {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://server');
  const [, root, ...parts] = pathname.split('/');
  const path = parts.slice(root === 'apis' ? 2 : 1);
  const namespace = path[0] === 'namespaces' ? path.splice(0, 2)[1] : undefined;
  const [, name, subresource] = path;
  const key = name === undefined || namespace === undefined ? name : `${namespace}/${name}`;
  return { request, response, query: searchParams, key, subresource };
}

async function answer(objects: MemoryResource<KubernetesObject>, call: Call): Promise<void> {
  const { request, response, query, key } = call;
  const isCollection = key === undefined && request.method === 'GET';
  if (isCollection && query.get('watch') === 'true') {
    watch(objects, call);
    return;
  }
  try {
    if (isCollection) send(response, 200, await list(objects, query));
    else sendResult(response, await write(objects, call, await readBody(request)));
  } catch (error) {
    const status = error instanceof ExpiredError ? 410 : 500;
    send(response, status, { kind: 'Status', message: (error as Error).message, code: status });
  }
}

async function list(objects: MemoryResource<KubernetesObject>, query: URLSearchParams): Promise<object> {
  const continueToken = query.get('continue');
  const page = await objects.list({ limit: Number(query.get('limit')), ...(continueToken !== null && { continueToken }) });
  const metadata = { resourceVersion: page.resourceVersion, continue: page.continueToken ?? '' };
  return { apiVersion: 'v1', kind: 'ThingList', metadata, items: page.items };
}

async function readBody(request: http.IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return text === '' ? {} : (JSON.parse(text) as Body);
}

function sendResult(response: http.ServerResponse, result: WriteResult<unknown>): void {
  if (result.ok) {
    send(response, 200, result.object);
    return;
  }
  const [status, reason] = STATUS[result.reason];
  send(response, status, { kind: 'Status', reason, message: result.message, code: status });
}

async function write(
  objects: MemoryResource<KubernetesObject>,
  { request, key, subresource: name }: Call,
  body: Body,
): Promise<WriteResult<unknown>> {
  if (key === undefined) return await objects.create(body as unknown as KubernetesObject);
  const { resourceVersion, ...metadata } = body.metadata ?? {};
  const target = { key, resourceVersion: resourceVersion as string | undefined };
  const patch = { ...body, ...(body.metadata !== undefined && { metadata }) };
  const verb = ({ GET: 'get', PUT: 'update', POST: 'create', PATCH: 'patch' } as const)[request.method ?? ''];
  if (name !== undefined && verb !== undefined) return await objects.subresource({ ...target, name, verb, body: patch });
  if (verb === 'patch') return await objects.patch(target, patch);
  if (request.method === 'DELETE') {
    const { uid, resourceVersion: version } = body['preconditions'] as {
      readonly uid: string;
      readonly resourceVersion?: string;
    };
    return await objects.delete(key, uid, version);
  }
  const object = await objects.get(key);
  return object === undefined ? { ok: false, reason: 'not-found', message: `"${key}" not found` } : { ok: true, object };
}

function watch(objects: MemoryResource<KubernetesObject>, { response, query }: Call): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  const stop = objects.watch(query.get('resourceVersion') ?? '', {
    onEvent: (event) => response.write(`${JSON.stringify(toLine(event))}\n`),
    onEnd: () => response.end(`${JSON.stringify({ type: 'ERROR', object: { code: 410, message: 'too old' } })}\n`),
  });
  response.on('close', stop);
}

function toLine(event: WatchEvent<KubernetesObject>): object {
  if (event.type === 'bookmark') return { type: 'BOOKMARK', object: { metadata: { resourceVersion: event.resourceVersion } } };
  return { type: event.type.toUpperCase(), object: event.object };
}

function send(response: http.ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body === undefined ? '' : JSON.stringify(body));
}
