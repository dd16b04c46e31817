import { once } from 'node:events';
import net from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ipPool, mac } from '../pool/pool-object-fixtures.js';
import type { PageSource } from '../source/page-source.js';
import { MOST_STREAMS } from './event-streams.js';
import { granted, openStream, servePage } from './page-handler-fixtures.js';

type Served = Awaited<ReturnType<typeof servePage>>;
const started: Served[] = [];

async function serve(...differences: Parameters<typeof servePage>): Promise<Served> {
  const served = await servePage(...differences);
  started.push(served);
  return served;
}

afterEach(async () => {
  await Promise.all(started.splice(0).map(({ server }) => server.stop()));
});

const POOL = ipPool({ allocated: { '10.0.0.4': mac(1), '10.0.0.5': mac(2), '10.0.0.6': mac(3) } });

describe('the page over HTTP', () => {
  it.each(['/', '/assets/style.css', '/api/overview', '/nothing'])(
    '%s has the headers that isolate it from other sites',
    async (path) => {
      const { get } = await serve();
      const { headers } = await get(path);
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      );
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
      });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    },
  );

  it('files need no token, have an ETag, and are not sent again', async () => {
    const { get, decisions } = await serve();
    decisions.next = { kind: 'refused', status: 401, error: 'token-missing', message: 'no' };
    const { status, headers, text } = await get('/');
    expect([status, headers.etag, text]).toEqual([200, '"1"', '<!doctype html>']);
    expect(await get('/', { headers: { 'if-none-match': '"0", "1"' } })).toMatchObject({ status: 304, text: '' });
    expect(await get('/', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  it.each([
    '/assets/../package.json',
    '/assets/%2e%2e/package.json',
    '/assets/..%2f..%2fpackage.json',
    '/../../etc/passwd',
    '//etc/passwd',
    '/assets/style.css%00',
    '/assets/',
    '/api/__proto__',
    '/api/constructor',
    '/api/pools/a/b/c',
    '/api/pools/%ff/x',
  ])('there is nothing at %s', async (path) => {
    const { get } = await serve();
    expect(await get(path)).toMatchObject({ status: 404 });
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is refused', async (method) => {
    const { get } = await serve();
    expect(await get('/api/overview', { method })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });

  it('data is shown only to users with the right, and never stored by the browser', async () => {
    const { get, decisions } = await serve();
    const { status, headers, text } = await get('/api/overview');
    expect([status, headers['cache-control'], headers['content-type']]).toEqual([200, 'no-store', 'application/json']);
    expect(JSON.parse(text)).toMatchObject({ source: 'cluster', version: '1.2.3', servedBy: 'pod-1', user: 'ann', atMs: 1_000 });
    decisions.next = { kind: 'refused', status: 503, error: 'unavailable', message: 'later', retryAfterSeconds: 5 };
    for (const path of ['/api/overview', '/api/leases', '/api/events', '/api/nothing'])
      expect(await get(path)).toMatchObject({
        status: 503,
        headers: { 'retry-after': '5' },
        text: '{"error":"unavailable","message":"later"}',
      });
  });

  it('a section without its right names the right; a section that is off does not exist', async () => {
    const { get, decisions, put } = await serve();
    put(POOL);
    decisions.next = granted('bob', ['agents']);
    expect(await get('/api/pools/default/net')).toMatchObject({ status: 403, text: expect.stringContaining('list pools') });
    expect(await get('/api/leases')).toMatchObject({ status: 403 });
    expect(await get('/api/agents')).toMatchObject({ status: 200 });
    expect(JSON.parse((await get('/api/overview')).text)).toMatchObject({ pools: [], totals: { used: 0 } });
  });

  it('a pool has its map, and its leases arrive in parts', async () => {
    const { get, put } = await serve();
    put(POOL);
    expect(JSON.parse((await get('/api/pools/default/net')).text)).toMatchObject({
      summary: { key: 'default/net' },
      map: { size: 16 },
    });
    expect(await get('/api/pools/default/gone')).toMatchObject({ status: 404 });
    const first = JSON.parse((await get('/api/leases?pool=default/net&limit=2')).text);
    expect(first).toMatchObject({ total: 3, rows: [{ address: '10.0.0.4', machine: 'default/web' }, { address: '10.0.0.5' }] });
    const rest = JSON.parse(
      (await get(`/api/leases?pool=default/net&limit=2&continue=${encodeURIComponent(first.continue)}`)).text,
    );
    expect(rest).toMatchObject({ total: 3, continue: null, rows: [{ address: '10.0.0.6' }] });
  });

  it.each([
    ['10.0.0.5', ['10.0.0.5']],
    ['02:00:00:00:00:03', ['10.0.0.6']],
    ['02-00-00-00-00-03', ['10.0.0.6']],
    ['020000000001', ['10.0.0.4']],
    ['WEB', ['10.0.0.4', '10.0.0.5', '10.0.0.6']],
    ['nothing like it', []],
  ])('a search for %s', async (search, addresses) => {
    const { get, put } = await serve();
    put(POOL);
    const { rows } = JSON.parse((await get(`/api/leases?search=${encodeURIComponent(search)}`)).text);
    expect(rows.map(({ address }: { address: string }) => address)).toEqual(addresses);
  });

  it.each([
    ['2001:DB8:48::5', ['10.0.0.5']],
    ['2001:0db8:0048:0:0:0:0:5', ['10.0.0.5']],
    ['48::5', ['10.0.0.5']],
    ['48', []],
    ['db8', []],
  ])('a search for %s in a pool with IPv6', async (search, addresses) => {
    const { get, put } = await serve();
    put({ ...POOL, spec: { ...(POOL.spec as object), ipv6Config: { cidr: '2001:db8:48::/64' } } });
    const { rows } = JSON.parse((await get(`/api/leases?search=${encodeURIComponent(search)}`)).text);
    expect(rows.map(({ address }: { address: string }) => address)).toEqual(addresses);
  });

  it('a user who may not list VirtualMachineNetworkConfigs neither sees nor finds names of virtual machines', async () => {
    const { get, put, decisions } = await serve();
    put(POOL);
    decisions.next = granted('bob', ['pools']);
    expect(JSON.parse((await get('/api/leases?search=web')).text).rows).toEqual([]);
    expect((await get('/api/leases')).text).not.toContain('default/web');
  });

  it.each(['limit=0', 'limit=501', 'limit=x', 'continue=x', `search=${'x'.repeat(201)}`])('%s is refused', async (query) => {
    const { get } = await serve();
    expect(await get(`/api/leases?${query}`)).toMatchObject({ status: 400 });
  });

  it('without a token the page answers only to names of this host, so no other site can read it', async () => {
    const { get } = await serve({ onlyLoopbackNames: true });
    for (const host of ['127.0.0.1', 'localhost:8068', '[::1]:8068'])
      expect(await get('/', { headers: { host } })).toMatchObject({ status: 200 });
    for (const host of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example'])
      expect(await get('/api/overview', { headers: { host } })).toMatchObject({ status: 403 });
  });

  it('the same failure is reported once a minute, because open pages ask again every few seconds', async () => {
    let problem = 'events is forbidden';
    const { get, errors, clock } = await serve({ access: { decide: () => Promise.reject(new Error(problem)) } });
    for (let asked = 0; asked < 3; asked++) expect(await get('/api/overview')).toMatchObject({ status: 500 });
    expect(errors.map(String)).toEqual(['Error: events is forbidden']);
    problem = 'another';
    await get('/api/overview');
    expect(errors).toHaveLength(2);
    await clock.advance(60_000);
    await get('/api/overview');
    expect(errors).toHaveLength(3);
  });

  it('a bug costs one answer, is logged, and its message is not sent to clients', async () => {
    const { get, errors, server } = await serve({ access: { decide: () => Promise.reject(new Error('secret')) } });
    expect(await get('/api/overview')).toMatchObject({ status: 500, text: expect.not.stringContaining('secret') });
    expect(errors).toHaveLength(1);
    expect(server.streams).toBe(0);
  });
});

describe('many requests of one user', () => {
  const as = (user: string) => ({ headers: { authorization: `Bearer ${user}` } });
  const access = { decide: async (token = '') => granted(token) };
  const nothing = { rows: [], total: 0, broken: 0, continue: null };

  it('do not delay other users: long work is done in slices', async () => {
    const begun = Promise.withResolvers<void>();
    let isOver = false;
    const machines: PageSource['machines'] = async ({ pause }) => {
      begun.resolve();
      while (!isOver) await pause();
      return nothing;
    };
    const { get } = await serve({ access }, { machines });
    const slow = Array.from({ length: 20 }, () => get('/api/machines-without-address', as('mallory')));
    await begun.promise;
    expect(await get('/api/overview', as('ann'))).toMatchObject({ status: 200 });
    isOver = true;
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual(slow.map(() => 200));
  });

  it('are dropped when the connection is closed, even during the work', async () => {
    const allocated = Object.fromEntries(
      Array.from({ length: 60_000 }, (_, index) => [`10.0.${1 + (index >> 8)}.${index & 255}`, mac(index)]),
    );
    const config = { cidr: '10.0.0.0/16', pool: { start: '10.0.1.0', end: '10.0.255.0' } };
    let looked = 0;
    const machineOf: PageSource['machineOf'] = () => {
      if (looked++ === 0) socket.resetAndDestroy();
      return '';
    };
    const { server, errors, put, get } = await serve({ access }, { machineOf });
    put(ipPool({ config, allocated }));
    const socket = net.connect(server.port, '127.0.0.1');
    socket.write('GET /api/leases?search=nobody HTTP/1.1\r\nhost: x\r\nauthorization: Bearer mallory\r\n\r\n');
    await once(socket, 'close');
    for (let asked = 0; asked < 50; asked++) await get('/api/overview', as('ann'));
    expect(looked).toBeGreaterThan(0);
    expect(looked).toBeLessThan(60_000);
    expect(errors).toEqual([]);
  });

  it('that do not wait for answers are refused beyond a limit, without affecting others', async () => {
    const [all, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let waiting = 0;
    const hosts: PageSource['hosts'] = async () => {
      if (++waiting === 32) all.resolve();
      await release.promise;
      return { clusterAgents: [], hosts: [], counts: { ok: 0, broken: 0, unknown: 0 } };
    };
    const { server, get } = await serve({ access }, { hosts });
    const socket = net.connect(server.port, '127.0.0.1');
    let text = '';
    socket.on('data', (part) => {
      text += String(part);
    });
    const request = 'GET /api/hosts HTTP/1.1\r\nhost: x\r\nauthorization: Bearer mallory\r\n\r\n';
    socket.write(request.repeat(33));
    await all.promise;
    expect(await get('/api/overview', as('ann'))).toMatchObject({ status: 200 });
    expect(await get('/api/overview', as('mallory'))).toMatchObject({ status: 429 });
    release.resolve();
    await expect.poll(() => text.split('HTTP/1.1 429').length - 1, { timeout: 20_000 }).toBe(1);
    expect(text.split('HTTP/1.1 200').length - 1).toBe(32);
    expect(await get('/api/overview', as('mallory'))).toMatchObject({ status: 200 });
    socket.destroy();
  });

  it('over many connections do not close the pages of others', async () => {
    const { server, get } = await serve({ access });
    const stream = await openStream(server.port, '/api/events', as('ann'));
    await stream.until('hello');
    const sockets: net.Socket[] = [];
    for (let index = 0; index < 300; index++) {
      const socket = net.connect(server.port, '127.0.0.1');
      socket.on('error', () => undefined);
      sockets.push(socket);
      socket.write('GET /api/overview HTTP/1.1\r\nhost: x\r\nauthorization: Bearer mallory\r\n\r\n');
      await once(socket, 'data');
    }
    expect(server.streams).toBe(1);
    expect(await get('/api/overview', as('ann'))).toMatchObject({ status: 200 });
    for (const socket of sockets) socket.destroy();
    stream.close();
  });
});

describe('events over HTTP', () => {
  it('begin with hello, go on with changes, and are kept alive', async () => {
    const { server, put, get, clock } = await serve();
    put(POOL);
    const { version } = JSON.parse((await get('/api/pools/default/net')).text);
    const stream = await openStream(server.port, `/api/events?pool=default/net&version=${version}`);
    await stream.until('event: hello\ndata: {"instance":"one","keepAliveMs":15000}\n\n');
    put(ipPool({ allocated: { '10.0.0.4': mac(1) } }));
    await clock.advance(1_000);
    await stream.until('"removed":["10.0.0.5","10.0.0.6"]');
    await clock.advance(15_000);
    await stream.until('\n:\n\n');
    stream.close();
  });

  it('end when the token expires, when rights change, and when the API server does not answer', async () => {
    const { server, decisions, clock } = await serve();
    for (const [next, reason] of [
      [{ kind: 'refused', status: 401, error: 'token-refused', message: 'expired' }, 'session-over'],
      [granted('ann', ['pools']), 'session-over'],
      [{ kind: 'refused', status: 503, error: 'unavailable', message: 'later' }, 'unavailable'],
    ] as const) {
      decisions.next = granted('ann');
      const stream = await openStream(server.port);
      await stream.until('hello');
      await clock.advance(59_999);
      decisions.next = next;
      await clock.advance(1);
      await stream.until(`event: end\ndata: {"reason":"${reason}"`);
      await stream.closed;
    }
    expect(server.streams).toBe(0);
  });

  it('are limited for each user and for all, and free their place when they close', async () => {
    const { server, decisions, get } = await serve();
    const open = async (user: string) => {
      decisions.next = granted(user);
      const stream = await openStream(server.port);
      await stream.until('hello');
      return stream;
    };
    const streams = [];
    for (let index = 0; index < 8; index++) streams.push(await open('ann'));
    decisions.next = granted('ann');
    expect(await get('/api/events')).toMatchObject({ status: 429 });
    for (let index = 8; index < MOST_STREAMS; index++) streams.push(await open(`user-${index}`));
    decisions.next = granted('late');
    expect(await get('/api/events')).toMatchObject({ status: 429 });
    expect(await get('/api/overview')).toMatchObject({ status: 200 });
    for (const stream of streams) stream.close();
    await expect.poll(() => server.streams, { timeout: 20_000 }).toBe(0);
    (await open('late')).close();
  });

  it('are not opened for a client that left while its access was being decided', async () => {
    const asked = Promise.withResolvers<void>();
    const decision = Promise.withResolvers<void>();
    const { server, get } = await serve({
      access: {
        decide: async () => {
          asked.resolve();
          await decision.promise;
          return granted('ann');
        },
      },
    });
    const socket = net.connect(server.port, '127.0.0.1');
    socket.write('GET /api/events HTTP/1.1\r\nhost: x\r\n\r\n');
    await asked.promise;
    socket.resetAndDestroy();
    await once(socket, 'close');
    // Answered after the server has seen the end of the other connection.
    expect(await get('/')).toMatchObject({ status: 200 });
    decision.resolve();
    expect(await get('/api/overview')).toMatchObject({ status: 200 });
    expect(server.streams).toBe(0);
  });

  it('are not closed by connections without a token', async () => {
    const { server, decisions } = await serve();
    const stream = await openStream(server.port);
    await stream.until('hello');
    decisions.next = { kind: 'refused', status: 401, error: 'token-missing', message: 'no' };
    const sockets: net.Socket[] = [];
    for (let index = 0; index < 300; index++) {
      const socket = net.connect(server.port, '127.0.0.1');
      socket.on('error', () => undefined);
      sockets.push(socket);
      socket.write(`GET ${index % 2 === 0 ? '/' : '/api/overview'} HTTP/1.1\r\nhost: x\r\n\r\n`);
      await once(socket, 'data');
    }
    expect(server.streams).toBe(1);
    for (const socket of sockets) socket.destroy();
    stream.close();
  });

  it('end for a client that does not read', async () => {
    const { server, put, clock } = await serve();
    put(POOL);
    const socket = net.connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.pause();
    socket.write('GET /api/events HTTP/1.1\r\nhost: x\r\n\r\n');
    await expect.poll(() => server.streams, { timeout: 20_000 }).toBe(1);
    const message = 'x'.repeat(1_000);
    for (let round = 0; server.streams > 0 && round < 2_000; round++) {
      const conditions = Array.from({ length: 20 }, (_, index) => ({
        type: `T${index}`,
        status: 'False',
        reason: `R${index}-${round}`,
        message,
      }));
      put(ipPool({ conditions }));
      await clock.advance(1_000);
      // Meanwhile the kernel buffers what it can.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(server.streams).toBe(0);
    socket.destroy();
  });

  it('end when the server ends', async () => {
    const { server } = await serve();
    const stream = await openStream(server.port);
    await stream.until('hello');
    const stopped = server.stop();
    await stream.until('"reason":"stopping"');
    await Promise.all([stopped, stream.closed]);
  });

  it('idle connections do not block other requests', async () => {
    const { server, get } = await serve();
    const sockets = await Promise.all(
      Array.from({ length: 300 }, async () => {
        const socket = net.connect(server.port, '127.0.0.1');
        socket.on('error', () => undefined);
        await once(socket, 'connect');
        return socket;
      }),
    );
    expect(await get('/api/overview')).toMatchObject({ status: 200 });
    for (const socket of sockets) socket.destroy();
  });
});
