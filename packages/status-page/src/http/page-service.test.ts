/** The page over real TLS, with a certificate that is replaced as kubelet replaces a Secret. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { POOLS_ALONE } from '../source/page-source.js';
import { granted } from './page-handler-fixtures.js';
import { PageService } from './page-service.js';

const WAIT = { timeout: 20_000 };
const DAY_MS = 86_400_000;
const LOOK_MS = 60_000;

interface Pair {
  readonly certificate: string;
  readonly key: string;
}

let one: Pair;
let other: Pair;

/** A self-signed certificate, valid for two days. */
function makePair(name: string): Pair {
  const parameters = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', '-', '-out', '-'];
  const text = execFileSync('openssl', [...parameters, ...subject], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const part = (kind: string) => new RegExp(`-----BEGIN ${kind}-----[^-]+-----END ${kind}-----\n`).exec(text)?.[0] ?? '';
  return { certificate: part('CERTIFICATE'), key: part('PRIVATE KEY') };
}

beforeAll(() => {
  [one, other] = [makePair('one'), makePair('other')];
});

let folder: string;
let versions: number;
let service: PageService;
let clock: FakeClock;
let log: string[];
let nowMs: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-page-tls-'));
  [versions, clock, log, nowMs] = [0, new FakeClock(), [], Date.now()];
});

afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

/** Replaces both files at once, as kubelet does. */
function put({ certificate, key }: Pair): void {
  const version = `..version-${++versions}`;
  mkdirSync(join(folder, version));
  writeFileSync(join(folder, version, 'tls.crt'), certificate);
  writeFileSync(join(folder, version, 'tls.key'), key);
  symlinkSync(version, join(folder, '..next'));
  renameSync(join(folder, '..next'), join(folder, '..data'));
}

function start(): void {
  service = new PageService({
    source: {
      ...POOLS_ALONE,
      kind: 'cluster',
      unready: () => [],
      pools: () => [],
      pool: () => undefined,
      onChange: () => () => undefined,
    },
    access: { decide: async () => granted('ann', ['pools']) },
    ...{ assets: new Map(), clock, wallTimeMs: () => nowMs, instance: 'one', version: '1', servedBy: 'pod-1' },
    ...{ onlyLoopbackNames: false, listen: { host: '127.0.0.1', port: 0 }, tlsDirectory: folder },
    onError: (error) => log.push(`error ${error}`),
    onListening: () => log.push('listening'),
    onReplaced: (endsAtMs) => log.push(`replaced ${endsAtMs > nowMs && endsAtMs < nowMs + 3 * DAY_MS}`),
    onProblem: (message) => log.push(message.replaceAll(folder, 'FOLDER')),
  });
  service.start();
}

/** Requests over a new connection that trusts only this certificate. */
async function get(path: string, { certificate: ca }: Pair): Promise<IncomingMessage> {
  const headers = { authorization: 'Bearer x' };
  const sent = https.get({ host: '127.0.0.1', port: service.port, path, ca, headers, agent: false });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

async function nameOf(pair: Pair): Promise<unknown> {
  const response = await get('/api/overview', pair);
  const { subject } = (response.socket as TLSSocket).getPeerCertificate();
  response.destroy();
  return [response.statusCode, subject.CN];
}

/** Waits for log lines. Threads read the files, so the clock of the test does not control them. */
async function logged(count: number, ms: number): Promise<readonly string[]> {
  await expect
    .poll(async () => {
      if (log.length < count) await clock.advance(ms);
      return log.length;
    }, WAIT)
    .toBe(count);
  return log;
}

describe('the page over HTTPS', { timeout: 60_000 }, () => {
  it('new connections see a replaced certificate, and an open page continues', async () => {
    put(one);
    start();
    await logged(1, 0);
    expect(await nameOf(one)).toEqual([200, 'one']);
    const events = await get('/api/events', one);
    const read = events[Symbol.asyncIterator]();
    expect(String((await read.next()).value)).toContain('event: hello');
    put(other);
    expect(await logged(2, LOOK_MS)).toEqual(['listening', 'replaced true']);
    expect(await nameOf(other)).toEqual([200, 'other']);
    await expect(nameOf(one)).rejects.toThrow(/certificate/);
    const next = read.next();
    await clock.advance(15_000);
    expect(String((await next).value)).toMatch(/^(:\n\n)+$/);
    expect(service.streams).toBe(1);
    events.destroy();
  });

  it.each<[string, () => Pair, string]>([
    ['a key of another certificate', () => ({ ...one, key: other.key }), 'tls.key is not the key of tls.crt; replace both files'],
    ['no certificate', () => ({ ...one, certificate: 'nonsense' }), 'tls.crt is not a certificate in PEM'],
    ['no key', () => ({ ...one, key: '' }), 'tls.key is not a private key in PEM'],
  ])('%s is not used: at the start nothing listens, later the former certificate stays', async (_, broken, problem) => {
    put(broken());
    start();
    expect((await logged(1, 0))[0]).toMatch(`the page on 127.0.0.1:0: FOLDER: ${problem}`);
    expect(service.port).toBeUndefined();
    put(one);
    expect((await logged(2, 5_000))[1]).toBe('listening');
    put(broken());
    expect((await logged(3, LOOK_MS))[2]).toMatch(new RegExp(`${problem}.*; the certificate before stays in use$`));
    expect(await nameOf(one)).toEqual([200, 'one']);
    put(other);
    expect((await logged(4, LOOK_MS))[3]).toBe('replaced true');
    expect(await nameOf(other)).toEqual([200, 'other']);
  });

  it('a certificate that has expired, or is not valid yet, is not used; one that expires in use is logged', async () => {
    nowMs = Date.now() + 3 * DAY_MS;
    put(one);
    start();
    expect((await logged(1, 0))[0]).toMatch(
      /tls\.crt has expired \(.*Z\); look at what renews it, and at the clock of this host$/,
    );
    nowMs = Date.now() - DAY_MS;
    expect((await logged(2, 5_000))[1]).toMatch(/tls\.crt is not valid yet/);
    nowMs = Date.now();
    await logged(3, 5_000);
    nowMs += 3 * DAY_MS;
    expect((await logged(4, LOOK_MS))[3]).toMatch(/tls\.crt has expired .*; the certificate before stays in use$/);
    expect(await nameOf(one)).toEqual([200, 'one']);
  });

  it('missing files are logged once', async () => {
    start();
    expect((await logged(1, 0))[0]).toMatch(/ENOENT.*tls\.(crt|key)/);
    put(one);
    expect(await logged(2, 5_000)).toEqual([expect.stringContaining('ENOENT'), 'listening']);
  });
});
