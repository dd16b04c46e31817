import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiConnection, ApiRequestError } from './api-connection.js';
import { errorForLog } from './error-for-log.js';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function listen(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer(onConnection);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

function connectionTo(server: string, timeoutMs?: number): ApiConnection {
  const connection = new ApiConnection(
    { server, tls: {}, authorization: async () => undefined, namespace: 'default' },
    { userAgent: 'test', ...(timeoutMs !== undefined && { timeoutMs }) },
  );
  ends.push(() => connection.close());
  return connection;
}

/** The error of a watch that begins at a server. */
async function watchError(server: string, timeoutMs?: number): Promise<unknown> {
  return await new Promise((resolve) => {
    connectionTo(server, timeoutMs).stream({ path: '/apis' }, { onLine: () => undefined, onEnd: resolve });
  });
}

async function closedPort(): Promise<number> {
  const server = http.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('errorForLog', () => {
  it('a server that is not there is a sentence', async () => {
    const port = await closedPort();
    expect(errorForLog(await watchError(`http://127.0.0.1:${port}`))).toBe(
      `connect ECONNREFUSED 127.0.0.1:${port}: nothing listens there`,
    );
  });

  it('a connection that is closed, reset, or without HTTP or TLS is a sentence', async () => {
    const closing = await listen((socket) => socket.destroy());
    expect(errorForLog(await watchError(`http://127.0.0.1:${closing}`))).toMatch(/: the other side closed the connection$/);
    const strange = await listen((socket) => {
      socket.on('error', () => undefined);
      socket.end('what is this?\r\n\r\n');
    });
    expect(errorForLog(await watchError(`http://127.0.0.1:${strange}`))).toMatch(/^Parse Error/);
    expect(errorForLog(await watchError(`https://127.0.0.1:${strange}`))).toBeTypeOf('string');
  });

  it('an answer that is not JSON, as of a page to sign in, is a sentence', async () => {
    const server = http.createServer((_, response) => response.end('<html>sign in</html>')).listen(0, '127.0.0.1');
    ends.push(() => server.close());
    await once(server, 'listening');
    const connection = connectionTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const error = await connection.request({ method: 'GET', path: '/api' }).catch((caught: unknown) => caught);
    expect(errorForLog(error)).toMatch(/^GET \/api: the answer is not JSON: "<html>sign in<\/html>"/);
  });

  it('no answer in time is a sentence', async () => {
    const silent = await listen((socket) => {
      ends.push(() => socket.destroy());
    });
    expect(errorForLog(await watchError(`http://127.0.0.1:${silent}`, 50))).toBe('no answer within 50 ms');
  });

  it.each([
    ['EAI_AGAIN', 'getaddrinfo EAI_AGAIN api', 'getaddrinfo EAI_AGAIN api: the name server did not answer'],
    ['ETIMEDOUT', 'connect ETIMEDOUT 10.0.0.1:443', 'connect ETIMEDOUT 10.0.0.1:443: there was no answer in time'],
    ['CERT_HAS_EXPIRED', 'certificate has expired', 'certificate has expired'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', 'self-signed certificate'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', "Hostname/IP does not match certificate's altnames", expect.stringContaining('altnames')],
  ])('%s is a sentence', (code, message, expected) => {
    expect(errorForLog(Object.assign(new Error(message), { code }))).toEqual(expected);
  });

  it('several addresses that do not answer are one sentence', () => {
    const attempts = ['::1', '127.0.0.1'].map((address) =>
      Object.assign(new Error(`connect ECONNREFUSED ${address}:6443`), { code: 'ECONNREFUSED' }),
    );
    expect(errorForLog(new AggregateError(attempts))).toBe(
      'connect ECONNREFUSED ::1:6443: nothing listens there; connect ECONNREFUSED 127.0.0.1:6443: nothing listens there',
    );
  });

  it('a message of the API server is a sentence; a bug keeps its stack, also one among several errors', () => {
    expect(errorForLog(new ApiRequestError('GET /apis: 403 forbidden', { status: 403 }))).toBe('GET /apis: 403 forbidden');
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    expect(errorForLog(new ApiRequestError('GET /apis: no', { cause: refused }))).toBe('GET /apis: no');
    const bug = new TypeError('x is not a function');
    expect(errorForLog(new ApiRequestError('GET /apis: no', { cause: bug }))).toBeInstanceOf(ApiRequestError);
    expect(errorForLog(bug)).toBe(bug);
    expect(errorForLog(Object.assign(new Error('bad'), { code: 'ERR_INVALID_ARG_TYPE' }))).toBeInstanceOf(Error);
    expect(errorForLog(new AggregateError([bug]))).toBeInstanceOf(AggregateError);
    expect(errorForLog('forbidden: no')).toBe('forbidden: no');
  });
});

const named = (name: string) => Object.assign(new Error('x'), { name });

it.each<[string, Error, boolean]>([
  ['an aborted operation', named('AbortError'), true],
  ['a time-out', named('TimeoutError'), true],
  ['a bug', new TypeError('x is undefined'), false],
  ['a code of the system', Object.assign(new Error('x'), { code: 'EPIPE' }), true],
  ['a code of TLS', Object.assign(new Error('x'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), true],
  ['a code of Node that names a bug', Object.assign(new Error('x'), { code: 'ERR_INVALID_ARG_TYPE' }), false],
  ['attempts that all failed in the network', new AggregateError([named('TimeoutError'), named('AbortError')]), true],
  ['attempts of which one is a bug', new AggregateError([named('TimeoutError'), new TypeError('x')]), false],
  ['no attempts', new AggregateError([], 'x'), false],
  ['an answer of the server', new ApiRequestError('x', { status: 500 }), true],
  ['a bug on the way to the server', new ApiRequestError('x', { cause: new TypeError('x') }), false],
])('%s', (_, error, isSentence) => {
  expect(typeof errorForLog(error)).toBe(isSentence ? 'string' : 'object');
});
