import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type KubeSimulator, startKubeSimulator } from '../kube-simulator.js';
import { execProtocols } from './exec-channels.js';
import type { ExecInPod } from './exec-in-pod.js';

const rbac = { group: 'rbac.authorization.k8s.io', namespace: 'default' };
const users = ['get-only', 'create-only', 'both'];
let simulator: KubeSimulator;
const killed: string[] = [];
/** Exit codes of processes, in the order of their ends. */
const exits: number[] = [];

/** Real processes, and one that only ends when it is killed. */
const execInPod: ExecInPod = ({ command, container, pod }) => {
  const [program = '', ...words] = command;
  if (program === 'fails') throw new Error('no such program');
  if (program === 'endless') return endless();
  const env = { PATH: process.env['PATH'] ?? '', CONTAINER: container, POD: pod.metadata.name ?? '' };
  const child = spawn(program, words, { env });
  const exited = once(child, 'exit').then(([code]) => (code as number | null) ?? 137);
  void exited.then((code) => exits.push(code));
  return { stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exited, kill: () => child.kill('SIGKILL') };
};

function endless() {
  const { promise, resolve } = Promise.withResolvers<number>();
  const kill = () => {
    killed.push('endless');
    resolve(137);
  };
  return { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), exited: promise, kill };
}

beforeAll(async () => {
  const tokens = Object.fromEntries(users.map((username) => [username, { username, groups: ['system:authenticated'] }]));
  simulator = await startKubeSimulator({ nodes: [{ name: 'node-1' }], tokens, execInPod });
  await simulator.client.create({ resource: 'namespaces' }, { metadata: { name: 'default' } }).catch(() => undefined);
  await createPod('web', ['agent']);
  await createPod('two', ['one', 'other']);
  const verbs = { 'get-only': ['get'], 'create-only': ['create'], both: ['get', 'create'] };
  for (const [name, allowed] of Object.entries(verbs)) {
    const rules = [{ apiGroups: [''], resources: ['pods/exec'], verbs: allowed }];
    await simulator.client.create({ ...rbac, resource: 'roles' }, { metadata: { name }, rules });
    const roleRef = { apiGroup: rbac.group, kind: 'Role', name };
    const subjects = [{ kind: 'User', apiGroup: rbac.group, name }];
    await simulator.client.create({ ...rbac, resource: 'rolebindings' }, { metadata: { name }, roleRef, subjects });
  }
});

afterAll(() => simulator.stop());

async function createPod(name: string, containers: readonly string[]) {
  const place = { resource: 'pods', namespace: 'default' };
  const spec = { containers: containers.map((container) => ({ name: container, image: 'x' })) };
  await simulator.client.create(place, { metadata: { name }, spec });
  const isRunning = () => expect(JSON.stringify(simulator.client.get({ ...place, name })?.['status'])).toContain('"running"');
  await vi.waitFor(isRunning, { timeout: 20_000 });
}

interface Asked {
  readonly pod?: string;
  readonly query?: string;
  readonly token?: string;
  readonly protocols?: readonly string[];
}

function open({
  pod = 'web',
  query = 'stdout=true&stderr=true&command=true',
  token,
  protocols = execProtocols,
}: Asked): WebSocket {
  const url = `${simulator.url.replace('http', 'ws')}/api/v1/namespaces/default/pods/${pod}/exec?${query}`;
  const headers = { authorization: `Bearer ${token ?? simulator.adminToken}` };
  return new WebSocket(url, [...protocols], { headers, ca: simulator.caCertificate });
}

/** The answer of a server that does not open the WebSocket. */
async function refusal(asked: Asked) {
  const socket = open(asked);
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  return { status: response.statusCode, body: JSON.parse(await text(response)) as { readonly message: string } };
}

/** All messages by their channels, and the Status. */
async function run(asked: Asked, onOpen: (socket: WebSocket) => void = () => undefined) {
  const socket = open(asked);
  const output: Record<number, string> = {};
  socket.on('message', (data: Buffer) => {
    output[data[0] ?? 0] = `${output[data[0] ?? 0] ?? ''}${data.subarray(1).toString()}`;
  });
  await once(socket, 'open');
  onOpen(socket);
  const [code] = (await once(socket, 'close')) as [number];
  return {
    code,
    protocol: socket.protocol,
    stdout: output[1],
    stderr: output[2],
    status: JSON.parse(output[3] ?? '{}') as unknown,
  };
}

const command = (...words: readonly string[]) => words.map((word) => `command=${encodeURIComponent(word)}`).join('&');
const shell = (script: string, streams = 'stdout=true&stderr=true') => `${streams}&${command('sh', '-c', script)}`;

