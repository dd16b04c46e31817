import { chmodSync, linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentTraffic } from '@vmdhcp/dhcp-agent/packet-path';
import { createLogger, type Logger } from '@vmdhcp/service-process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startAgentControl } from './agent-control.js';
import { askControl } from './ask-control.js';
import { makePodControlFolder, podControlPath, podName, stateControlPath } from './control-path.js';
import { parseControlRequest } from './control-request.js';
import { type ClientsDocument, formatClients } from './format-clients.js';

let folder: string;
let logger: Logger;
const ends: (() => void)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-control-'));
  logger = await createLogger('silent' as never);
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
  rmSync(folder, { recursive: true, force: true });
});

function filledTraffic(clients = 1): AgentTraffic {
  const traffic = new AgentTraffic({ nowMs: () => 1_700_000_000_000, random: () => 0 });
  const place = traffic.placeOf('br48', 'default/net-48');
  for (let client = 0; client < clients; client++) {
    const octets = Uint8Array.of(2, 0, 0, 0, client >> 8, client);
    traffic.note({ place, octets, macOffset: 0, standing: 'unknown', received: 'discover', reason: 'unknown-client', from: 0 });
  }
  return traffic;
}

async function start(traffic = filledTraffic()): Promise<{ readonly close: () => void }> {
  const control = await startAgentControl({
    stateDirectory: folder,
    logger,
    traffic,
    pools: () => ['default/net-48', 'prod/net-49'],
  });
  ends.push(control.close);
  return control;
}

async function ask(request: { readonly pool?: string; readonly mac?: string } = {}): Promise<ClientsDocument> {
  const parts: Uint8Array[] = [];
  for await (const part of askControl(stateControlPath(folder), { ask: 'clients', ...request })) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as ClientsDocument;
}

describe('the control socket', () => {
  it('answers with the clients, and only its own user may use it', async () => {
    await start();
    expect(statSync(stateControlPath(folder)).mode & 0o777).toBe(0o600);
    const { agent, sinceMs, clients, pools, others } = await ask();
    expect({ agent, sinceMs, others }).toEqual({
      agent: podName(),
      sinceMs: 1_700_000_000_000,
      others: { replaced: { declared: 0, leased: 0, unknown: 0 } },
    });
    expect(clients).toMatchObject([{ mac: '02:00:00:00:00:00', unanswered: { 'unknown-client': 1 } }]);
    expect(pools).toMatchObject([{ pool: 'default/net-48', messages: { DISCOVER: 1 } }]);
  });

  it.each([99, 100, 101, 1_000])('%d clients are one document', async (count) => {
    await start(filledTraffic(count));
    expect((await ask()).clients).toHaveLength(count);
  });

  it('finds a pool by its name alone, and one client by its MAC address', async () => {
    await start(filledTraffic(3));
    expect((await ask({ pool: 'net-48', mac: '02:00:00:00:00:02' })).clients).toMatchObject([{ mac: '02:00:00:00:00:02' }]);
    expect((await ask({ pool: 'prod/net-49' })).clients).toEqual([]);
  });

  it('refuses a pool that is not served, with those that are', async () => {
    await start();
    const message = '--pool net-50: this agent does not serve the pool; it has default/net-48, prod/net-49';
    await expect(ask({ pool: 'net-50' })).rejects.toMatchObject({ exitCode: 64, message });
  });

  it('is gone with its agent: what to do then', async () => {
    (await start()).close();
    await expect(ask()).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringContaining('run the command in the container'),
    });
  });

  it('that an agent left behind is replaced', async () => {
    const path = stateControlPath(folder);
    const left = createServer().listen(path);
    await new Promise((resolve) => left.once('listening', resolve));
    // The file stays, as after a SIGKILL: closing the server would remove it.
    const kept = join(folder, 'kept');
    linkSync(path, kept);
    await new Promise((resolve) => left.close(resolve));
    renameSync(kept, path);
    await start();
    expect((await ask()).clients).toHaveLength(1);
  });

  it('of an agent that runs stays its own: the second agent logs that, and goes on without', async () => {
    await start();
    const warn = vi.spyOn(logger, 'warn').mockImplementation(() => undefined);
    await start(filledTraffic(7));
    expect(warn.mock.calls).toEqual([
      [
        { path: stateControlPath(folder), err: 'another agent listens on it' },
        expect.stringContaining('control socket cannot be opened'),
      ],
    ]);
    expect((await ask()).clients).toHaveLength(1);
  });

  it('closes a connection that asks for what it does not know, or for too much', async () => {
    await start();
    const answers = await Promise.all(['{"ask":"secrets"}\n', 'x'.repeat(10_000)].map((text) => exchange(text)));
    expect(answers).toEqual(['{"ok":false,"problem":"the agent does not know this request"}\n', '']);
    expect((await ask()).clients).toHaveLength(1);
  });

  it('something else that listens there is no agent', async () => {
    const server = createServer((socket) => void socket.end('HTTP/1.1 400\n')).listen(stateControlPath(folder));
    ends.push(() => void server.close());
    await expect(ask()).rejects.toMatchObject({ exitCode: 69, message: expect.stringContaining('no agent of this version') });
  });
});

