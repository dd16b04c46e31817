import { type BindingRecord, formatBindingRecord } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { randomFrom } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { formatBindingLine } from '../bindings/binding-line.js';
import type { OpenedRecords } from '../bindings/opened-records.js';
import { recordsOf } from '../bindings/tables-by-pool.js';
import { BindingObjects, type BindingObjectsSettings } from './binding-objects.js';
import { createSlices } from './create-slices.js';
import { FakeSlices, type Fate, World } from './fake-slices-fixtures.js';
import { readStoredLeases } from './read-stored-leases.js';

const HEAD = 'ns/lab-leases';

function bound(client: number, address = client): BindingRecord {
  const macAddress = `02:00:00:00:${(client >> 8).toString(16).padStart(2, '0')}:${(client & 255).toString(16).padStart(2, '0')}`;
  return {
    ...{ kind: 'binding', poolName: 'net', address, macAddress },
    ...{ boundAtMs: 0, grantedAtMs: 0, endsAtMs: 1_000, isReleased: false },
  };
}

interface Setup {
  readonly world: World;
  readonly slices: FakeSlices;
  readonly words: string[];
  readonly fates: { of: (request: number, isWrite: boolean) => Fate };
  readonly open: (more?: Partial<BindingObjectsSettings>) => Promise<OpenedRecords>;
  readonly create: (records: readonly BindingRecord[]) => Promise<void>;
  /** What a replica that starts now finds. */
  readonly found: () => Promise<string[]>;
}

function setUp(random = randomFrom(1)): Setup {
  const world = new World();
  const slices = new FakeSlices(world, random);
  const words: string[] = [];
  const fates: Setup['fates'] = { of: () => 'answered' };
  const open: Setup['open'] = (more) => {
    const { slices: objects, versions } = slices.client((request, isWrite) => fates.of(request, isWrite));
    const settings: BindingObjectsSettings = {
      ...{ slices: objects, versions, clock: world.clock, random: () => 0, namespace: 'ns', clusterAgent: 'lab', replica: 'one' },
      onDamage: (problem) => words.push(problem),
      onTakenOver: () => words.push('taken over'),
    };
    return soon(world, BindingObjects.open({ ...settings, ...more }));
  };
  const create: Setup['create'] = (records) => {
    const ports = slices.client(() => 'answered');
    return createSlices(
      { ...ports, clock: world.clock, random: () => 0, namespace: 'ns', clusterAgent: 'lab', replica: 'import' },
      records,
    );
  };
  const found = async () => {
    fates.of = () => 'answered';
    return [...recordsOf((await open()).tables)].map(formatBindingRecord).toSorted();
  };
  return { world, slices, words, fates, open, create, found };
}

/** The result, while time goes on; operations in progress then may still complete later. */
async function soon<Result>(world: World, result: Promise<Result>): Promise<Result> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  result.then(over, over);
  for (let untilMs = world.clock.nowMs(); !isOver; untilMs += 100) await world.run(untilMs);
  return result;
}

const textsOf = (records: readonly BindingRecord[]) => records.map(formatBindingRecord).toSorted();
const clients = (count: number) => Array.from({ length: count }, (_, index) => bound(index + 1));
const SMALL = { headOctets: 700, sliceOctets: 500 };

