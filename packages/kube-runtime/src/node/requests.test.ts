import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NotLeadingError } from '../election/fenced-client.js';
import { ApiConnection, ApiRequestError } from './api-connection.js';
import { answer, type HttpServer, type HttpServerSettings, serveHttp } from './http-server-fixtures.js';

const servers: HttpServer[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) await server.close();
});

async function serve(handler: Parameters<typeof serveHttp>[0], settings?: HttpServerSettings): Promise<HttpServer> {
  const server = await serveHttp(handler, settings);
  servers.push(server);
  return server;
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('no error'),
    (error: unknown) => error as ApiRequestError,
  );

describe('a request', () => {
  it('has the token, the user agent, and JSON', async () => {
    const seen: unknown[] = [];
    const { connection } = await serve(async (request, response) => {
      const { authorization, accept, 'user-agent': agent, 'content-type': type, 'content-length': length } = request.headers;
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      seen.push([request.method, request.url, authorization, accept, agent, type, length, Buffer.concat(chunks).toString()]);
      response.end('{"a":1}');
    });
    expect(await connection.request({ method: 'POST', path: '/x', body: { b: 'é' } })).toEqual({ a: 1 });
    await connection.request({ method: 'PATCH', path: '/x', body: null, contentType: 'application/merge-patch+json' });
    await connection.request({ method: 'GET', path: '/x?y=z', accept: 'text/plain' });
    const json = 'application/json';
    expect(seen).toEqual([
      ['POST', '/x', 'Bearer mine', json, 'test', json, '10', '{"b":"é"}'],
      ['PATCH', '/x', 'Bearer mine', json, 'test', 'application/merge-patch+json', '4', 'null'],
      ['GET', '/x?y=z', 'Bearer mine', 'text/plain', 'test', undefined, undefined, ''],
    ]);
  });

  it('has the headers of the cluster in addition to its own', async () => {
    const { url } = await serve(({ headers }, response) =>
      response.end(JSON.stringify([headers['impersonate-user'], headers.accept])),
    );
    const cluster = { server: url, tls: {}, authorization: async () => undefined, namespace: 'default' };
    const connection = new ApiConnection({ ...cluster, headers: { 'impersonate-user': 'limited' } }, { userAgent: 'test' });
    expect(await connection.request({ method: 'GET', path: '/' })).toEqual(['limited', 'application/json']);
    connection.close();
  });

  it.each([
    ['', '/api'],
    ['/', '/api'],
    ['/k8s/clusters/c-1', '/k8s/clusters/c-1/api'],
    ['/k8s/clusters/c-1/', '/k8s/clusters/c-1/api'],
  ])('to a server whose URL ends with %j has the path %s', async (path, expected) => {
    const { connection } = await serve((request, response) => response.end(JSON.stringify(request.url)), { path });
    expect(await connection.request({ method: 'GET', path: '/api' })).toBe(expected);
  });

  it('uses the connection of the request before it; close ends those of requests and of watches', async () => {
    const { connection, connected, disconnected } = await serve((request, response) => {
      if (request.url === '/watch') response.write('line\n');
      else response.end('{}');
    });
    await connection.request({ method: 'GET', path: '/' });
    await connection.request({ method: 'GET', path: '/' });
    expect(connected()).toBe(1);
    await new Promise<void>((resolve) => {
      connection.stream({ path: '/watch' }, { onLine: () => resolve(), onEnd: () => undefined });
    });
    expect(connected()).toBe(2);
    connection.close();
    await disconnected();
  });

  it('is reported with its status, its time and the date of its answer, without the query; status 0 means no answer', async () => {
    const observed: unknown[] = [];
    const { connection, close } = await serve(
      (request, response) => answer(request.url === '/b' ? 404 : 200)(request, response),
      {
        onRequest: ({ durationMs, date, ...request }) => {
          const isDated = !Number.isNaN(Date.parse(date ?? ''));
          observed.push({ ...request, isDated, isShort: durationMs >= 0 && durationMs < 60_000 });
        },
      },
    );
    await connection.request({ method: 'GET', path: '/a?b=c' });
    await failure(connection.request({ method: 'DELETE', path: '/b' }));
    await close();
    servers.pop();
    await failure(connection.request({ method: 'GET', path: '/c?d' }));
    expect(observed).toEqual([
      { method: 'GET', path: '/a', status: 200, isDated: true, isShort: true },
      { method: 'DELETE', path: '/b', status: 404, isDated: true, isShort: true },
      { method: 'GET', path: '/c', status: 0, isDated: false, isShort: true },
    ]);
  });

  it.each([
    ['when there is a token', [false]],
    ['when there is a connection', [true, false]],
  ])('that is no longer allowed %s is not sent', async (_, answers) => {
    const asked: unknown[] = [];
    const { connection } = await serve(({ url }, response) => {
      asked.push(url);
      response.end();
    });
    const given = [...answers];
    const mayBegin = () => given.shift() ?? expect.fail('asked once more');
    const error = await failure(connection.request({ method: 'POST', path: '/guarded', body: {}, mayBegin }));
    expect([error, given]).toEqual([expect.any(NotLeadingError), []]);
    await connection.request({ method: 'POST', path: '/next', mayBegin: () => true });
    expect(asked).toEqual(['/next']);
  });

  it('whose answer is not JSON is an error that names the request and the beginning of the answer', async () => {
    const { connection } = await serve(answer(200, `\n<html>${'x'.repeat(200)}`));
    const error = await failure(connection.request({ method: 'GET', path: '/a?b' }));
    expect(error.message).toBe(`GET /a: the answer is not JSON: "<html>${'x'.repeat(94)}"`);
    expect(error.cause).toBeInstanceOf(SyntaxError);
  });

  it('whose answer is a redirect, as of a proxy, is an error that says where to', async () => {
    const { connection } = await serve((_, response) =>
      response.writeHead(302, { location: 'https://login.example.org/' }).end(),
    );
    const error = await failure(connection.request({ method: 'GET', path: '/a' }));
    expect(error.message).toBe('GET /a: 302 redirect to https://login.example.org/: no API server does that');
  });

  it('without an answer is an error that names the request and its cause, without a status', async () => {
    const { connection } = await serve(({ socket }) => socket.destroy());
    const error = await failure(connection.request({ method: 'GET', path: '/a?token=x' }));
    expect(error).toBeInstanceOf(ApiRequestError);
    expect([error.message, error.status]).toEqual([expect.stringMatching(/^GET \/a: socket hang up/), undefined]);
    expect(error.cause).toHaveProperty('code', 'ECONNRESET');
  });
});

