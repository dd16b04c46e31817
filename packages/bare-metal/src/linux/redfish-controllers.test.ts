import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AnswerMemory } from '@vmdhcp/redfish-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { HostTarget } from '../agent/ports.js';
import { RedfishControllers } from './redfish-controllers.js';
import { redfishTargetOf } from './redfish-target-of.js';

const SYSTEM = '/redfish/v1/Systems/1';
const link = (path: string) => ({ '@odata.id': path });
const RESOURCES: Readonly<Record<string, object>> = {
  '/redfish/v1/': { Systems: link('/redfish/v1/Systems') },
  '/redfish/v1/Systems': { Members: [link(SYSTEM)] },
  [SYSTEM]: {
    ...link(SYSTEM),
    PowerState: 'On',
    Boot: {},
    Actions: { '#ComputerSystem.Reset': { target: '/reset', 'ResetType@Redfish.AllowableValues': ['On', 'ForceRestart'] } },
  },
};

type Answer = (request: IncomingMessage, response: ServerResponse) => boolean;

/** A service with one system; `answer` returns true for a request that it handles itself. */
async function startService(answer: Answer = () => false) {
  const seen: string[] = [];
  const users: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push([request.method, request.url, Buffer.concat(chunks).toString()].join(' ').trim());
      users.push(Buffer.from(request.headers.authorization?.split(' ')[1] ?? '', 'base64').toString());
      if (answer(request, response)) return;
      const resource = RESOURCES[request.url ?? ''];
      response
        .writeHead(request.method === 'GET' ? (resource ? 200 : 404) : 204)
        .end(request.method === 'GET' ? JSON.stringify(resource ?? {}) : '');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const changes = () => seen.filter((text) => !text.startsWith('GET'));
  return { port: (server.address() as AddressInfo).port, seen, users, changes, server };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const secretOf = (username: string, password = 'word') => ({ username: base64(username), password: base64(password) });
const hostOf = (port: number, others: Partial<HostTarget> = {}): HostTarget => ({
  name: 'agent-127-0-0-1',
  address: '127.0.0.1',
  connection: { https: false, port },
  secret: secretOf('operator'),
  ...others,
});

function controllers(settings?: ConstructorParameters<typeof RedfishControllers>[0]): RedfishControllers {
  const made = new RedfishControllers(settings);
  onTestFinished(() => made.close());
  return made;
}

const NEVER = new AbortController().signal;

describe('a poll', () => {
  it('returns the report of the management controller', async () => {
    const { port, users } = await startService();
    expect(await controllers().read(hostOf(port), NEVER)).toEqual({
      kind: 'healthy',
      info: { PowerState: 'On' },
      log: undefined,
    });
    expect(new Set(users)).toEqual(new Set(['operator:word']));
  });

  it('says why a host does not answer, and never rejects', async () => {
    const { port, server } = await startService();
    server.close();
    const report = await controllers().read(hostOf(port), NEVER);
    expect(report).toMatchObject({ kind: 'unhealthy', message: expect.stringContaining('nothing listens there') as string });
  });

  it.each([
    ['the credentials names the Secret', secretOf('operator'), 'HTTP 401; check username and password in the Secret'],
    ['a client without credentials says where to name a Secret', undefined, 'HTTP 401; name a Secret with username and password'],
  ])('says why a host refuses %s', async (_, secret, text) => {
    const { port } = await startService((_request, response) => {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic' }).end();
      return true;
    });
    const report = await controllers().read(hostOf(port, { secret }), NEVER);
    expect(report).toMatchObject({ message: expect.stringContaining(text) as string });
  });

  it('has a time limit, and ends when its answer is no longer needed', async () => {
    const { port } = await startService(() => true);
    const short = await controllers({ pollTimeoutMs: 30 }).read(hostOf(port), NEVER);
    expect(short).toMatchObject({
      kind: 'unhealthy',
      message: expect.stringContaining('no complete answer within 0.03 seconds') as string,
    });
    expect(await controllers().read(hostOf(port), AbortSignal.abort())).toMatchObject({ kind: 'unhealthy' });
  });

  it('says nothing about the host if the agent has no memory for the answers', async () => {
    const { port } = await startService();
    const memory = new AnswerMemory(1, 0);
    const report = await controllers({ memory }).read(hostOf(port), NEVER);
    expect(report).toMatchObject({
      kind: 'not-read',
      message: expect.stringMatching(/this client, not the service, .* divide the hosts between several ClusterAgents/) as string,
    });
  });

  it.each<[what: string, secret: NonNullable<HostTarget['secret']>, text: string]>([
    ['a password with a line break', secretOf('operator', 'hidden\n'), 'a line break at its end'],
    ['keys that are none', { 'tls.key': base64('hidden'), 'tls.crt': base64('hidden') }, 'cannot be read as PEM'],
  ])('explains %s in the Secret', async (_, secret, text) => {
    const connection = { https: true, port: 443 };
    const report = await controllers().read(hostOf(443, { secret, connection }), NEVER);
    expect(report).toMatchObject({ kind: 'unhealthy', message: expect.stringContaining(text) as string });
    expect(JSON.stringify(report)).not.toContain('hidden');
  });
});

describe('an operation', () => {
  it('is one request', async () => {
    const { port, changes } = await startService();
    expect(await controllers().operate(hostOf(port), 'On', NEVER)).toEqual({
      isSuccess: true,
      message: 'the management controller accepted On',
    });
    expect(changes()).toEqual(['POST /reset {"ResetType":"On"}']);
  });

  it('sends nothing that changes a host when another agent is leader', async () => {
    const { port, changes } = await startService();
    const outcome = await controllers({ mayAct: () => false }).operate(hostOf(port), 'PxeReboot', NEVER);
    expect([outcome.isSuccess, changes()]).toEqual([false, []]);
  });

  it('PxeReboot: first the boot override, then the restart', async () => {
    const { port, changes } = await startService();
    expect(await controllers().operate(hostOf(port), 'PxeReboot', NEVER)).toMatchObject({ isSuccess: true });
    expect(changes()).toEqual([
      `PATCH ${SYSTEM} {"Boot":{"BootSourceOverrideEnabled":"Once","BootSourceOverrideTarget":"Pxe"}}`,
      'POST /reset {"ResetType":"ForceRestart"}',
    ]);
  });

  it('PxeReboot without the boot override restarts nothing', async () => {
    const { port, changes } = await startService(({ method }, response) => {
      if (method === 'PATCH') response.writeHead(500).end();
      return method === 'PATCH';
    });
    expect(await controllers().operate(hostOf(port), 'PxeReboot', NEVER)).toMatchObject({
      isSuccess: false,
      message: expect.stringContaining('PxeReboot: PATCH') as string,
    });
    expect(changes()).toHaveLength(1);
  });

  it('PxeReboot that restarts nothing names the boot override that stays', async () => {
    const { port } = await startService(({ method }, response) => {
      if (method === 'POST') response.writeHead(409).end();
      return method === 'POST';
    });
    const { message } = await controllers().operate(hostOf(port), 'PxeReboot', NEVER);
    expect(message).toMatch(/HTTP 409\. The boot override is set: the next boot of the host is from the network$/);
  });

  it('says what the host offers if it does not offer the action', async () => {
    const { port, changes } = await startService();
    const { message } = await controllers().operate(hostOf(port), 'GracefulShutdown', NEVER);
    expect(message).toContain('it does not offer reset type GracefulShutdown; it offers On, ForceRestart');
    expect(changes()).toEqual([]);
  });

  it('is not repeated if its connection ends, and its outcome is unknown', async () => {
    const { port, changes } = await startService(({ method }, response) => {
      if (method === 'POST') response.socket?.destroy();
      return method === 'POST';
    });
    const outcome = await controllers().operate(hostOf(port), 'On', NEVER);
    expect(outcome).toMatchObject({
      isSuccess: false,
      message: expect.stringContaining('It is not known whether the host carried it out') as string,
    });
    expect(changes()).toHaveLength(1);
  });
});

describe('clients', () => {
  it('use the current Secret: the next call has the new credentials', async () => {
    const { port, users } = await startService();
    const made = controllers();
    await made.read(hostOf(port), NEVER);
    const before = users.length;
    await made.read(hostOf(port, { secret: secretOf('other') }), NEVER);
    expect(new Set(users.slice(before))).toEqual(new Set(['other:word']));
  });

  it('end after their calls if their Secret changes or their slot is needed', async () => {
    const waiting: (() => void)[] = [];
    const { port, seen } = await startService(({ url }, response) => {
      if (url !== '/redfish/v1/' || waiting.length > 0) return false;
      waiting.push(() => response.end(JSON.stringify(RESOURCES[url])));
      return true;
    });
    const made = controllers({ mostClients: 1 });
    const first = made.read(hostOf(port), NEVER);
    await vi.waitFor(() => expect(waiting).toHaveLength(1));
    for (const host of [hostOf(port, { secret: secretOf('other') }), hostOf(port, { name: 'agent-127-0-0-2' })])
      expect(await made.read(host, NEVER)).toMatchObject({ kind: 'healthy' });
    const count = seen.length;
    waiting[0]?.();
    expect(await first).toMatchObject({ kind: 'healthy' });
    expect(seen.length).toBeGreaterThan(count);
  });

  it('end with the agent, including calls in progress', async () => {
    const { port, seen } = await startService(() => true);
    const made = controllers();
    const call = made.read(hostOf(port), NEVER);
    await vi.waitFor(() => expect(seen).toHaveLength(1));
    await made.close();
    expect(await call).toMatchObject({ kind: 'unhealthy', message: expect.stringContaining('the client was closed') as string });
  });
});

describe('the Secret of a host', () => {
  const host = (secret: HostTarget['secret']) => redfishTargetOf(hostOf(443, { secret }));
  it.each<[what: string, secret: HostTarget['secret'], expected: object]>([
    ['is not there', undefined, { verify: true }],
    [
      'has both pairs and an authority',
      { ...secretOf('u', 'p'), 'tls.key': base64('K'), 'tls.crt': base64('C'), 'ca.crt': base64('A') },
      {
        verify: true,
        credentials: { username: 'u', password: 'p' },
        clientCertificate: { key: 'K', certificate: 'C' },
        authorities: 'A',
      },
    ],
    ['has half of a pair', { username: base64('u'), 'tls.crt': base64('C') }, { verify: true }],
    [
      'has octets',
      { username: new Uint8Array([117]), password: new Uint8Array([112]) },
      { verify: true, credentials: { username: 'u', password: 'p' } },
    ],
    ['names the certificate', { 'tls-server-name': base64('bmc.test\n') }, { verify: true, serverName: 'bmc.test' }],
    ['accepts any certificate', { 'insecure-skip-tls-verify': base64('true') }, { verify: false }],
    ['accepts it only with true', { 'insecure-skip-tls-verify': base64('yes') }, { verify: true }],
  ])('%s', (_, secret, expected) => {
    expect(host(secret)).toEqual({ host: '127.0.0.1', port: 443, https: false, ...expected });
  });
});