describe('leases in API objects', () => {
  it('are appended to the head, then moved to other slices, and are found again', async () => {
    const { world, open, slices, found } = setUp();
    const { store, reports } = await open({ limits: SMALL, owner: { apiVersion: 'v1', kind: 'Owner', name: 'lab', uid: '7' } });
    for (const record of clients(12)) await soon(world, store.append([record]));
    expect([...slices.objects.keys()]).toEqual([HEAD, `${HEAD}-1-0`, `${HEAD}-1-1`]);
    for (const { metadata } of slices.objects.values())
      expect(metadata).toMatchObject({ labels: { 'bmc.spidernet.io/leases-of': 'lab' }, ownerReferences: [{ name: 'lab' }] });
    expect(reports).toEqual([]);
    expect(await found()).toEqual(textsOf(clients(12)));
  });

  it('include a group that is larger than a slice', async () => {
    const { world, open, found } = setUp();
    const { store } = await open({ limits: SMALL });
    await soon(world, store.append(clients(30)));
    expect(await found()).toEqual(textsOf(clients(30)));
  });

  it('are replaced by a snapshot, which deletes the replaced slices', async () => {
    const { world, open, slices, found } = setUp();
    const { store } = await open({ limits: SMALL });
    for (const record of clients(12)) await soon(world, store.append([record]));
    await soon(world, store.replace(clients(2)));
    await soon(world, store.close());
    expect([...slices.objects.keys()]).toEqual([HEAD, `${HEAD}-1-2`]);
    expect(store.isLong(2)).toBe(false);
    expect(await found()).toEqual(textsOf(clients(2)));
  });

  it('need few requests, each of them small, if many clients arrive at once', async () => {
    const { world, open, slices } = setUp();
    const { store } = await open();
    const sizes: number[] = [];
    const versionBefore = Number(slices.objects.get(HEAD)?.metadata.resourceVersion);
    const beganAtMs = world.clock.nowMs();
    for (let first = 0; first < 1_000; first += 10) {
      await soon(world, store.append(clients(first + 10).slice(first)));
      sizes.push(JSON.stringify(slices.objects.get(HEAD)).length);
    }
    const writes = Number(slices.objects.get(HEAD)?.metadata.resourceVersion) - versionBefore;
    expect(writes).toBeLessThan(120);
    expect(world.clock.nowMs() - beganAtMs).toBeGreaterThanOrEqual(99 * 50);
    expect(Math.max(...sizes)).toBeLessThan(32 << 10);
  });
});