describe('an answer with an error status', () => {
  const status = { kind: 'Status', reason: 'AlreadyExists', message: 'pods "a" already exists' };

  it.each<[string, Parameters<typeof answer>, Partial<ApiRequestError>]>([
    [
      'a Status: its reason and its message',
      [409, status],
      { message: 'GET /a: 409 pods "a" already exists', status: 409, reason: 'AlreadyExists', retryAfterMs: undefined },
    ],
    [
      'with Retry-After in seconds',
      [429, { reason: 'TooManyRequests' }, { 'retry-after': '3' }],
      { status: 429, reason: 'TooManyRequests', retryAfterMs: 3_000 },
    ],
    [
      'with Retry-After as a date, which is not used',
      [503, 'later', { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }],
      { message: 'GET /a: 503 later', status: 503, reason: undefined, retryAfterMs: undefined },
    ],
    ['no JSON: the text', [502, '\n  Bad Gateway \n'], { message: 'GET /a: 502 Bad Gateway', status: 502, reason: undefined }],
    ['long text: its first 200 characters', [502, 'x'.repeat(300)], { message: `GET /a: 502 ${'x'.repeat(200)}` }],
    ['nothing: the status alone', [500], { message: 'GET /a: 500 HTTP 500', status: 500 }],
    ['blank text: the status alone', [500, ' \n'], { message: 'GET /a: 500 HTTP 500' }],
    [
      'JSON that is not a Status: the text',
      [400, { reason: 1, message: 2 }],
      { message: 'GET /a: 400 {"reason":1,"message":2}', reason: undefined },
    ],
    ['null: the text', [400, 'null'], { message: 'GET /a: 400 null', reason: undefined }],
    ['a redirection, which is not followed', [300, 'elsewhere'], { message: 'GET /a: 300 elsewhere', status: 300 }],
    ['304', [304], { message: 'GET /a: 304 HTTP 304', status: 304 }],
  ])('%s', async (_, answered, expected) => {
    const { connection } = await serve(answer(...answered));
    const error = await failure(connection.request({ method: 'GET', path: '/a?limit=1' }));
    expect(error).toMatchObject(expected);
    const end = await new Promise((resolve) => {
      connection.stream({ path: '/a?watch=true' }, { onLine: () => expect.fail('a line'), onEnd: resolve });
    });
    expect(end).toMatchObject(expected);
  });

  it.each([201, 204, 299])('%d is a success', async (code) => {
    const { connection } = await serve(answer(code));
    expect(await connection.request({ method: 'GET', path: '/' })).toBeUndefined();
  });
});

