import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BareHostView } from '@vmdhcp/bare-host-agent';
import { type BareHostPageSettings, bareHostSource, startBareHostPage } from '@vmdhcp/bare-host-agent/page';
import { validatePool } from '@vmdhcp/dhcp-allocator';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import type { LeaseView } from '@vmdhcp/lease-stores';
import { holdersOf, toLease } from '@vmdhcp/status-page';
import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BareHostPageOptions, bareHostPageOptions, toBareHostPage } from './bare-host-page-options.js';

const POOL = 'default/net-48';
const NAMES = { instance: 'one', host: 'rack-7' };
const TOKEN = 'a-token-of-32-characters-or-more';

function checked() {
  const definition = { name: POOL, cidr: '10.0.0.0/28', serverAddress: '10.0.0.2', start: '10.0.0.4', end: '10.0.0.11' };
  const found = validatePool({ ...definition, exclude: [], reservations: [], options: {} });
  if (!found.ok) throw new Error(JSON.stringify(found.problems));
  return found.value;
}

function viewOf(
  leases: () => readonly LeaseView[],
  unserved: BareHostView['unserved'] = () => [],
  quarantines: BareHostView['quarantines'] = () => [],
): BareHostView {
  const planned = new Map([[POOL, { configured: { pool: checked() } as never }]]);
  return { planned: () => planned, leases, quarantines, unserved, interfacesOf: new Map([[POOL, ['br48']]]) };
}

const lease = (last: number, more: Partial<LeaseView> = {}): LeaseView => ({
  pool: POOL,
  address: `10.0.0.${last}`,
  macAddress: `02:00:00:00:00:0${last}`,
  state: 'bound',
  ...more,
});

describe('the pools of a bare host', () => {
  it('show a map; leases of unknown clients end, declared ones do not', () => {
    const expires = '2026-01-01T00:00:00Z';
    const leases = [lease(4, { expires }), lease(5, { dynamic: true, expires }), lease(6, { dynamic: true, expires: 'never' })];
    const source = bareHostSource(
      viewOf(() => leases),
      new FakeClock(),
      NAMES,
    );
    const found = source.pool(POOL)?.snapshot;
    expect(found?.summary).toMatchObject({ key: POOL, network: 'br48', state: 'ok', counts: { used: 3, free: 5 } });
    const clients = [...(found?.facts.clients.values() ?? [])];
    expect(clients.map(({ expiresAtMs }) => expiresAtMs)).toEqual([undefined, Date.parse(expires), undefined]);
    expect(clients.map(({ isUnknown = false }) => isUnknown)).toEqual([false, true, true]);
    expect(source.pool('default/other')).toBeUndefined();
  });

  it('show addresses of clients, and those that are kept for declared clients until they request them', async () => {
    const clock = new FakeClock();
    let leases = [lease(4), lease(5, { state: 'assigned', owner: 'printer', hostname: 'printer' })];
    const source = bareHostSource(
      viewOf(() => leases),
      clock,
      NAMES,
    );
    const rows = () => source.pools().flatMap((pool) => [...holdersOf(pool.facts)].map((row) => toLease(pool, row, () => '')));
    expect(source.pools()[0]?.summary).toMatchObject({ servedByPod: 'rack-7', counts: { used: 1, reserved: 1, free: 6 } });
    expect(rows()).toMatchObject([
      { address: '10.0.0.4', state: 'used' },
      { address: '10.0.0.5', state: 'reserved', machine: 'printer', hostname: 'printer' },
    ]);
    const version = source.pool(POOL)?.version;
    await clock.advance(2_000);
    expect(source.pool(POOL)?.version).toBe(version);
    leases = [lease(4), lease(5, { owner: 'printer' })];
    await clock.advance(2_000);
    expect(source.pools()[0]?.summary.counts).toMatchObject({ used: 2, reserved: 0, free: 6 });
    expect(source.pool(POOL)?.version).not.toBe(version);
  });

  it('show quarantined addresses; each new one and each that ends is another version', async () => {
    const clock = new FakeClock();
    let quarantines = [{ pool: POOL, address: 0x0a000006, untilMs: 5_000 }];
    const source = bareHostSource(
      viewOf(
        () => [],
        () => [],
        () => quarantines,
      ),
      clock,
      NAMES,
    );
    const found = source.pool(POOL);
    expect(found?.snapshot.summary.counts).toMatchObject({ free: 7, quarantined: 1 });
    expect(found?.snapshot.facts.quarantined).toEqual([{ address: 0x0a000006, untilMs: 5_000, usedBy: '' }]);
    await clock.advance(2_000);
    expect(source.pool(POOL)).toBe(found);
    quarantines = [];
    await clock.advance(2_000);
    expect(source.pool(POOL)?.snapshot.summary.counts).toMatchObject({ free: 8, quarantined: 0 });
  });

  it('show the reason why they are not served', () => {
    const source = bareHostSource(
      viewOf(
        () => [],
        () => [{ pool: POOL, reason: 'interface br48 is missing' }],
      ),
      new FakeClock(),
      NAMES,
    );
    expect(source.pools()[0]?.summary).toMatchObject({
      state: 'broken',
      reasons: [{ reason: 'NotServing', message: 'interface br48 is missing' }],
    });
  });

  it('keep their version while nothing changes, and are read once a second while a page is open, otherwise never', async () => {
    const clock = new FakeClock();
    let leases = [lease(4)];
    let reads = 0;
    const view = viewOf(() => {
      reads++;
      return leases;
    });
    const source = bareHostSource(view, clock, NAMES);
    const changes: unknown[] = [];
    const stop = source.onChange((change) => changes.push(change));
    await clock.advance(5_000);
    expect([source.pool(POOL)?.version, changes]).toEqual(['one-1', []]);
    expect(reads).toBeLessThanOrEqual(6);
    leases = [lease(4), lease(5)];
    await clock.advance(2_000);
    expect([source.pool(POOL)?.version, changes]).toEqual(['one-2', [{ section: 'pools', pool: POOL }]]);
    stop();
    expect(clock.pending).toBe(0);
  });
});