describe('leases that are read for another server', () => {
  const read = ({ world, slices }: Setup) =>
    soon(world, readStoredLeases({ slices: slices.client(() => 'answered').slices, namespace: 'ns', clusterAgent: 'lab' }));

  it('include all records that count, in order, and nothing is written', async () => {
    const setup = setUp();
    const { store } = await setup.open({ limits: SMALL });
    for (const record of clients(12)) await soon(setup.world, store.append([record]));
    const before = JSON.stringify([...setup.slices.objects]);
    expect((await read(setup)).map(formatBindingRecord)).toEqual(clients(12).map(formatBindingRecord));
    expect(JSON.stringify([...setup.slices.objects])).toBe(before);
  });

  it('are refused if there are none or a slice is missing, with what to do', async () => {
    const setup = setUp();
    await expect(read(setup)).rejects.toThrow(/LeaseSlice ns\/lab-leases does not exist: .* --state-dir/);
    const { store } = await setup.open({ limits: SMALL });
    for (const record of clients(12)) await soon(setup.world, store.append([record]));
    setup.slices.objects.delete(`${HEAD}-1-0`);
    await expect(read(setup)).rejects.toThrow(/incomplete \(LeaseSlice ns\/lab-leases-1-0 does not exist.*replicas to 0/);
  });
});

describe('leases of another server', () => {
  it('become those of a ClusterAgent that has none, including quarantines, for the next leader', async () => {
    const { world, create, found } = setUp();
    const quarantine: BindingRecord = { kind: 'quarantine', poolName: 'net', address: 40, untilMs: Number.POSITIVE_INFINITY };
    await soon(world, create([...clients(12), quarantine]));
    expect(await found()).toEqual(textsOf([...clients(12), quarantine]));
  });

  it('may be imported after an agent that never had a client', async () => {
    const { world, open, create, found } = setUp();
    await open();
    await soon(world, create(clients(2)));
    expect(await found()).toEqual(textsOf(clients(2)));
  });

  it.each(['in the head', 'in slices without a head'])('never replace leases %s', async (where) => {
    const { world, open, slices, create, found } = setUp();
    const { store } = await open({ limits: SMALL });
    for (const record of clients(12)) await soon(world, store.append([record]));
    if (where !== 'in the head') slices.objects.delete(HEAD);
    await expect(soon(world, create([bound(99)]))).rejects.toThrow(/ClusterAgent lab has leases in ns already/);
    expect(await found()).not.toContain(textsOf([bound(99)])[0]);
  });
});

describe('a former leader', () => {
  it('records nothing more, and is told once', async () => {
    const { world, open, words, found } = setUp();
    const former = await open();
    await soon(world, former.store.append([bound(1)]));
    const next = await open({ replica: 'two' });
    for (const work of [former.store.append([bound(2)]), former.store.replace([]), former.store.repair?.()])
      await expect(soon(world, Promise.resolve(work))).rejects.toThrow(
        /^lease slices ns\/lab-leases cannot be written: leases are recorded by another replica now \(two [-0-9a-f]{36}\); this one stops$/,
      );
    expect(words).toEqual(['taken over']);
    await soon(world, next.store.append([bound(3)]));
    expect(await found()).toEqual(textsOf([bound(1), bound(3)]));
  });

  it('sends nothing when it knows that it is not leader', async () => {
    const { world, open, found } = setUp();
    let isLeading = true;
    const { store } = await open({ mayWrite: () => isLeading });
    isLeading = false;
    await expect(soon(world, store.append([bound(1)]))).rejects.toThrow('not leader');
    expect(await found()).toEqual([]);
  });
});

describe('a bad network', () => {
  it.each<Fate>(['answer-lost', 'not-sent', 'busy', 'late'])(
    'that makes one request %s: the record is stored once',
    async (fate) => {
      const { world, open, fates, words, found } = setUp();
      const { store } = await open();
      let isFirst = true;
      fates.of = (_, isWrite) => {
        if (!isWrite || !isFirst) return 'answered';
        isFirst = false;
        return fate;
      };
      await soon(world, store.append([bound(1)]));
      await world.run();
      expect(words).toEqual([]);
      expect(await found()).toEqual(textsOf([bound(1)]));
    },
  );

  it('that delays a failed write: it names no slice that was deleted meanwhile', async () => {
    // Late requests arrive 20 s later.
    const { world, open, fates, words, found } = setUp((below) => below - 1);
    const { store } = await open({ limits: SMALL });
    await soon(world, store.append(clients(3)));
    let writes = 0;
    fates.of = (_, isWrite) => (isWrite && writes++ > 0 ? 'late' : 'answered');
    await expect(soon(world, store.append([bound(4), bound(5), bound(6)]))).rejects.toThrow(
      'cannot be written: connection reset',
    );
    fates.of = () => 'answered';
    expect(await soon(world, store.check?.() ?? Promise.resolve([]))).toEqual([]);
    await world.run();
    expect(await found()).toEqual(textsOf(clients(3)));
    expect(words).toEqual([]);
  });

  it('a refusal of the server is not tried again', async () => {
    const { world, open, slices } = setUp();
    const client = slices.client(() => 'answered');
    const refusal = { ok: false, reason: 'forbidden', message: 'leaseslices is forbidden' } as const;
    const { store } = await open({ ...client, slices: { ...client.slices, patch: async () => refusal } });
    await expect(soon(world, store.append([bound(1)]))).rejects.toThrow('leaseslices is forbidden');
  });
});

describe('changes of other clients to the objects are reported in words, and the known content is written again', () => {
  const edited = { spec: { records: 'nothing\n' } };

  it.each<[what: string, act: (slices: FakeSlices) => void, words: string]>([
    [
      'deletes the head',
      (slices) => slices.objects.delete(HEAD),
      `lease slice ${HEAD} was deleted; it is written again from memory`,
    ],
    [
      'edits the head',
      (slices) => slices.patch({ key: HEAD }, edited),
      `lease slice ${HEAD} was changed by another client; it is written again from memory`,
    ],
  ])('%s: at the next record, or at the next check', async (_, act, expected) => {
    const { world, open, slices, words, found } = setUp();
    const { store } = await open({ limits: SMALL });
    await soon(world, store.append(clients(6)));
    act(slices);
    await soon(world, store.append([bound(7)]));
    act(slices);
    expect(await soon(world, store.check?.() ?? Promise.resolve([]))).toEqual([]);
    expect(words).toEqual([expected, expected]);
    expect(await found()).toEqual(textsOf(clients(7)));
  });

  it.each<[what: string, act: (slices: FakeSlices) => void]>([
    ['was deleted', (slices) => slices.objects.delete(`${HEAD}-1-0`)],
    ['was changed', (slices) => slices.patch({ key: `${HEAD}-1-0` }, edited)],
  ])('a slice %s: the next check asks for a snapshot', async (what, act) => {
    const { world, open, slices, found } = setUp();
    const { store } = await open({ limits: SMALL });
    for (const record of clients(6)) await soon(world, store.append([record]));
    act(slices);
    expect(await soon(world, store.check?.() ?? Promise.resolve([]))).toEqual([
      `lease slice ${HEAD}-1-0 ${what} by another client; its records are written again from memory`,
    ]);
    await soon(world, store.replace(clients(6)));
    expect(await found()).toEqual(textsOf(clients(6)));
  });

  it('a check deletes slices that do not count', async () => {
    const { world, open, slices } = setUp();
    const { store } = await open({ limits: SMALL });
    for (const record of clients(6)) await soon(world, store.append([record]));
    const spare = slices.objects.get(`${HEAD}-1-0`) as KubernetesObject;
    slices.objects.set(`${HEAD}-1-9`, { ...spare, metadata: { ...spare.metadata, name: 'lab-leases-1-9' } });
    expect(await soon(world, store.check?.() ?? Promise.resolve([]))).toEqual([]);
    expect([...slices.objects.keys()]).toEqual([HEAD, `${HEAD}-1-0`]);
  });
});

describe('what happened while no agent led', () => {
  it('corrupt records are ignored, reported with the lost lease, and kept for a person', async () => {
    const { world, open, slices, found } = setUp();
    const { store } = await open();
    await soon(world, store.append(clients(3)));
    const corrupt = clients(3).map(formatBindingLine).join('').replace('0.0.0.2', '0.0.0.9');
    slices.patch({ key: HEAD }, { spec: { records: corrupt } });
    const { reports } = await open();
    expect(reports).toEqual([
      {
        level: 'error',
        message: 'line 2 of the bindings is corrupt and is ignored: the lease of 0.0.0.9 of pool net to 02:00:00:00:00:02',
        fields: { slice: HEAD, setAsideAs: 'ns/lab-leases-corrupt-2', line: 2, reason: 'checksum-wrong' },
      },
    ]);
    const kept = slices.objects.get('ns/lab-leases-corrupt-2');
    expect(kept).toMatchObject({
      metadata: { labels: { 'bmc.spidernet.io/set-aside-leases-of': 'lab' } },
      spec: { records: corrupt },
    });
    expect(await found()).toEqual(textsOf([bound(1), bound(3)]));
  });

  it('a slice that is missing loses its records, and is reported once', async () => {
    const { world, open, slices, found } = setUp();
    const { store } = await open({ limits: SMALL });
    for (const record of clients(6)) await soon(world, store.append([record]));
    slices.objects.delete(`${HEAD}-1-0`);
    const message = 'the lease slice was deleted while no agent led; its leases are lost';
    expect((await open()).reports).toEqual([{ level: 'error', fields: { slice: `${HEAD}-1-0` }, message }]);
    expect((await open()).reports).toEqual([]);
    expect(await found()).toEqual(textsOf(clients(6).slice(5)));
  });

  it('without the head, the records of all slices count', async () => {
    const { world, open, slices, found } = setUp();
    const { store } = await open({ limits: SMALL });
    for (const record of clients(12)) await soon(world, store.append([record]));
    slices.objects.delete(HEAD);
    expect((await open()).reports).toEqual([
      {
        ...{ level: 'error', fields: { slice: HEAD } },
        message: 'the lease slice was deleted while no agent led; the newest leases are lost, those of 2 other slices are used',
      },
    ]);
    expect(await found()).toEqual(textsOf(clients(10)));
  });

  it.each([{ spec: null }, { spec: { leader: 'me', slices: [7], records: 8 } }])('an invalid head: %j', async (nonsense) => {
    const { world, open, slices, found } = setUp();
    const { store } = await open();
    await soon(world, store.append(clients(3)));
    slices.patch({ key: HEAD }, nonsense);
    const next = await open();
    await soon(world, next.store.append([bound(4)]));
    expect(await found()).toEqual(textsOf([bound(4)]));
  });
});
