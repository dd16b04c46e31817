import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { collectCommand } from './collect-command.js';
import { execInPod } from './exec-in-pod.js';
import {
  type Exchange,
  type ExecServer,
  type ExecServerSettings,
  execServer,
  exitStatus,
  SUCCESS,
  selfSigned,
  sendOn,
} from './exec-server-fixtures.js';
import type { PodExecError } from './pod-exec-error.js';

const COMMAND = { namespace: 'agents', pod: 'agent-1', container: 'agent', command: ['vmdhcp-agent', 'clients', '--json'] };
let server: ExecServer | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function serve(answer: (exchange: Exchange) => Promise<void> | void, settings?: ExecServerSettings) {
  server = await execServer(answer, settings);
  return server.cluster;
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    ({ failure, message, exitCode }: PodExecError) => ({ failure, message, exitCode }),
  );

describe('a command in a pod', () => {
  it('returns its output and exit code, and requests the right thing', async () => {
    let asked = '';
    const cluster = await serve(async ({ request, accept }) => {
      asked = `${request.method} ${request.url} ${request.headers.authorization} ${request.headers['sec-websocket-protocol']}`;
      const socket = await accept();
      for (const channel of [1, 2, 3]) sendOn(socket, channel, '');
      sendOn(socket, 1, 'one ');
      sendOn(socket, 2, 'warning');
      sendOn(socket, 1, 'two');
      sendOn(socket, 3, exitStatus(3));
      socket.close();
    });
    expect(await collectCommand(cluster, COMMAND, {})).toEqual({ exitCode: 3, stdout: 'one two', stderr: 'warning' });
    const words = 'command=vmdhcp-agent&command=clients&command=--json&container=agent';
    expect(asked).toBe(
      `GET /api/v1/namespaces/agents/pods/agent-1/exec?stdin=true&stdout=true&stderr=true&${words} Bearer token-of-web v5.channel.k8s.io,v4.channel.k8s.io`,
    );
  });

  it('arrives whole even if it is read slowly', async () => {
    const block = Buffer.alloc(256 * 1024, 7);
    const cluster = await serve(async ({ accept }) => {
      const socket = await accept();
      for (let count = 0; count < 40; count++) sendOn(socket, 1, block);
      sendOn(socket, 3, SUCCESS);
    });
    const { stdout, stderr, exited } = await execInPod(cluster, COMMAND);
    stderr.resume();
    await once(stdout, 'readable');
    expect(await buffer(stdout)).toHaveLength(40 * block.length);
    expect(await exited).toBe(0);
  });

  it.each([
    ['v5.channel.k8s.io', true],
    ['v4.channel.k8s.io', false],
  ])('%s can close the standard input: %s', async (protocol, can) => {
    const received = Promise.withResolvers<Buffer>();
    const cluster = await serve(
      async ({ accept }) => {
        const socket = await accept();
        socket.once('message', (data: Buffer) => received.resolve(data));
        if (!can) received.resolve(Buffer.of());
        await received.promise;
        sendOn(socket, 3, SUCCESS);
      },
      { protocol },
    );
    const running = await execInPod(cluster, COMMAND);
    expect(running.closeInput()).toBe(can);
    expect([...(await received.promise)]).toEqual(can ? [255, 0] : []);
    expect(await Promise.all([text(running.stdout), text(running.stderr), running.exited])).toEqual(['', '', 0]);
  });

  it('works over TLS with a CA and a client certificate', async () => {
    const [own, client] = [selfSigned('api'), selfSigned('web')];
    const succeed = async ({ accept }: Exchange) => sendOn(await accept(), 3, SUCCESS);
    const cluster = await serve(succeed, { tls: { ...own, ca: client.cert, requestCert: true, rejectUnauthorized: true } });
    expect(await collectCommand({ ...cluster, tls: { ca: own.cert, ...client } }, COMMAND, {})).toMatchObject({ exitCode: 0 });
    const replaced = { ...cluster, tls: { ...client }, ca: async () => own.cert };
    expect(await collectCommand(replaced, COMMAND, {})).toMatchObject({ exitCode: 0 });
    expect(await failureOf(execInPod({ ...cluster, tls: { ca: own.cert } }, COMMAND))).toMatchObject({ failure: 'unreachable' });
    expect(await failureOf(execInPod({ ...cluster, tls: { ...client } }, COMMAND))).toMatchObject({ failure: 'unreachable' });
  });
});

