import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { CertificateKeeper, DEFAULT_TIMES, type KeptCertificate } from '@vmdhcp/service-certificates';
import { certificateIssuer, certificateReader } from '@vmdhcp/service-certificates/node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AdmissionAnswer } from './admission-message.js';
import { ADMISSION_PATHS, type AdmissionDecision, type AdmissionReviewer, AdmissionServer } from './admission-server.js';

const NAME = 'webhook.system.svc';
const NOW = Date.now();
const DAY_MS = 86_400_000;

let server: AdmissionServer;
let kept: KeptCertificate;
let review: AdmissionReviewer;
let decisions: AdmissionDecision[];
let malformed: string[];
let errors: unknown[];

/** One authority for each test, and its Secrets in memory. */
function createKeeper(times = DEFAULT_TIMES): CertificateKeeper {
  const stored = new Map<string, { resourceVersion: string; data: Readonly<Record<string, string>> }>();
  let version = 0;
  return new CertificateKeeper({
    secrets: {
      read: async (name) => stored.get(name) ?? { resourceVersion: undefined, data: {} },
      write: async (name, _before, data) => {
        version += 1;
        stored.set(name, { resourceVersion: String(version), data });
        return 'written';
      },
    },
    reader: certificateReader,
    issuer: certificateIssuer,
    authoritySecret: 'ca',
    servingSecret: 'tls',
    authorityName: 'test',
    names: [NAME],
    times,
  });
}

let keeper: CertificateKeeper;

beforeEach(async () => {
  keeper = createKeeper();
  kept = await keeper.keep(NOW);
  review = () => ({ response: { allowed: true } });
  decisions = [];
  malformed = [];
  errors = [];
  server = await AdmissionServer.start({
    listen: { host: '127.0.0.1', port: 0 },
    certificate: kept.pair,
    review: async (path, received) => await review(path, received),
    onDecided: (decision) => decisions.push(decision),
    onMalformed: (message) => malformed.push(message),
    onError: (error) => errors.push(error),
  });
});

afterEach(() => server.stop());

interface Answer {
  readonly status: number;
  readonly body: string;
}

interface Sent {
  readonly body?: string;
  readonly path?: string;
  readonly ca?: string;
  readonly agent?: Agent;
  readonly method?: string;
  /** Its source address; default: 127.0.0.1. */
  readonly localAddress?: string;
}

/** A pod beside the API server. */
const POD = '127.0.0.2';

/** Sends it as an API server does. @throws if TLS or the connection fails. */
function send({
  body = aReview(),
  path = ADMISSION_PATHS.validation,
  ca = kept.trusted,
  agent,
  method = 'POST',
  localAddress,
}: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server.port, servername: NAME, path: `${path}?timeout=5s`, method, ca };
    const from = localAddress === undefined ? {} : { localAddress };
    const sent = request({ ...options, ...from, agent: agent ?? false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString() }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

interface Unfinished {
  readonly closed: Promise<void>;
  readonly end: () => void;
}

/** The start of a request that never ends. */
function begin(body: string, localAddress: string): Unfinished {
  const path = ADMISSION_PATHS.validation;
  const options = { host: '127.0.0.1', port: server.port, servername: NAME, path, method: 'POST', ca: kept.trusted };
  const sent = request({ ...options, localAddress, agent: false });
  sent.on('error', () => undefined);
  sent.write(body);
  return { closed: new Promise((resolve) => sent.once('close', resolve)), end: () => void sent.destroy() };
}

/** The first lines of a request that is written by hand. */
const HEAD = `POST ${ADMISSION_PATHS.validation} HTTP/1.1\r\nHost: ${NAME}\r\n`;

/** Requests over one connection. */
const REPEATED = 2_000;
/** Sends each of them as soon as it has the previous response; then returns how many were answered. */
const REPEAT = `
  const { parentPort, workerData: { text, count, ...to } } = require('node:worker_threads');
  const socket = require('node:tls').connect({ host: '127.0.0.1', ...to }, () => socket.write(text));
  let answered = 0;
  socket.on('error', () => undefined);
  socket.on('data', () => (++answered < count ? socket.write(text) : socket.destroy()));
  socket.on('close', () => parentPort.postMessage(answered));
`;

function openRaw(): Socket {
  const socket = connectTls({ host: '127.0.0.1', port: server.port, servername: NAME, ca: kept.trusted });
  socket.on('error', () => undefined);
  return socket;
}

function aReview(more: object = {}): string {
  const asked = {
    uid: 'u1',
    resource: { resource: 'ippools' },
    operation: 'CREATE',
    object: { metadata: { name: 'a' } },
    ...more,
  };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: asked });
}

