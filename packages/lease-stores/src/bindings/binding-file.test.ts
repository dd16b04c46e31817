import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BindingRecord, type BindingTable, formatBindingRecord } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BindingFile } from './binding-file.js';
import { formatBindingLine, parseBindingLine } from './binding-line.js';
import { Crash, FakeDisk } from './fake-disk-fixtures.js';

const FOLDER = '/state';
const PATH = `${FOLDER}/bindings`;
const macOf = (client: number) => `02:00:00:00:00:${client.toString(16).padStart(2, '0')}`;

function bound(client: number, address: number, endsAtMs = 1_000): BindingRecord {
  const macAddress = macOf(client);
  return {
    ...{ kind: 'binding', poolName: 'net', address: 0x0a000000 + address, macAddress },
    ...{ boundAtMs: 0, grantedAtMs: 0, endsAtMs, isReleased: false },
  };
}

const open = (disk: FakeDisk) => BindingFile.open({ folder: FOLDER, nowMs: () => 7 }, disk.files);

function textsOf(tables: ReadonlyMap<string, BindingTable>): string[] {
  return [...tables.values()].flatMap((table) => [...table.records()].map(formatBindingRecord)).toSorted();
}

async function reopened(disk: FakeDisk): Promise<string[]> {
  const { file, tables } = await open(disk);
  await file.close();
  return textsOf(tables);
}

describe('a line', () => {
  it('a line holds a record, and no other text does', () => {
    const record = bound(1, 10);
    const line = formatBindingLine(record).slice(0, -1);
    expect(parseBindingLine(line)).toEqual({ ok: true, record });
    for (let cut = 0; cut < line.length; cut++) expect(parseBindingLine(line.slice(0, cut)).ok).toBe(false);
    expect(parseBindingLine(line.replace('10.0.0.10', '10.0.0.11'))).toEqual({ ok: false, reason: 'checksum-wrong' });
  });
});

describe('the file of bindings', () => {
  it('is created, grows, and is found again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-bindings-'));
    try {
      const first = await BindingFile.open({ folder, nowMs: Date.now });
      await first.file.append([bound(1, 10), bound(2, 11)]);
      await first.file.append([bound(1, 12)]);
      await first.file.close();
      expect(readFileSync(join(folder, 'bindings'), 'utf8').split('\n')).toHaveLength(5);
      const second = await BindingFile.open({ folder, nowMs: Date.now });
      expect(textsOf(second.tables)).toEqual([bound(1, 12), bound(2, 11)].map(formatBindingRecord).toSorted());
      await second.file.replace([bound(3, 13)]);
      await second.file.append([bound(4, 14)]);
      await second.file.close();
      const third = await BindingFile.open({ folder, nowMs: Date.now });
      await third.file.close();
      expect(third.reading).toMatchObject({ records: 2, tornOctets: 0, corrupt: [] });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('drops a last line that was cut, and continues after the line before', async () => {
    const disk = new FakeDisk();
    const { file } = await open(disk);
    await file.append([bound(1, 10)]);
    disk.setText(PATH, disk.textOf(PATH) + formatBindingLine(bound(2, 11)).slice(0, 40));
    const second = await open(disk);
    expect(second.reading).toMatchObject({ records: 1, tornOctets: 40, corrupt: [] });
    await second.file.append([bound(3, 12)]);
    expect(await reopened(disk)).toEqual([bound(1, 10), bound(3, 12)].map(formatBindingRecord).toSorted());
  });

  it('reports a corrupt line in the middle with its number and the lost lease, keeps the file, and continues with the rest', async () => {
    const disk = new FakeDisk();
    const { file } = await open(disk);
    await file.append([bound(1, 10), bound(2, 11), bound(3, 12)]);
    const corrupt = disk.textOf(PATH).replace('"ends":1000', '"ends":9000');
    disk.setText(PATH, corrupt);
    const { reading, setAsideAs } = await open(disk);
    expect(reading.corrupt).toEqual([
      { line: 2, reason: 'checksum-wrong', lost: 'the lease of 10.0.0.10 of pool net to 02:00:00:00:00:01' },
    ]);
    expect(disk.textOf(setAsideAs ?? '')).toBe(corrupt);
    expect(disk.textOf(PATH)).not.toContain('10.0.0.10"');
    expect(await reopened(disk)).toEqual([bound(2, 11), bound(3, 12)].map(formatBindingRecord).toSorted());
  });

  it('is refused if a later version wrote it, and is left unchanged', async () => {
    const disk = new FakeDisk();
    disk.setText(PATH, 'vmdhcp-agent-bindings 2\nsomething else\n');
    await expect(open(disk)).rejects.toThrow(
      'bindings /state/bindings: it has format version 2; this program reads 1; run the version of vmdhcp-agent that has written it',
    );
    expect(disk.textOf(PATH)).toBe('vmdhcp-agent-bindings 2\nsomething else\n');
  });

  it.each([
    ['append', 'ENOSPC', 'the disk is full (ENOSPC); free space on it'],
    ['flush', 'EIO', 'refused; look at the disk and free or repair it'],
  ] as const)(
    'a failed %s (%s) fails only that group, and says why; nothing of the group is found later',
    async (failing, code, words) => {
      const disk = new FakeDisk();
      const { file } = await open(disk);
      await file.append([bound(1, 10)]);
      disk.setFaults({ failsWith: (operation) => (operation === failing ? code : undefined) });
      await expect(file.append([bound(2, 11)])).rejects.toThrow(`bindings /state/bindings cannot be written: ${words}`);
      // The repair writes nothing after a failed write, and a whole file after a failed flush.
      const repair = await file.append([]).then(
        () => 'repaired',
        () => 'not repaired',
      );
      expect(repair).toBe(failing === 'append' ? 'repaired' : 'not repaired');
      disk.setFaults({});
      await file.append([bound(3, 12)]);
      expect(await reopened(disk)).toEqual([bound(1, 10), bound(3, 12)].map(formatBindingRecord).toSorted());
      expect(disk.names()).toEqual([PATH]);
    },
  );

  it('a failed snapshot leaves the file unchanged, and leaves no other file', async () => {
    const disk = new FakeDisk();
    const { file } = await open(disk);
    await file.append([bound(1, 10)]);
    disk.setFaults({ failsWith: (operation) => (operation === 'append' ? 'ENOSPC' : undefined) });
    await expect(file.replace([bound(2, 11)])).rejects.toThrow('the disk is full');
    disk.setFaults({});
    await file.append([bound(3, 12)]);
    expect(await reopened(disk)).toEqual([bound(1, 10), bound(3, 12)].map(formatBindingRecord).toSorted());
  });
});