describe('a server that does not open the WebSocket', () => {
  const status = (message: string) => JSON.stringify({ kind: 'Status', message });
  it.each([
    [401, status('Unauthorized'), 'unauthorized', 77, 'Unauthorized; log in to the cluster again'],
    [
      403,
      status('pods "agent-1" is forbidden'),
      'forbidden',
      77,
      'cannot execute commands in pods (pods/exec) of namespace agents: ask for a Role in namespace agents with the rule {apiGroups: [""], resources: ["pods/exec"], verbs: ["get", "create"]}',
    ],
    [404, status('pods "agent-1" not found'), 'pod-missing', 69, 'pod agents/agent-1 no longer exists; try again'],
    [
      400,
      status('container agent is not valid for pod agent-1'),
      'refused',
      1,
      'the API server does not execute a command in pod agents/agent-1: container agent is not valid for pod agent-1',
    ],
    [503, 'no backend', 'unreachable', 69, 'the API server does not execute a command in pod agents/agent-1: HTTP 503'],
  ])('%i %s: %s', async (code, body, failure, exitCode, message) => {
    const cluster = await serve(({ refuse }) => refuse(code, body));
    expect(await failureOf(execInPod(cluster, COMMAND))).toEqual({ failure, exitCode, message });
  });

  it('reports only the status of a response that is longer than any refusal', async () => {
    const cluster = await serve(({ refuse }) => refuse(503, status('x'.repeat(100_000))));
    expect(await failureOf(execInPod(cluster, COMMAND))).toMatchObject({
      message: expect.stringMatching(/: HTTP 503$/) as string,
    });
  });

  it('reports that nothing listens there', async () => {
    const cluster = await serve(() => undefined);
    await server?.close();
    server = undefined;
    expect(await failureOf(execInPod(cluster, COMMAND))).toMatchObject({ failure: 'unreachable', exitCode: 69 });
  });
});

describe('a command whose end is not known', () => {
  const failsWith = async (last: string) => {
    const cluster = await serve(async ({ accept }) => sendOn(await accept(), 3, last));
    return await failureOf(collectCommand(cluster, COMMAND, {}));
  };

  it('the container does not run', async () => {
    const message = 'Internal error occurred: unable to upgrade connection: container not found ("agent")';
    expect(await failsWith(JSON.stringify({ status: 'Failure', code: 500, message }))).toMatchObject({
      failure: 'container-not-running',
      exitCode: 69,
      message: expect.stringContaining('kubectl describe pod agent-1 -n agents') as string,
    });
  });

  it.each([
    ['a Status without an exit code', JSON.stringify({ status: 'Failure', message: 'no such file' }), 'no such file'],
    ['no JSON', 'oops', 'oops'],
    ['a Status without a text', '{"status":"Failure"}', 'the API server gives no reason'],
    ['an exit code that is not a number', exitStatus(Number.NaN), 'command terminated'],
  ])('%s', async (_title, last, message) => {
    expect(await failsWith(last)).toMatchObject({ failure: 'refused', message: expect.stringContaining(message) as string });
  });

  it('the API server ended the connection: received output can be read', async () => {
    const cluster = await serve(async ({ accept }) => {
      const socket = await accept();
      sendOn(socket, 1, 'some');
      socket.close();
    });
    const { stdout, stderr, exited } = await execInPod(cluster, COMMAND);
    stderr.resume();
    expect(await failureOf(exited)).toMatchObject({ failure: 'connection-ended' });
    expect(await text(stdout)).toBe('some');
  });

  it('the deadline passes', async () => {
    const cluster = await serve(async ({ accept }) => void (await accept()));
    expect(await failureOf(collectCommand(cluster, COMMAND, { timeoutMs: 50 }))).toMatchObject({
      failure: 'deadline',
      exitCode: 69,
    });
  });

  it('the deadline passes before the server responds', async () => {
    const cluster = await serve(() => undefined);
    expect(await failureOf(execInPod(cluster, COMMAND, { timeoutMs: 50 }))).toMatchObject({ failure: 'deadline' });
  });

  it('the caller aborts it: the server notices', async () => {
    const gone = Promise.withResolvers<void>();
    const cluster = await serve(async ({ accept }) => {
      (await accept()).once('close', () => gone.resolve());
    });
    const ending = new AbortController();
    const { exited } = await execInPod(cluster, COMMAND, { signal: ending.signal });
    ending.abort();
    expect(await failureOf(exited)).toMatchObject({ failure: 'aborted' });
    await gone.promise;
  });

  it('the caller aborted it before', async () => {
    const cluster = await serve(() => undefined);
    expect(await failureOf(execInPod(cluster, COMMAND, { signal: AbortSignal.abort() }))).toMatchObject({ failure: 'aborted' });
  });
});