describe('AdmissionServer', () => {
  it('repeats the uid, and encodes the patch', async () => {
    const patch = [{ op: 'add', path: '/spec/a', value: 1 }] as const;
    review = () => ({ response: { allowed: true, warnings: ['unwise'] }, patch });
    const { status, body } = await send({ path: ADMISSION_PATHS.defaulting });
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: {
        uid: 'u1',
        allowed: true,
        warnings: ['unwise'],
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
      },
    });
    expect(decisions).toMatchObject([{ path: 'defaulting', resource: 'ippools', operation: 'CREATE', outcome: 'allowed' }]);
  });

  it.each<[string, string, string]>([
    ['no JSON', '{', 'the body is not a JSON object'],
    ['another kind', '{"kind":"Pod"}', 'is not an AdmissionReview of admission.k8s.io/v1'],
    ['no request', '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}', 'has no request'],
    ['no uid', aReview({ uid: '' }), 'request.uid is missing'],
    ['another operation', aReview({ operation: 'CONNECT' }), 'request.operation is none of CREATE, UPDATE, DELETE'],
    ['no object', aReview({ object: null }), 'request.object is missing'],
    ['an object that is none', aReview({ object: { metadata: 'x' } }), 'request.object is not an object with metadata'],
    [
      'an object of a hundred thousand values',
      aReview({ object: { metadata: {}, spec: new Array(100_000).fill(1) } }),
      'has more than 50000 values',
    ],
    [
      'an object with annotations that no API server stores',
      aReview({ object: { metadata: { annotations: { a: 'x'.repeat(300_000) } } } }),
      'has annotations with more than 262144 characters',
    ],
    ['a deletion without the object', aReview({ operation: 'DELETE' }), 'request.oldObject is missing'],
  ])('%s gets HTTP 400 with an explanation', async (_, body, message) => {
    expect(await send({ body })).toEqual({ status: 400, body: expect.stringContaining(message) as string });
    expect(malformed).toHaveLength(1);
  });

  it('an object with a long status and many managed fields is decided', async () => {
    const long = new Array(60_000).fill('x');
    const object = { metadata: { name: 'a', managedFields: long }, spec: {}, status: { ipv4: { allocated: long } } };
    expect((await send({ body: aReview({ object }) })).status).toBe(200);
  });

  it('a connection whose next request does not wait for the response is cut', async () => {
    const { promise: decided, resolve: decide } = Promise.withResolvers<AdmissionAnswer>();
    review = () => decided;
    const body = aReview();
    const socket = openRaw();
    let received = '';
    socket.on('data', (part: Buffer) => {
      received += part.toString();
    });
    socket.write(`${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`.repeat(2));
    await once(socket, 'close');
    decide({ response: { allowed: true } });
    expect(received).toBe('');
    expect((await send({})).status).toBe(200);
  });

  it('accepts the next request of a connection as soon as the client has the previous response', async () => {
    const body = aReview();
    const text = `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`;
    const workerData = { port: server.port, servername: NAME, ca: kept.trusted, text, count: REPEATED };
    // A client in this thread would not be scheduled before the server has ended its turn.
    const [answered] = await once(new Worker(REPEAT, { eval: true, workerData }), 'message');
    expect(answered).toBe(REPEATED);
  });

  it('a body in very small parts counts with the memory of these', async () => {
    const sockets = Array.from({ length: 5 }, openRaw);
    for (const socket of sockets) socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(30_000)}`);
    await vi.waitFor(() => expect(malformed).toContainEqual(expect.stringContaining('was cut')), 10_000);
    for (const socket of sockets) socket.destroy();
  });

  it('accepts at most 3 MiB', async () => {
    expect((await send({ body: aReview({ extra: 'x'.repeat(3_000_000) }) })).status).toBe(200);
    const tooLarge = await send({ body: 'x'.repeat(3_200_000) }).catch((error: NodeJS.ErrnoException) => error.code);
    // The connection may end while the rest is on its way.
    expect([413, 'ECONNRESET', 'EPIPE']).toContain(typeof tooLarge === 'object' ? tooLarge.status : tooLarge);
    expect(malformed).toEqual([expect.stringContaining('larger than 3145728 octets')]);
  });

  it.each([
    ['of a pod', POD],
    ['that come from the address of the API server', '127.0.0.1'],
  ])('incomplete bodies %s do not block requests of the API server', async (_, localAddress) => {
    const large = 'x'.repeat(2_900_000);
    const unfinished = Array.from({ length: 24 }, () => begin(large, localAddress));
    await vi.waitFor(() => expect(malformed).toContainEqual(expect.stringContaining('was cut')), 10_000);
    const answers = await Promise.all(Array.from({ length: 8 }, () => send({ body: aReview({ extra: 'x'.repeat(300_000) }) })));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    for (const one of unfinished) one.end();
  });

  it('an incomplete body is cut even if its sender does nothing', { timeout: 20_000 }, async () => {
    await begin('{"kind":', POD).closed;
    expect(malformed).toEqual([expect.stringContaining('did not come completely')]);
  });

  it('connections of a pod that got decisions close none of the API server', async () => {
    const agent = new Agent({ keepAlive: true });
    const ofPod = Array.from({ length: 300 }, () => new Agent({ keepAlive: true }));
    try {
      expect((await send({ agent })).status).toBe(200);
      const [used] = Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
      for (const one of ofPod) expect((await send({ agent: one, localAddress: POD })).status).toBe(200);
      expect((await send({ agent })).status).toBe(200);
      expect(Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])).toEqual([used]);
    } finally {
      for (const one of [agent, ...ofPod]) one.destroy();
    }
  });

  it('connections without requests do not block the API server, and close none that it uses', async () => {
    const agent = new Agent({ keepAlive: true });
    const idle: Socket[] = [];
    try {
      expect((await send({ agent })).status).toBe(200);
      const [used] = Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
      for (let count = 0; count < 400; count++) {
        const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
        idle.push(socket);
        await once(socket, 'connect');
      }
      expect((await send({})).status).toBe(200);
      expect((await send({ agent })).status).toBe(200);
      expect(Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])).toEqual([used]);
    } finally {
      for (const socket of idle) socket.destroy();
      agent.destroy();
    }
  });

  it('other paths and methods are refused with the existing ones', async () => {
    expect(await send({ path: '/' })).toMatchObject({
      status: 404,
      body: expect.stringContaining('/v1/webhook/validation') as string,
    });
    expect(await send({ method: 'PUT' })).toMatchObject({ status: 405 });
  });

  it('a rule that throws causes HTTP 500, so the failurePolicy decides, and the next request is answered', async () => {
    review = () => {
      throw new Error('bug');
    };
    expect(await send({})).toEqual({ status: 500, body: 'no decision: bug\n' });
    expect(decisions).toMatchObject([{ outcome: 'failed' }]);
    expect(errors).toHaveLength(1);
    review = () => ({ response: { allowed: false } });
    expect((await send({})).status).toBe(200);
    expect(decisions[1]).toMatchObject({ outcome: 'refused' });
  });

  it('a client that trusts another authority refuses the certificate, and others are served', async () => {
    const other = await createKeeper().keep(NOW);
    await expect(send({ ca: other.trusted })).rejects.toThrow(/unable to (verify|get)/);
    expect((await send({})).status).toBe(200);
  });

  it('clients refuse an expired certificate; the next one is served without a restart', async () => {
    const expired = createKeeper();
    const old = await expired.keep(NOW - 200 * DAY_MS);
    server.use(old.pair);
    await expect(send({ ca: old.trusted })).rejects.toThrow('certificate has expired');
    const renewed = await expired.keep(NOW);
    server.use(renewed.pair);
    expect((await send({ ca: old.trusted })).status).toBe(200);
  });

  it('before it stops, each response ends its connection: the next requests go to another replica', async () => {
    const agent = new Agent({ keepAlive: true });
    const freed = vi.fn();
    agent.on('free', freed);
    expect((await send({ agent })).status).toBe(200);
    await vi.waitFor(() => expect(freed).toHaveBeenCalledTimes(1), 10_000);
    const drained = server.drain(100);
    const [socket] = Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
    const closed = new Promise((resolve) => socket?.once('close', resolve));
    expect((await send({ agent })).status).toBe(200);
    await closed;
    await drained;
    agent.destroy();
  });

  it('stop answers the request in progress, and accepts no others', async () => {
    const gate = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    review = async () => {
      asked.resolve();
      await gate.promise;
      return { response: { allowed: true } };
    };
    const underWay = send({});
    await asked.promise;
    const { port } = server;
    const stopped = server.stop();
    await vi.waitFor(async () => await expect(open(port)).rejects.toThrow('ECONNREFUSED'), 10_000);
    gate.resolve();
    expect((await underWay).status).toBe(200);
    await stopped;
  });
});

function open(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}

/** An authority of a day, so that all of a rotation is in the hours before now: the TLS library has the real clock. */
const HOUR_MS = 3_600_000;
const TIMES = { authorityLifetimeMs: DAY_MS, servingLifetimeMs: DAY_MS, publishedForMs: HOUR_MS, backdatedMs: DAY_MS };

describe('rotation under load', () => {
  it('no request fails while the certificate and the authority change, whether a client trusts the current or the previous ones', {
    timeout: 60_000,
  }, async () => {
    const begunMs = NOW - 10 * HOUR_MS;
    const rotating = createKeeper(TIMES);
    const first = await rotating.keep(begunMs);
    server.use(first.pair);
    const published = { now: first.trusted, before: first.trusted };
    const agent = new Agent({ keepAlive: true, maxSockets: 2 });
    // API servers keep connections, or open one for each request.
    const clients = [
      { options: (): Sent => ({ ca: published.now, agent }), results: [] as (number | string)[] },
      { options: (): Sent => ({ ca: published.before }), results: [] as (number | string)[] },
    ];
    let isOver = false;
    const asking = clients.map(async ({ options, results }) => {
      while (!isOver) {
        const result = await send(options()).then(
          ({ status }) => status,
          (error: unknown) => String(error),
        );
        results.push(result);
      }
    });
    const moreAnswers = async (count: number) => {
      const before = clients.map(({ results }) => results.length);
      const have = () => clients.every(({ results }, i) => results.length >= (before[i] ?? 0) + count);
      await vi.waitFor(() => expect(have()).toBe(true), { timeout: 20_000 });
    };
    const seen: string[] = [];
    for (const hours of [5, 7, 8, 9]) {
      const next = await rotating.keep(begunMs + hours * HOUR_MS);
      seen.push(
        `${next.trusted.match(/BEGIN/g)?.length} published, ${certificateReader.isIssuedBy(next.pair.certificate, first.trusted) ? 'old' : 'new'} issuer`,
      );
      published.before = published.now;
      published.now = next.trusted;
      // Publications are hours apart: requests that trust the one before the last were answered long ago.
      await moreAnswers(1);
      server.use(next.pair);
      await moreAnswers(25);
    }
    isOver = true;
    await Promise.all(asking);
    agent.destroy();
    expect(seen).toEqual([
      '2 published, old issuer',
      '2 published, new issuer',
      '2 published, new issuer',
      '2 published, new issuer',
    ]);
    expect(clients.flatMap(({ results }) => results.filter((result) => result !== 200))).toEqual([]);
  });
});