describe('a command in a container', () => {
  it('has its output on the channels 1 and 2, and its exit code in a Status on 3', async () => {
    const answer = await run({ query: shell('echo $POD/$CONTAINER; echo bad >&2; exit 3') });
    expect(answer).toMatchObject({ code: 1000, protocol: 'v5.channel.k8s.io', stdout: 'web/agent\n', stderr: 'bad\n' });
    expect(answer.status).toMatchObject({
      status: 'Failure',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '3' }] },
    });
  });

  it('that succeeds has a Status without a cause', async () => {
    expect((await run({ query: shell('true') })).status).toEqual({ metadata: {}, status: 'Success' });
  });

  it('with v5 reads until the client closes its standard input', async () => {
    const query = shell('cat; echo end', 'stdin=true&stdout=true');
    const answer = await run({ query }, (socket) => {
      socket.send(Buffer.from('\0hello\n'));
      socket.send(Buffer.of(255, 0));
    });
    expect(answer.stdout).toBe('hello\nend\n');
  });

  it('with v4 has all but that', async () => {
    const query = shell('read line; echo got $line', 'stdin=true&stdout=true');
    const answer = await run({ query, protocols: ['v4.channel.k8s.io'] }, (socket) => socket.send(Buffer.from('\0hello\n')));
    expect(answer).toMatchObject({ protocol: 'v4.channel.k8s.io', stdout: 'got hello\n' });
  });

  it('has no standard input that was not asked for, and output only of the streams that were', async () => {
    expect(await run({ query: shell('cat; echo quiet; echo heard >&2', 'stderr=true') })).toMatchObject({
      stdout: undefined,
      stderr: 'heard\n',
    });
  });

  it('writes as much as is read: a mebibyte arrives whole', async () => {
    expect((await run({ query: shell('head -c 1048576 /dev/zero') })).stdout).toHaveLength(1_048_576);
  });

  it('that cannot be started is a Status 500 with the reason', async () => {
    const { status } = await run({ query: `stdout=true&${command('fails')}` });
    expect(status).toMatchObject({ code: 500, message: 'Internal error occurred: no such program' });
  });

  it('finds its standard input at the end when the client disconnects', async () => {
    const marker = Promise.withResolvers<void>();
    const socket = open({ query: shell('echo here; cat; exit 42', 'stdin=true&stdout=true') });
    socket.on('message', (data: Buffer) => {
      if (data.subarray(1).toString().includes('here')) marker.resolve();
    });
    await marker.promise;
    socket.terminate();
    await vi.waitFor(() => expect(exits).toContain(42), { timeout: 20_000 });
  });

  it('is killed when the simulator stops', async () => {
    const own = await startKubeSimulator({ nodes: [{ name: 'node-1' }], execInPod });
    const first = simulator;
    simulator = own;
    await createPod('web', ['agent']);
    const socket = open({ query: `stdout=true&${command('endless')}` });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    simulator = first;
    await own.stop();
    await closed;
    expect(killed).toEqual(['endless']);
  });
});

describe('what is refused before the WebSocket opens', () => {
  it.each([
    ['a Pod that does not exist', { pod: 'gone' }, 404, 'pods "gone" not found'],
    ['an unknown container', { query: 'stdout=true&command=x&container=b' }, 400, 'container b is not valid for pod web'],
    [
      'several containers, and none named',
      { pod: 'two' },
      400,
      'a container name must be specified for pod two, choose one of: [one other]',
    ],
    ['no command', { query: 'stdout=true' }, 400, 'you must specify at least one command for the container'],
    ['no stream', { query: 'command=x' }, 400, 'you must specify at least 1 of stdin, stdout, stderr'],
    ['a terminal', { query: 'command=x&stdout=true&tty=true' }, 400, 'the simulator has no terminals'],
    ['a bad token', { token: 'bad' }, 401, 'Unauthorized'],
  ])('%s', async (_title, asked: Asked, status, message) => {
    expect(await refusal(asked)).toMatchObject({ status, body: { message } });
  });

  it.each([
    ['get-only', 'create'],
    ['create-only', 'get'],
  ])('a user with the right %s: a WebSocket needs both', async (token, verb) => {
    const message = `pods "web" is forbidden: User "${token}" cannot ${verb} resource "pods/exec" in API group "" in the namespace "default"`;
    expect(await refusal({ token })).toMatchObject({ status: 403, body: { message } });
    const refused = { user: token, verb, resource: 'pods', subresource: 'exec', name: 'web', allowed: false };
    expect(simulator.audit.requests).toContainEqual(expect.objectContaining(refused));
  });

  it('nothing for a user with both rights, and the audit has both', async () => {
    expect((await run({ token: 'both' })).status).toEqual({ metadata: {}, status: 'Success' });
    const asked = simulator.audit.requests.filter(({ user, subresource }) => user === 'both' && subresource === 'exec');
    expect(asked.map(({ verb, allowed }) => [verb, allowed])).toEqual([
      ['get', true],
      ['create', true],
    ]);
  });

  it('a protocol that the server does not have', async () => {
    const { status, body } = await refusal({ protocols: ['channel.k8s.io'] });
    expect(status).toBe(400);
    expect(body.message).toContain('server supports v5.channel.k8s.io, v4.channel.k8s.io');
  });

  it('a request for no WebSocket at all', async () => {
    const plain = await startKubeSimulator({ tls: false });
    const url = `${plain.url}/api/v1/namespaces/default/pods/web/exec?command=x&stdout=true`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${plain.adminToken}` } });
    expect([response.status, await response.json()]).toMatchObject([400, { message: 'Upgrade request required' }]);
    await plain.stop();
  });
});