describe('the folder of a pod', () => {
  it('is made for its user alone, and used again', () => {
    const path = join(folder, 'own', 'a.sock');
    makePodControlFolder(path);
    makePodControlFolder(path);
    expect(statSync(join(folder, 'own')).mode & 0o777).toBe(0o700);
  });

  it('is not used where others may write into it, or have put something else there', () => {
    mkdirSync(join(folder, 'open'), { mode: 0o777 });
    symlinkSync(folder, join(folder, 'link'));
    writeFileSync(join(folder, 'file'), '');
    chmodSync(join(folder, 'open'), 0o777);
    for (const name of ['open', 'link', 'file'])
      expect(() => makePodControlFolder(join(folder, name, 'a.sock'))).toThrow(/may be used by another user/);
  });

  it('has a socket for each pod and network namespace', () => {
    const path = podControlPath({ POD_NAME: 'agent-1' });
    expect(path).toMatch(/^\/dev\/shm\/vmdhcp-agent-\d+\/agent-1-\d+\.sock$/);
    expect(podControlPath({ POD_NAME: 'agent-2' })).not.toBe(path);
  });
});

it.each(['', 'null', '{"ask":1}', '[]', '{"ask":"clients"'])('%j is no request', (line) => {
  expect(parseControlRequest(line)).toBeUndefined();
});

it('clients for people: a line each, the newest first; the last packets where one is asked for', async () => {
  await start(filledTraffic(2));
  const document = await ask();
  expect(formatClients(document, { withPackets: false }).split('\n')).toEqual([
    'MAC                POOL            LAST                      SENT        GOT  NOT ANSWERED',
    '02:00:00:00:00:00  default/net-48  2023-11-14T22:13:20.000Z  DISCOVER 1  -    unknown-client 1',
    '02:00:00:00:00:01  default/net-48  2023-11-14T22:13:20.000Z  DISCOVER 1  -    unknown-client 1',
    '',
  ]);
  const one = {
    ...document,
    clients: document.clients.slice(0, 1),
    others: { replaced: { declared: 0, leased: 0, unknown: 4 } },
  };
  expect(formatClients(one, { withPackets: true }).split('\n').slice(2)).toEqual([
    '',
    'last packets of 02:00:00:00:00:00:',
    '  2023-11-14T22:13:20.000Z  DISCOVER from 0.0.0.0 -> no answer: unknown-client',
    '',
    'not shown any more, as others came: 4 unknown',
    '',
  ]);
});

function exchange(text: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(stateControlPath(folder), () => socket.write(text));
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      answer += part;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}
