/** Credentials that the server does not accept any more, as when a token without an expiry was revoked. */
import { afterEach, describe, expect, it } from 'vitest';
import { ApiConnection } from './api-connection.js';
import { type HttpServer, serveHttp } from './http-server-fixtures.js';

const open: { close: () => unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** A server that accepts one token, and a client whose token has a higher number each time that it forgets one. */
async function setUp({ accepted, canRenew = true }: { readonly accepted: string; readonly canRenew?: boolean }) {
  const seen: string[] = [];
  const server: HttpServer = await serveHttp((request, response) => {
    const { authorization = '' } = request.headers;
    seen.push(authorization);
    response.statusCode = authorization === accepted ? 200 : 401;
    response.end('{}');
  });
  let number = 1;
  const cluster = {
    server: server.url,
    tls: {},
    namespace: 'default',
    authorization: async () => `Bearer ${number}`,
    forget: () => {
      if (canRenew) number++;
    },
  };
  const connection = new ApiConnection(cluster, { userAgent: 'test' });
  open.push(connection, server);
  return { seen, connection, get: () => connection.request({ method: 'GET', path: '/' }) };
}

describe('a request that is refused with 401', () => {
  it('is sent again with new credentials', async () => {
    const { seen, get } = await setUp({ accepted: 'Bearer 2' });
    expect(await get()).toEqual({});
    expect(seen).toEqual(['Bearer 1', 'Bearer 2']);
    expect(await get()).toEqual({});
    expect(seen.slice(2)).toEqual(['Bearer 2']);
  });

  it('is sent again once, and fails if the new credentials are refused too', async () => {
    const { seen, get } = await setUp({ accepted: 'none' });
    await expect(get()).rejects.toMatchObject({ status: 401 });
    expect(seen).toEqual(['Bearer 1', 'Bearer 2']);
  });

  it('is not sent again with the same credentials', async () => {
    const { seen, get } = await setUp({ accepted: 'none', canRenew: false });
    await expect(get()).rejects.toMatchObject({ status: 401 });
    expect(seen).toEqual(['Bearer 1']);
  });
});

it('a watch that is refused with 401 ends, and the next one has new credentials', async () => {
  const { seen, connection } = await setUp({ accepted: 'Bearer 2' });
  const watch = () =>
    new Promise<unknown>((resolve) => void connection.stream({ path: '/' }, { onLine: () => undefined, onEnd: resolve }));
  expect(await watch()).toMatchObject({ status: 401 });
  expect(await watch()).toBeUndefined();
  expect(seen).toEqual(['Bearer 1', 'Bearer 2']);
});
