import { describe, expect, it } from 'vitest';
import { LEASE_STORE_CONTRACT } from '../testing/contract.js';
import { ApiRequestError } from './api-connection.js';
import { type ApiLeaseSettings, ApiLeaseStore, type LeaseObject, toStoredLease } from './api-lease-store.js';
import { LeaseServer } from './lease-server-fixtures.js';

const EXACT = 'example.org/lease-duration-ms';
const MINE = { holder: 'me', leaseDurationMs: 15_000, transitions: 0 };

function setUp(settings: Partial<ApiLeaseSettings> = {}) {
  const server = new LeaseServer();
  const wall = { ms: Date.UTC(2026, 0, 1) };
  const store = (connection = server.connection()) =>
    new ApiLeaseStore(connection, {
      namespace: 'n',
      name: 'l',
      wallTimeMs: () => wall.ms,
      durationAnnotation: EXACT,
      ...settings,
    });
  return { server, wall, store };
}

describe('fact 24: a Lease over HTTP', () => {
  it.each(LEASE_STORE_CONTRACT)('$name', async ({ check }) => {
    const { store } = setUp();
    await check({ one: store(), other: store(), wait: (answer) => answer });
  });
});

describe('a Lease as it is stored', () => {
  it('has the times that people read: the second of six digits, and since when this holder has it', async () => {
    const { server, wall, store } = setUp({ labels: { app: 'x' } });
    const mine = store();
    const first = await mine.write(MINE, undefined);
    expect(server.lease).toMatchObject({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'n', name: 'l', labels: { app: 'x' } },
      spec: {
        holderIdentity: 'me',
        leaseDurationSeconds: 15,
        acquireTime: '2026-01-01T00:00:00.000000Z',
        renewTime: '2026-01-01T00:00:00.000000Z',
        leaseTransitions: 0,
      },
    });
    wall.ms += 1_500;
    const second = await mine.write(MINE, first?.version);
    expect(server.lease?.spec).toMatchObject({
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:01.500000Z',
    });
    wall.ms += 1_000;
    await mine.write({ ...MINE, holder: '' }, second?.version);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: '', acquireTime: '2026-01-01T00:00:02.500000Z' });
  });

  it('keeps labels, annotations and fields of other clients, and takes nothing from an object that is gone', async () => {
    const { server, store } = setUp({ annotations: (isNew) => ({ mine: isNew ? 'new' : 'again' }), labels: { mine: '1' } });
    const mine = store();
    await mine.write(MINE, undefined);
    expect(server.lease?.metadata.annotations).toEqual({ mine: 'new' });
    const stored = server.lease as LeaseObject;
    server.lease = {
      ...stored,
      metadata: { ...stored.metadata, labels: { theirs: '2', mine: '0' }, annotations: { theirs: '3' } },
      spec: { ...stored.spec, ...{ strategy: 'kept' } },
    };
    const read = await mine.read();
    await mine.write(MINE, read?.version);
    expect(server.lease.metadata).toMatchObject({
      labels: { theirs: '2', mine: '1' },
      annotations: { theirs: '3', mine: 'again' },
    });
    expect(server.lease.spec).toMatchObject({ strategy: 'kept' });
    server.lease = undefined;
    await mine.write(MINE, undefined);
    expect((server.lease as LeaseObject | undefined)?.metadata.annotations).toEqual({ mine: 'new' });
  });

  it.each([
    [1, 1, '1'],
    [2_500, 3, '2500'],
    [3_000, 3, undefined],
    [0, 1, undefined],
  ])('a duration of %i ms is %i s, and exact in an annotation where it is not whole', async (leaseDurationMs, seconds, exact) => {
    const { server, store } = setUp();
    const written = await store().write({ ...MINE, leaseDurationMs }, undefined);
    expect(server.lease?.spec?.leaseDurationSeconds).toBe(seconds);
    expect(Object.values(server.lease?.metadata.annotations ?? {})).toEqual(exact === undefined ? [] : [exact]);
    expect(written?.record.leaseDurationMs).toBe(leaseDurationMs === 0 ? 1_000 : leaseDurationMs);
  });

  it('an annotation that another writer left behind is ignored', () => {
    const metadata = { name: 'l', resourceVersion: '7', annotations: { [EXACT]: '2500' } };
    const record = (leaseDurationSeconds: number) => toStoredLease({ metadata, spec: { leaseDurationSeconds } }, EXACT).record;
    expect([record(3).leaseDurationMs, record(15).leaseDurationMs, record(2).leaseDurationMs]).toEqual([2_500, 15_000, 2_000]);
  });

  it('without an annotation for it, a duration is rounded up to seconds, and none is written', async () => {
    const server = new LeaseServer();
    const store = new ApiLeaseStore(server.connection(), { namespace: 'n', name: 'l', wallTimeMs: () => 0 });
    const written = await store.write({ ...MINE, leaseDurationMs: 2_750 }, undefined);
    expect(written?.record.leaseDurationMs).toBe(3_000);
    expect(server.lease?.metadata.annotations).toEqual({});
    const metadata = { name: 'l', annotations: { [EXACT]: '2500' } };
    expect(toStoredLease({ metadata, spec: { leaseDurationSeconds: 3 } }).record.leaseDurationMs).toBe(3_000);
  });

  it('an empty Lease has no holder', () => {
    expect(toStoredLease({ metadata: { name: 'l' } })).toEqual({
      record: { holder: '', leaseDurationMs: 0, transitions: 0 },
      version: '',
    });
  });

  it('its annotations are reported on every read and write, but not if there is no Lease', async () => {
    const seen: unknown[] = [];
    const { server, store } = setUp({ onAnnotations: (annotations, version) => seen.push([annotations, version]) });
    const mine = store();
    await mine.read();
    await mine.write(MINE, undefined);
    server.lease = { ...(server.lease as LeaseObject), metadata: { name: 'l', resourceVersion: '9', annotations: { a: 'b' } } };
    await mine.read();
    expect(seen).toEqual([
      [{}, '1'],
      [{ a: 'b' }, '9'],
    ]);
  });

  it('a Lease that was deleted meanwhile is not written, even if the server answers HTTP 500', async () => {
    const { server, store } = setUp();
    const first = await store().write(MINE, undefined);
    server.lease = undefined;
    expect(await store().write(MINE, first?.version)).toBeUndefined();
    const broken = new ApiRequestError('storage', { status: 500 });
    const failing = server.connection(async (request) => {
      if (request.method === 'PUT') throw broken;
      return server.answer(request);
    });
    expect(await store(failing).write(MINE, '1')).toBeUndefined();
    await store().write(MINE, undefined);
    await expect(store(failing).write(MINE, '2')).rejects.toBe(broken);
    const gone = new ApiRequestError('gateway', { status: 502 });
    server.lease = undefined;
    const behindGateway = server.connection(async () => Promise.reject(gone));
    await expect(store(behindGateway).write(MINE, '1')).rejects.toBe(gone);
    for (const error of [gone, new Error('bug')]) {
      const failingWrites = server.connection(async (request) => {
        if (request.method === 'PUT') throw error;
        return server.answer(request);
      });
      await expect(store(failingWrites).write(MINE, '1')).rejects.toBe(error);
    }
  });

  it('is read and written at the path of Leases', async () => {
    const { server, store } = setUp();
    const asked: string[] = [];
    const recording = server.connection(async (request) => {
      asked.push(`${request.method} ${request.path}`);
      return server.answer(request);
    });
    const mine = store(recording);
    const written = await mine.write(MINE, undefined);
    await mine.write(MINE, written?.version);
    await mine.read();
    const leases = '/apis/coordination.k8s.io/v1/namespaces/n/leases';
    expect(asked).toEqual([`POST ${leases}`, `PUT ${leases}/l`, `GET ${leases}/l`]);
  });

  it('a write that is not permitted is an error; the message says if the Lease does not exist', async () => {
    const { server, store } = setUp();
    const forbidden = server.connection(async () => {
      throw new ApiRequestError('leases is forbidden', { status: 403 });
    });
    await expect(store(forbidden).write(MINE, undefined)).rejects.toThrow(
      'Lease n/l does not exist, and cannot be created from here: leases is forbidden',
    );
    await expect(store(forbidden).write(MINE, '1')).rejects.toThrow(/^leases is forbidden$/);
    await expect(store(forbidden).read()).rejects.toThrow('leases is forbidden');
  });
});
