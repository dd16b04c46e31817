import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  askControl,
  type ClientsDocument,
  formatClients,
  hasPodControl,
  makePodControlFolder,
  packetLine,
  parseControlRequest,
  podControlPath,
  podName,
  startAgentControl,
  stateControlPath,
} from '@vmdhcp/agent-process';
import {
  AgentTraffic,
  encodeClientPacket,
  type FiledBlock,
  type LeaseEnd,
  PacketCaptures,
  type PassingPacket,
  PcapngReader,
} from '@vmdhcp/dhcp-agent/packet-path';
import { createLogger, type Logger } from '@vmdhcp/service-process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { capturePackets } from './capture-packets.js';
import { releaseLease } from './release-lease.js';

const POOLS = new Map([
  ['default/net-48', ['br48']],
  ['prod/net-49', ['br49']],
]);
let captures: PacketCaptures;
let folder: string;
let logger: Logger;
const ends: (() => void)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-control-'));
  captures = new PacketCaptures();
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

async function start(
  traffic = filledTraffic(),
  endLease?: (address: number) => Promise<LeaseEnd>,
): Promise<{ readonly close: () => void }> {
  const control = await startAgentControl({
    ...(endLease !== undefined && { endLease }),
    stateDirectory: folder,
    logger,
    traffic,
    captures,
    pools: () => POOLS,
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
  it('answers with the clients, only for its own user', async () => {
    await start();
    expect(statSync(stateControlPath(folder)).mode & 0o777).toBe(0o600);
    const { agent, sinceMs, clients, pools, others } = await ask();
    expect({ agent, sinceMs, others }).toEqual({
      agent: podName(),
      sinceMs: 1_700_000_000_000,
      others: { replaced: { declared: 0, leased: 0, unknown: 0 }, packets: 0 },
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

  it('refuses a pool that is not served, and lists the served ones', async () => {
    await start();
    const message = '--pool net-50: this agent does not serve the pool; it has default/net-48, prod/net-49';
    await expect(ask({ pool: 'net-50' })).rejects.toMatchObject({ exitCode: 64, message });
  });

  it('is removed with its agent: the error says what to do', async () => {
    (await start()).close();
    await expect(ask()).rejects.toMatchObject({
      exitCode: 69,
      message: expect.stringContaining('run the command in the container'),
    });
  });

  it('is replaced if an agent left it behind', async () => {
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

  it('is kept by a running agent: the second agent logs that, and continues without one', async () => {
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

  it('closes a connection with an unknown or too large request', async () => {
    await start();
    const answers = await Promise.all(['{"ask":"secrets"}\n', 'x'.repeat(10_000)].map((text) => exchange(text)));
    expect(answers).toEqual(['{"ok":false,"problem":"the agent does not know this request"}\n', '']);
    expect((await ask()).clients).toHaveLength(1);
  });

  it('must belong to an agent, not to something else', async () => {
    const server = createServer((socket) => void socket.end('HTTP/1.1 400\n')).listen(stateControlPath(folder));
    ends.push(() => void server.close());
    await expect(ask()).rejects.toMatchObject({ exitCode: 69, message: expect.stringContaining('not an agent of this version') });
  });
});

const PACKET: PassingPacket = {
  ...{ interfaceName: 'br48', poolName: 'default/net-48', isSent: false, comment: 'no answer: unknown-client' },
  addresses: { source: 0, sourcePort: 68, destination: 0xffff_ffff, destinationPort: 67 },
  payload: encodeClientPacket({
    ...{ type: 'discover', macAddress: '02:00:00:00:48:01', xid: 0x3903f326 },
    options: [
      [12, Buffer.from('vm-a\n')],
      [50, Uint8Array.of(192, 168, 48, 10)],
    ],
  }),
};

describe('a capture', () => {
  const REQUEST = { ask: 'capture', pool: 'net-48', seconds: 60, packets: 3 } as const;

  /** Begins to read a capture; resolves to its blocks when it has ended. */
  async function begin(request = REQUEST, signal?: AbortSignal) {
    const blocks: FiledBlock[] = [];
    const reader = new PcapngReader();
    const parts = askControl(stateControlPath(folder), request, signal);
    const read = (part: IteratorResult<Uint8Array>) => part.done !== true && blocks.push(...reader.read(part.value));
    read(await parts.next());
    const ended = (async () => {
      for await (const part of parts) blocks.push(...reader.read(part));
      return blocks;
    })();
    return { ended, blocks };
  }

  it('has the packets of the pool until the requested number has passed', async () => {
    await start();
    const { ended } = await begin();
    expect(captures.isActive).toBe(true);
    for (const poolName of ['default/net-48', 'prod/net-49', 'default/net-48', 'default/net-48', 'default/net-48'])
      captures.note({ ...PACKET, poolName });
    const blocks = await ended;
    expect(blocks.map(({ kind }) => kind)).toEqual(['section', 'interface', 'packet', 'packet', 'packet', 'statistics']);
    expect(blocks.at(-1)).toMatchObject({ received: 3, dropped: 0 });
    await vi.waitFor(() => expect(captures.isActive).toBe(false), 20_000);
  });

  it('ends complete at the signal, and with its connection', async () => {
    await start();
    const asked = new AbortController();
    const { ended, blocks } = await begin(REQUEST, asked.signal);
    captures.note(PACKET);
    await vi.waitFor(() => expect(blocks).toHaveLength(3), 20_000);
    asked.abort();
    expect((await ended).map(({ kind }) => kind)).toEqual(['section', 'interface', 'packet', 'statistics']);
    const socket = connect(stateControlPath(folder), () => socket.write(`${JSON.stringify(REQUEST)}\n`));
    await vi.waitFor(() => expect(captures.isActive).toBe(true), 20_000);
    socket.destroy();
    await vi.waitFor(() => expect(captures.isActive).toBe(false), 20_000);
  });

  it('is refused while four are running, and ends with the agent', async () => {
    const control = await start();
    const running = await Promise.all([1, 2, 3, 4].map(() => begin()));
    await expect(begin()).rejects.toMatchObject({ exitCode: 64, message: expect.stringContaining('wait until one ends') });
    control.close();
    await Promise.allSettled(running.map(({ ended }) => ended));
    await vi.waitFor(() => expect(captures.isActive).toBe(false), 20_000);
  });

  it.each([{ seconds: 0 }, { seconds: 3_601 }, { packets: 1.5 }, { packets: 2_000_000 }, { pool: 7 }])(
    '%j is not a valid request',
    (wrong) => {
      expect(parseControlRequest(JSON.stringify({ ...REQUEST, ...wrong }))).toBeUndefined();
      expect(parseControlRequest(JSON.stringify(REQUEST))).toEqual({ ...REQUEST, mac: undefined });
    },
  );

  it('is one line for each packet, whatever it contains', async () => {
    await start();
    const { ended } = await begin();
    captures.note(PACKET);
    captures.note({ ...PACKET, isSent: true, comment: '', addresses: { ...PACKET.addresses, destination: 0xc0a8300a } });
    captures.note({ ...PACKET, payload: Uint8Array.of(1, 2, 3), comment: 'no answer: message-too-short' });
    const packets = (await ended).filter((block) => block.kind === 'packet');
    const what = 'DISCOVER 02:00:00:00:48:01 xid 3903f326 requests 192.168.48.10 host "vm-a\\x0a"';
    expect(packets.map((packet) => packetLine({ ...packet, atMs: 1_700_000_000_007.25 }, 'br48'))).toEqual([
      `22:13:20.007250 br48 received ${what} from 0.0.0.0 (no answer: unknown-client)`,
      `22:13:20.007250 br48 sent ${what} to 192.168.48.10`,
      '22:13:20.007250 br48 received 3 octets (message-too-short) from 0.0.0.0 (no answer: message-too-short)',
    ]);
  });
});

it('a capture whose file has no space ends with a sentence and exit code 73', async () => {
  await start();
  const captured = capturePackets({ state: folder, pool: 'net-48', seconds: 60, packets: 10, write: '/dev/full' });
  await expect(captured).rejects.toMatchObject({ exitCode: 73, message: expect.stringMatching(/^\/dev\/full: ENOSPC/) });
  await expect.poll(() => captures.isActive, { timeout: 20_000 }).toBe(false);
});

it('an earlier capture in the file is kept if no agent answers, and replaced by the next one', async () => {
  const write = join(folder, 'file.pcapng');
  writeFileSync(
    write,
    'an earlier capture, which is longer than the next one, as it has some more packets than none at all'.repeat(9),
  );
  const capture = () => capturePackets({ state: folder, pool: 'net-48', seconds: 60, packets: 1, write });
  await expect(capture()).rejects.toMatchObject({ exitCode: 69 });
  expect(readFileSync(write, 'utf8')).toMatch(/^an earlier capture/);
  await start();
  const captured = capture();
  await expect.poll(() => captures.isActive, { timeout: 20_000 }).toBe(true);
  captures.note(PACKET);
  await captured;
  const reader = new PcapngReader();
  expect([...reader.read(readFileSync(write))].map(({ kind }) => kind)).toEqual(['section', 'interface', 'packet', 'statistics']);
});

describe('the folder of a pod', () => {
  it('is created for its user alone, and reused', () => {
    const path = join(folder, 'own', 'a.sock');
    makePodControlFolder(path);
    makePodControlFolder(path);
    expect(statSync(join(folder, 'own')).mode & 0o777).toBe(0o700);
  });

  it('is not used if others may write into it, or have put something else there', () => {
    mkdirSync(join(folder, 'open'), { mode: 0o777 });
    symlinkSync(folder, join(folder, 'link'));
    writeFileSync(join(folder, 'file'), '');
    chmodSync(join(folder, 'open'), 0o777);
    for (const name of ['open', 'link', 'file'])
      expect(() => makePodControlFolder(join(folder, name, 'a.sock'))).toThrow(/may be used by another user/);
  });

  it('is not trusted if another user may have put a socket there, as in the shared memory of a host', () => {
    for (const [name, mode] of [
      ['own', 0o700],
      ['open', 0o777],
    ] as const) {
      mkdirSync(join(folder, name));
      chmodSync(join(folder, name), mode);
      expect(hasPodControl(join(folder, name, 'a.sock'))).toBe(false);
      writeFileSync(join(folder, name, 'a.sock'), '');
      expect(hasPodControl(join(folder, name, 'a.sock'))).toBe(mode === 0o700);
    }
  });

  it('has a socket for each pod and network namespace', () => {
    const path = podControlPath({ POD_NAME: 'agent-1' });
    expect(path).toMatch(/^\/dev\/shm\/vmdhcp-agent-\d+\/agent-1-\d+\.sock$/);
    expect(podControlPath({ POD_NAME: 'agent-2' })).not.toBe(path);
  });

  it('has a path that is short enough for Linux, with the longest name of a pod and the longest user id', () => {
    const path = podControlPath({ POD_NAME: `${'x'.repeat(57)}-q8w2e` });
    expect(path).toContain('-q8w2e-');
    expect(path.length - String(process.getuid?.()).length + '4294967295'.length).toBeLessThanOrEqual(107);
  });
});

it.each(['', 'null', '{"ask":1}', '[]', '{"ask":"clients"'])('%j is not a valid request', (line) => {
  expect(parseControlRequest(line)).toBeUndefined();
});

it('clients for people: one line each, the most recent first; the last packets if requested', async () => {
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
    others: { replaced: { declared: 0, leased: 0, unknown: 4 }, packets: 5 },
  };
  expect(formatClients(one, { withPackets: true }).split('\n').slice(2)).toEqual([
    '',
    'last packets of 02:00:00:00:00:00:',
    '  2023-11-14T22:13:20.000Z  DISCOVER from 0.0.0.0 -> no answer: unknown-client',
    '',
    'removed to make room for others: 4 unknown',
    'not noted, because too many came within a second: 5 packets',
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

describe('vmdhcp-agent release --state', () => {
  const subject = { kind: 'address', address: 0x0a00000a } as const;
  const CLIENT = '02:00:00:00:00:01';

  /** The output, or the message and the exit code. */
  async function release(endLease?: () => Promise<LeaseEnd>): Promise<unknown> {
    await start(filledTraffic(), endLease);
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      return await releaseLease(subject, { state: folder }).then(
        () => written.mock.calls.map(([text]) => text).join(''),
        (error: { readonly message: string; readonly exitCode: number }) => `${error.exitCode} ${error.message}`,
      );
    } finally {
      written.mockRestore();
    }
  }

  it.each<[end: LeaseEnd, printed: string]>([
    [{ kind: 'ended', macAddress: CLIENT }, `the lease of 10.0.0.10 has ended (${CLIENT})\n`],
    [{ kind: 'quarantine-ended' }, 'the quarantine of 10.0.0.10 has ended\n'],
    [{ kind: 'no-lease' }, 'no client has a lease of 10.0.0.10, and it is not in quarantine\n'],
    [
      { kind: 'kept', macAddress: CLIENT, reason: 'in-use-by-client' },
      `1 ${CLIENT} keeps its lease of 10.0.0.10: it answers ARP for the address; switch it off or unplug it, then release the lease again`,
    ],
    [
      { kind: 'kept', macAddress: CLIENT, reason: 'being-checked' },
      `1 ${CLIENT} keeps its lease of 10.0.0.10: addresses are being probed already; try again in ten seconds`,
    ],
    [
      { kind: 'kept', macAddress: CLIENT, reason: 'declared' },
      `1 ${CLIENT} keeps its lease of 10.0.0.10: the pools file assigns it; remove its VirtualMachineNetworkConfig or its reservation from the file`,
    ],
    [{ kind: 'not-recorded' }, '1 the end of the lease of 10.0.0.10 could not be recorded: try again'],
  ])('%j', async (end, printed) => {
    expect(await release(async () => end)).toBe(printed);
  });

  it('an agent that leases nothing to unknown clients', async () => {
    expect(await release()).toBe(
      '64 this agent leases no addresses to unknown clients: ask the agent of the ClusterAgent by its HostStatus',
    );
    expect(parseControlRequest('{"ask":"release","address":"10.0.0.256"}')).toBeUndefined();
  });
});