describe('the page of a bare host over HTTP', () => {
  let folder: string;
  const stops: (() => Promise<void>)[] = [];
  const log = { info: () => undefined, error: () => undefined } as never;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vmdhcp-page-'));
  });
  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
    rmSync(folder, { recursive: true });
  });

  async function serve(settings: Partial<BareHostPageSettings> = {}, leases = [lease(4)]) {
    const listen = { host: '127.0.0.1', port: 0 };
    const page = await startBareHostPage(
      { listen, tokenFile: undefined, tlsDirectory: undefined, ...settings },
      viewOf(() => leases),
      log,
    );
    stops.push(() => page.stop());
    await expect.poll(() => page.port, { timeout: 20_000 }).toBeDefined();
    return async (path: string, headers: http.OutgoingHttpHeaders = {}) => {
      const sent = http.get({ host: '127.0.0.1', port: page.port, path, headers, agent: false });
      const [response] = (await once(sent, 'response')) as [http.IncomingMessage];
      let text = '';
      for await (const part of response.setEncoding('utf8')) text += part;
      return { status: response.statusCode, text };
    };
  }

  it('needs no token on a loopback address, and answers only to its own names', async () => {
    const get = await serve();
    expect((await get('/')).text).toContain('<!doctype html>');
    const { status, text } = await get('/api/overview');
    expect([status, JSON.parse(text)]).toMatchObject([200, { source: 'bare-host', user: null, totals: { used: 1 } }]);
    expect(await get('/api/agents')).toMatchObject({ status: 404 });
    expect(await get('/api/overview', { host: 'evil.example' })).toMatchObject({ status: 403 });
  });

  it('says whom an address is for, and finds it by that', async () => {
    const get = await serve({}, [lease(4, { owner: 'default/web', hostname: 'www' }), lease(5)]);
    const { text } = await get('/api/leases?search=default/w');
    expect(JSON.parse(text)).toMatchObject({
      total: 1,
      rows: [{ address: '10.0.0.4', machine: 'default/web', hostname: 'www' }],
    });
  });

  it('needs the token if there is a token file', async () => {
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, `${TOKEN}\n`);
    const get = await serve({ tokenFile });
    expect(await get('/api/overview')).toMatchObject({ status: 401 });
    expect(await get('/api/overview', { authorization: `Bearer ${TOKEN}x` })).toMatchObject({ status: 401 });
    expect(await get('/api/overview', { authorization: `Bearer ${TOKEN}` })).toMatchObject({ status: 200 });
  });

  it.each(['', 'short', 'has spaces between its words'])('the token %j is refused at the start', async (token) => {
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, token);
    await expect(serve({ tokenFile })).rejects.toThrow('at least 16 characters');
    await expect(serve({ tokenFile: join(folder, 'missing') })).rejects.toThrow('cannot be read');
  });
});

describe('options of the page of a bare host', () => {
  const read = (...words: readonly string[]) => {
    const command = new Command('serve').exitOverride();
    for (const option of bareHostPageOptions()) command.addOption(option);
    return toBareHostPage(command.parse([...words], { from: 'user' }).opts<BareHostPageOptions>());
  };

  it('there is no page by default, and with --ui it is for this host alone', () => {
    expect(read()).toBeUndefined();
    expect(read('--ui')).toEqual({ listen: { host: '127.0.0.1', port: 8069 }, tokenFile: undefined, tlsDirectory: undefined });
  });

  it('another address needs a token and a certificate', () => {
    const other = ['--ui', '--ui-listen', '0.0.0.0:8069'];
    expect(() => read(...other)).toThrow('--ui-token-file and --ui-tls-directory');
    expect(() => read(...other, '--ui-token-file', '/token')).toThrow('--ui-token-file and --ui-tls-directory');
    expect(read(...other, '--ui-token-file', '/token', '--ui-tls-directory', '/tls')).toBeDefined();
  });
});
