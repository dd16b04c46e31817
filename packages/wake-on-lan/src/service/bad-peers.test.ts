/** Peers that are not agents, or agents that misbehave: the server continues. */
import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { wolServices } from '../proto/wol-services.js';
import { encodeWakeEvent } from '../wire/wake-event.js';
import { agentOf, createAuthority, managerOf } from './tls-fixtures.js';
import { REPORT, STARTED, startAgent, startManager, type TestManager, VM_A, VM_B } from './wol-fixtures.js';

const until = (condition: () => unknown) => vi.waitFor(() => expect(condition()).toBeTruthy(), { timeout: 20_000, interval: 5 });
const METHOD = wolServices().wol['ReportWOLEvent'];

async function dial(manager: TestManager): Promise<Socket> {
  const socket = connectTcp(manager.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** An HTTP/2 connection whose streams read nothing. */
async function openSession(manager: TestManager): Promise<ClientHttp2Session> {
  const session = connectHttp2(`http://${manager.address}`, { settings: { initialWindowSize: 0 } });
  onTestFinished(() => session.destroy());
  session.on('error', () => {});
  await once(session, 'remoteSettings');
  return session;
}

function headersOf(path: string) {
  return { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
}

/** A message in the frame of gRPC. */
function toFrame(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** A client with a separate connection, whose calls have no deadline. */
function openClient(manager: TestManager): Client {
  const settings = { 'grpc.max_send_message_length': -1, 'grpc.use_local_subchannel_pool': 1 };
  const client = new Client(manager.address, credentials.createInsecure(), settings);
  onTestFinished(() => client.close());
  return client;
}

/** Sends octets as the request of a report. */
function send(client: Client, octets: Buffer): Promise<ServiceError | null> {
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      METHOD?.path ?? '',
      (raw: Buffer) => raw,
      (raw: Buffer) => raw,
      octets,
      (error) => resolve(error),
    );
  });
}

const VALID = Buffer.from(METHOD?.requestSerialize(encodeWakeEvent(REPORT)) ?? []);

describe('a server and bad peers', { timeout: 30_000 }, () => {
  it.each([
    ['octets that are not HTTP/2', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    [
      'an HTTP/2 preface and then nonsense',
      Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.alloc(500, 0xff)]),
    ],
    ['a TLS hello', Buffer.from('16030100050100000100', 'hex')],
  ])('%s: the connection ends, and others continue', async (_, octets) => {
    const manager = await startManager();
    const socket = await dial(manager);
    const ended = once(socket, 'close');
    socket.resume();
    socket.write(octets);
    socket.end();
    await ended;
    const agent = await startAgent(manager.address);
    expect((await agent.report()).kind).toBe('answered');
  });

  it.each<[string, Buffer, status]>([
    ['octets that are not a message', Buffer.from([0xff, 0xff, 0xff]), status.INTERNAL],
    ['an empty message', Buffer.alloc(0), status.INVALID_ARGUMENT],
    ['a message of 2 MiB', Buffer.alloc(2 * 1024 * 1024), status.RESOURCE_EXHAUSTED],
  ])('%s: an error for this call only', async (_, octets, code) => {
    const manager = await startManager();
    expect((await send(openClient(manager), octets))?.code).toBe(code);
    expect(await send(openClient(manager), VALID)).toBeNull();
    expect(manager.reports).toEqual([REPORT]);
  });

  it('more than 1,024 reports in progress: the agents of further ones are told to try again, and the others are answered', async () => {
    const manager = await startManager();
    const waiting: (() => void)[] = [];
    manager.outcome = () => new Promise((resolve) => waiting.push(() => resolve({ kind: 'answered', answer: STARTED })));
    // A connection has a hundred calls at once. They have no deadline: on a busy machine, an agent's would pass.
    const clients = Array.from({ length: 12 }, () => openClient(manager));
    const outcomes = clients.flatMap((client) => Array.from({ length: 98 }, () => send(client, VALID)));
    const refused: (status | undefined)[] = [];
    for (const outcome of outcomes) void outcome.then((error) => error !== null && refused.push(error.code));
    await until(() => waiting.length + refused.length === outcomes.length);
    expect(waiting).toHaveLength(1_024);
    expect([...new Set(refused)]).toEqual([status.UNAVAILABLE]);
    for (const answer of waiting) answer();
    expect((await Promise.all(outcomes)).filter((error) => error === null)).toHaveLength(1_024);
  });

  it('if a client does not read the answers of its stream, the server stops reading its requests', async () => {
    const manager = await startManager();
    const session = await openSession(manager);
    const stream = session.request(headersOf('/wol.v1.WOLService/ReportWOLEventStream'));
    stream.on('error', () => {});
    const event = toFrame(METHOD?.requestSerialize({ ...encodeWakeEvent(REPORT), mac_address: 'none' }) ?? Buffer.alloc(0));
    // Each answer has about 50 octets; only a few fit into the window of the stream and the buffers.
    stream.write(Buffer.concat(Array.from({ length: 50_000 }, () => event)));
    await until(() => manager.events.length > 0);
    const agent = await startAgent(manager.address);
    for (let turn = 0; turn < 100; turn++) expect((await agent.report()).kind).toBe('answered');
    expect(manager.events.length).toBeLessThan(1_000);
    // When they are read, the others follow.
    session.settings({ initialWindowSize: 1024 * 1024 });
    stream.resume();
    await until(() => manager.events.length > 5_000);
  });

  it('a peer that follows the list a thousand times does not keep agents out', async () => {
    const manager = await startManager();
    const calls = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const session = await openSession(manager);
        return Array.from({ length: 100 }, () => {
          const call = session.request(headersOf('/vmdhcp.wol.v1.WakeableAddresses/Follow'));
          call.on('error', () => {});
          call.resume();
          call.end(toFrame(Buffer.alloc(0)));
          return once(call, 'response');
        });
      }),
    );
    const statuses = (await Promise.all(calls.flat())).map(([headers]) => headers['grpc-status']);
    expect(manager.followers).toBe(40);
    expect(statuses.filter((one) => one === String(status.RESOURCE_EXHAUSTED))).toHaveLength(960);
    const agent = await startAgent(manager.address);
    await until(() => agent.client.state.kind === 'connected');
  });

  it('an address has 256 connections at most', async () => {
    const manager = await startManager();
    const sockets = await Promise.all(Array.from({ length: 300 }, () => dial(manager)));
    await until(() => sockets.filter(({ destroyed }) => destroyed).length === 44);
    expect(manager.events).toEqual([expect.objectContaining({ kind: 'connection-refused', reason: 'too-many-connections' })]);
    for (const socket of sockets) socket.destroy();
    const agent = await startAgent(manager.address);
    await until(() => agent.client.state.kind === 'connected');
  });

  it('connections without a handshake do not keep agents out', async () => {
    const authority = await createAuthority();
    const manager = await startManager(await managerOf(authority));
    const silent = await Promise.all(Array.from({ length: 40 }, () => dial(manager)));
    await until(() => manager.events.length > 0);
    expect(manager.events).toEqual([expect.objectContaining({ kind: 'connection-refused', reason: 'too-many-handshakes' })]);
    for (const socket of silent) socket.destroy();
    const { certificate: cert, key, authorities: ca } = await agentOf(authority);
    const options = { port: manager.port, cert, key, ca, servername: 'wake-on-lan.vmdhcp', ALPNProtocols: ['h2'] };
    await until(async () => {
      const socket = connectTls(options);
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => {});
      return Promise.race([once(socket, 'secureConnect').then(() => true), once(socket, 'close').then(() => false)]);
    });
  });

  it('a follower that reads nothing gets the whole list when it reads again, and costs the server nothing meanwhile', async () => {
    const manager = await startManager();
    const { path, requestSerialize, responseDeserialize } = wolServices().wakeableAddresses['Follow'] ?? METHOD ?? {};
    const client = new Client(manager.address, credentials.createInsecure());
    onTestFinished(() => client.close());
    const call = client.makeServerStreamRequest(path ?? '', requestSerialize as never, responseDeserialize as never, {
      node_name: 'n',
    });
    call.on('error', () => {});
    await until(() => manager.followers === 1);
    const many = Array.from({ length: 5_000 }, (_, index) => `02:00:00:00:${hex(index >> 8)}:${hex(index & 0xff)}`);
    for (let turn = 0; turn < 100; turn++) manager.list(turn % 2 === 0 ? many : [VM_A]);
    manager.list([VM_B]);
    let last: { added: Buffer; completes_list: boolean; begins_list: boolean } | undefined;
    let octets = 0;
    call.on('data', (message) => {
      last = message;
      octets += message.added.length + message.removed.length;
    });
    await until(
      () => last?.begins_list === true && last.completes_list && last.added.equals(Buffer.from([2, 0, 0x5e, 0x10, 0, 2])),
    );
    // All of it would be 3 MB.
    expect(octets).toBeLessThan(1_500_000);
  });
});

function hex(value: number): string {
  return value.toString(16).padStart(2, '0');
}