/** What a server does with its store: it writes groups of records, and snapshots of the current ones. */
type Work = { readonly kind: 'append'; readonly clients: readonly number[] } | { readonly kind: 'replace' };

const work: fc.Arbitrary<Work> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('append' as const), clients: fc.uniqueArray(fc.nat(5), { minLength: 1 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replace' as const) }) },
);

describe('laws of the file of bindings', () => {
  it('a crash at any octet of any write loses nothing that was acknowledged, and adds nothing that was not written', async () => {
    const scenario = fc.record({
      works: fc.array(work, { minLength: 1, maxLength: 6 }),
      crashAt: fc.double({ min: 0, max: 1, noNaN: true }),
      survives: fc.double({ min: 0, max: 1, noNaN: true }),
      failsAt: fc.option(fc.record({ operation: fc.constantFrom('append' as const, 'flush' as const), after: fc.nat(6) }), {
        nil: undefined,
      }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ works, crashAt, survives, failsAt }) => {
        const dry = new FakeDisk();
        await run(dry, works);
        const disk = new FakeDisk();
        let countdown = failsAt?.after ?? -1;
        const failsWith = (operation: string) =>
          operation === failsAt?.operation && countdown-- === 0 ? ('EIO' as const) : undefined;
        disk.setFaults({ crashAtStep: Math.floor(crashAt * dry.steps), survives, failsWith });
        const { acknowledged, tried } = await run(disk, works);
        disk.restart();
        const { file, tables, reading } = await open(disk);
        await file.close();
        expect(reading.corrupt).toEqual([]);
        const found = tables.get('net');
        // A client has the lease that was acknowledged last, or one that was requested after that.
        for (const [client, times] of tried) {
          const acknowledgedTime = acknowledged.get(client) ?? 0;
          const foundTime = found?.ofClient(macOf(client))?.endsAtMs ?? 0;
          expect(foundTime).toBeGreaterThanOrEqual(acknowledgedTime);
          expect([0, ...times]).toContain(foundTime);
        }
      }),
      { numRuns: 1_000, seed: 86 },
    );
  });

  it('a crash at every single step of a short life', async () => {
    const works: Work[] = [{ kind: 'append', clients: [1] }, { kind: 'replace' }, { kind: 'append', clients: [1, 2] }];
    const dry = new FakeDisk();
    await run(dry, works);
    expect(dry.steps).toBeGreaterThan(500);
    for (let crashAtStep = 0; crashAtStep < dry.steps; crashAtStep++) {
      for (const survives of [0, 0.4, 1]) {
        const disk = new FakeDisk();
        disk.setFaults({ crashAtStep, survives });
        const { acknowledged } = await run(disk, works);
        disk.restart();
        const { file, tables } = await open(disk);
        await file.close();
        for (const [client, endsAtMs] of acknowledged)
          expect(tables.get('net')?.ofClient(macOf(client))?.endsAtMs ?? 0).toBeGreaterThanOrEqual(endsAtMs);
      }
    }
  });
});

/** The end of the lease of each client, which distinguishes one record from another. */
interface Outcome {
  readonly acknowledged: Map<number, number>;
  readonly tried: Map<number, number[]>;
}

async function run(disk: FakeDisk, works: readonly Work[]): Promise<Outcome> {
  const outcome: Outcome = { acknowledged: new Map(), tried: new Map() };
  // An agent whose disk fails when it opens the file does not start.
  const opened = await open(disk).catch(() => undefined);
  if (opened === undefined) return outcome;
  try {
    const { file } = opened;
    for (const [index, each] of works.entries()) await perform(file, each, { outcome, endsAtMs: index + 1 });
  } catch (error) {
    if (!(error instanceof Crash) && !((error as Error).cause instanceof Crash)) throw error;
  }
  return outcome;
}

async function perform(
  file: BindingFile,
  each: Work,
  { outcome: { acknowledged, tried }, endsAtMs }: { readonly outcome: Outcome; readonly endsAtMs: number },
): Promise<void> {
  const clients = each.kind === 'append' ? each.clients : [];
  for (const client of clients) tried.set(client, [...(tried.get(client) ?? []), endsAtMs]);
  try {
    if (each.kind === 'replace') await file.replace([...acknowledged].map(([client, ends]) => bound(client, client, ends)));
    else await file.append(clients.map((client) => bound(client, client, endsAtMs)));
    for (const client of clients) acknowledged.set(client, endsAtMs);
  } catch (error) {
    if ((error as Error).cause instanceof Crash) throw error;
  }
}
