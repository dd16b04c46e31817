/** Peers that know only `wol.v1.WOLService`, built from the .proto alone. */
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import {
  type Client,
  credentials,
  loadPackageDefinition,
  type Metadata,
  Server,
  ServerCredentials,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startAgent, startManager, VM_A } from './wol-fixtures.js';

const PROTO = fileURLToPath(new URL('../../proto/wol/v1/wol.proto', import.meta.url));
// biome-ignore lint/suspicious/noExplicitAny: what a .proto gives has no types.
const { WOLService } = (loadPackageDefinition(loadSync(PROTO)) as any).wol.v1;
const until = (condition: () => unknown) => vi.waitFor(() => expect(condition()).toBeTruthy(), { timeout: 10_000, interval: 5 });
const EVENT = {
  macAddress: VM_A,
  timestamp: { seconds: 1_700_000_000, nanos: 0 },
  nodeName: 'node-1',
  sourceIp: '192.0.2.7',
  sourcePort: 40_000,
  packetSize: 102,
};

function connect(address: string): Client & Record<string, CallableFunction> {
  const client = new WOLService(address, credentials.createInsecure());
  onTestFinished(() => client.close());
  return client;
}

function call(client: Record<string, CallableFunction>, method: string, request: object) {
  return new Promise<{ error: ServiceError | null; response: Record<string, unknown>; metadata: Metadata | undefined }>(
    (resolve) => {
      client[method]?.(request, (error: ServiceError | null, response: Record<string, unknown>) =>
        resolve({ error, response, metadata: error?.metadata }),
      );
    },
  );
}

describe('an agent of the predecessor', { timeout: 30_000 }, () => {
  it('reports, and reads the answer', async () => {
    const manager = await startManager();
    const { response } = await call(connect(manager.address), 'ReportWOLEvent', EVENT);
    expect(manager.reports).toEqual([expect.objectContaining({ macAddress: VM_A, ageMs: 0 })]);
    expect(response).toMatchObject({ message: 'started', vmInfo: { name: 'vm-a', namespace: 'lab', currentState: 'Stopped' } });
    expect(response['status']).toBe(4);
  });

  it('gets an error from a manager that is not leader, with the leader in the trailing metadata', async () => {
    const manager = await startManager();
    manager.outcome = { kind: 'not-leading', leader: '10.0.0.1:18443' };
    const { error, metadata } = await call(connect(manager.address), 'ReportWOLEvent', EVENT);
    expect(error?.code).toBe(9);
    expect(metadata?.get('wol-leader')).toEqual(['10.0.0.1:18443']);
  });

  it.each([
    [true, 1],
    [false, 2],
  ])('checks the health of a manager that serves: %s, status %i', async (isServing, status) => {
    const manager = await startManager();
    manager.isServing = isServing;
    expect((await call(connect(manager.address), 'HealthCheck', {})).response['status']).toBe(status);
  });

  it('reports in a stream: one answer for each event in order, and a malformed one ends nothing', async () => {
    const manager = await startManager();
    const stream = connect(manager.address)['ReportWOLEventStream']?.();
    const answers: { readonly status: number }[] = [];
    stream.on('data', (answer: { readonly status: number }) => answers.push(answer));
    for (const event of [EVENT, { ...EVENT, macAddress: 'vm-a' }, EVENT]) stream.write(event);
    await until(() => answers.length === 3);
    expect(answers.map(({ status }) => status)).toEqual([4, 6, 4]);
    const ended = new Promise((resolve) => stream.on('end', resolve));
    stream.end();
    await ended;
    expect(manager.reports).toHaveLength(2);
  });

  it('reports in a stream to a manager that loses the leadership: the stream ends with the leader', async () => {
    const manager = await startManager();
    manager.outcome = { kind: 'not-leading', leader: '10.0.0.1:18443' };
    const stream = connect(manager.address)['ReportWOLEventStream']?.();
    const failed = new Promise<ServiceError>((resolve) => stream.on('error', resolve));
    stream.on('data', () => {});
    stream.write(EVENT);
    const { code, metadata } = await failed;
    expect(code).toBe(9);
    expect(metadata.get('wol-leader')).toEqual(['10.0.0.1:18443']);
  });
});

describe('a manager of the predecessor', { timeout: 30_000 }, () => {
  it('accepts reports of our agent, which continues without a list', async () => {
    const events: unknown[] = [];
    const server = new Server();
    server.addService(WOLService.service, {
      ReportWOLEvent: (request: { request: unknown }, respond: CallableFunction) => {
        events.push(request.request);
        respond(null, { status: 'DUPLICATE', message: 'seen', wasDuplicate: true });
      },
      HealthCheck: (_: unknown, respond: CallableFunction) => respond(null, { status: 'SERVING' }),
    });
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    );
    onTestFinished(() => server.forceShutdown());
    const agent = await startAgent(`127.0.0.1:${port}`);
    await until(() => agent.client.state.kind === 'connected');
    expect(agent.kinds()).toEqual(['no-list', 'connected']);
    expect(await agent.report()).toMatchObject({ kind: 'answered', answer: { status: 'duplicate', wasDuplicate: true } });
    expect(events).toEqual([
      expect.objectContaining({ macAddress: VM_A, nodeName: 'node-1', sourceIp: '192.0.2.7', packetSize: 102 }),
    ]);
  });

  it('a server that is not gRPC is named', async () => {
    const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    );
    onTestFinished(() => void server.close());
    const agent = await startAgent(`127.0.0.1:${port}`);
    await until(() => agent.kinds().includes('disconnected'));
    expect(agent.client.state.why).not.toBe('');
    expect((await agent.report()).kind).toBe('unavailable');
  });
});