describe('a stream', () => {
  /** A stream that is open, with what it has reported. */
  async function open(settings?: HttpServerSettings) {
    const lines: string[] = [];
    const ends: unknown[] = [];
    const [answered, lined, ended] = [
      Promise.withResolvers<ServerResponse>(),
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ];
    const server = await serve((_, response) => {
      response.write('first\n');
      answered.resolve(response);
    }, settings);
    const stop = server.connection.stream(
      { path: '/' },
      {
        onLine: (line) => {
          lines.push(line);
          lined.resolve();
        },
        onEnd: (error) => {
          ends.push(error);
          ended.resolve();
        },
      },
    );
    const response = await answered.promise;
    await lined.promise;
    return { server, stop, response, lines, ends, ended: ended.promise };
  }

  it('gives the lines that are not blank, and the end once', async () => {
    const { server, response, lines, ends, ended } = await open();
    response.write('\n \r\nsecond\r\nthi');
    response.write('rd\nrest without an end');
    response.end();
    await ended;
    expect(lines).toEqual(['first', 'second\r', 'third']);
    server.connection.close();
    await server.disconnected();
    expect(ends).toEqual([undefined]);
  });

  it('that breaks off ends with an error, once', async () => {
    const { server, response, ends, ended } = await open();
    response.destroy();
    await ended;
    await server.disconnected();
    expect(ends).toEqual([expect.objectContaining({ code: 'ECONNRESET' })]);
  });

  it('that is stopped reports nothing more, and its connection is closed', async () => {
    const { server, stop, response, lines, ends } = await open();
    response.write('second\n');
    stop();
    await server.disconnected();
    stop();
    expect([lines, ends]).toEqual([['first'], []]);
  });

  it('that is stopped before there is an answer reports nothing, and its connection is closed', async () => {
    const asked = Promise.withResolvers<void>();
    const { connection, connected, disconnected } = await serve(() => asked.resolve());
    const unexpected = () => expect.fail('reported');
    const stop = connection.stream({ path: '/' }, { onLine: unexpected, onEnd: unexpected });
    await asked.promise;
    stop();
    await disconnected();
    expect(connected()).toBe(1);
  });

  it('without an answer ends with an error after the time-out; with one it may last', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const asked = Promise.withResolvers<void>();
    const { connection } = await serve(() => asked.resolve(), { timeoutMs: 5_000 });
    const ended = new Promise((resolve) => connection.stream({ path: '/' }, { onLine: () => undefined, onEnd: resolve }));
    await asked.promise;
    vi.advanceTimersByTime(5_000);
    expect(await ended).toMatchObject({ name: 'AbortError', cause: { message: 'no answer within 5000 ms' } });

    const { stop, lines, ends } = await open({ timeoutMs: 5_000 });
    expect([vi.getTimerCount(), lines, ends]).toEqual([0, ['first'], []]);
    stop();
  });

  it.each([
    ['is stopped', true],
    ['is refused', false],
  ])('that %s leaves no timer', async (_, isStopped) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { connection } = await serve(isStopped ? () => undefined : answer(403));
    const ended = Promise.withResolvers<unknown>();
    const stop = connection.stream({ path: '/' }, { onLine: () => undefined, onEnd: ended.resolve });
    expect(vi.getTimerCount()).toBe(1);
    if (isStopped) stop();
    else await ended.promise;
    expect(vi.getTimerCount()).toBe(0);
  });
});
