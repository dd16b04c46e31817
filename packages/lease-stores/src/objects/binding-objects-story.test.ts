/**
 * Two replicas that both believe that they are leader, on an API server that loses responses, delays writes and refuses them.
 * Each records leases, tells clients about recorded ones, dies at any request, and starts again.
 */
import { type BindingRecord, type BindingTable, isBindingValid } from '@vmdhcp/dhcp-allocator';
import { type Random, randomFrom } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import type { OpenedRecords } from '../bindings/opened-records.js';
import { recordsOf, tableOf } from '../bindings/tables-by-pool.js';
import { BindingObjects } from './binding-objects.js';
import { FakeSlices, type Fate, World } from './fake-slices-fixtures.js';

const CLIENTS = 12;
const ADDRESSES = 9;
const macOf = (client: number) => `02:00:00:00:00:${client.toString(16).padStart(2, '0')}`;

function recordOf(client: number, address: number, isReleased = false): BindingRecord {
  return {
    ...{ kind: 'binding', poolName: 'net', address, macAddress: macOf(client) },
    ...{ boundAtMs: 0, grantedAtMs: 0, endsAtMs: Number.POSITIVE_INFINITY, isReleased },
  };
}

/** What clients know: which address they may use. */
class Clients {
  readonly addressOf = new Map<number, number>();
  acks = 0;

  acknowledged(client: number, address: number): void {
    for (const [other, used] of this.addressOf)
      if (used === address && other !== client)
        throw new Error(`address ${address} of client ${other} was given to client ${client}`);
    this.addressOf.set(client, address);
    this.acks++;
  }

  /** Checks that every lease of a client is stored. */
  check({ tables }: Pick<OpenedRecords, 'tables'>): void {
    for (const [client, address] of this.addressOf) {
      const binding = tables.get('net')?.ofClient(macOf(client));
      if (binding?.address !== address || !isBindingValid(binding, 0))
        throw new Error(`client ${client} has lost address ${address}: ${JSON.stringify(binding)}`);
    }
  }
}

interface Life {
  readonly slices: FakeSlices;
  readonly world: World;
  readonly clients: Clients;
  readonly random: Random;
  readonly fateOf: (request: number, isWrite: boolean) => Fate;
}

/** One run of a replica, until it dies, another one takes over, or it has done this many writes. True if it has done them all. */
async function run({ slices, world, clients, random, fateOf }: Life, writes: number): Promise<boolean> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  const { slices: objects, versions } = slices.client(fateOf, end);
  const opened = await BindingObjects.open({
    ...{ slices: objects, versions, clock: world.clock, random: () => random(1_000) / 1_000 },
    ...{ namespace: 'ns', clusterAgent: 'lab', replica: 'one', onTakenOver: end, onDamage: () => undefined },
    // A few records.
    limits: { headOctets: 700, sliceOctets: 500 },
  }).catch(() => undefined);
  if (opened === undefined || isOver) return false;
  clients.check(opened);
  const tables = new Map(opened.tables);
  tableOf(tables, recordOf(0, 0));
  const table = tables.get('net') as BindingTable;
  for (let write = 0; write < writes && !isOver; write++) {
    const work = random(9);
    if (work === 0) await opened.store.replace(recordsOf(tables)).catch(() => undefined);
    else if (work === 1) await opened.store.repair?.().catch(() => undefined);
    else if (work < 4) await opened.store.check?.().catch(() => []);
    else await append({ opened, table, clients, group: groupOf(table, clients, random) });
    if (random(4) === 0) await world.sleep(random(2_000));
  }
  return !isOver;
}

interface Group {
  readonly opened: OpenedRecords;
  readonly table: BindingTable;
  readonly clients: Clients;
  readonly group: readonly BindingRecord[];
}

async function append({ opened, table, clients, group }: Group): Promise<void> {
  const isRecorded = await opened.store.append(group).then(
    () => true,
    () => false,
  );
  if (!isRecorded) return;
  for (const record of group) {
    table.apply(record);
    if (record.kind === 'binding' && !record.isReleased)
      clients.acknowledged(Number.parseInt(record.macAddress.slice(-2), 16), record.address);
  }
}

/** Renewals, releases and new leases of several clients; no address and no client appears twice. */
function groupOf(table: BindingTable, clients: Clients, random: Random): BindingRecord[] {
  const group: BindingRecord[] = [];
  const taken = new Set<number>();
  const first = random(CLIENTS);
  for (let count = 1 + random(3); count > 0; count--) {
    const client = (first + count) % CLIENTS;
    const own = table.ofClient(macOf(client));
    if (own !== undefined && isBindingValid(own, 0)) {
      const isReleased = random(3) === 0;
      // From here on the client does not use it.
      if (isReleased) clients.addressOf.delete(client);
      group.push(recordOf(client, own.address, isReleased));
      taken.add(own.address);
      continue;
    }
    const address = Array.from({ length: ADDRESSES }, (_, index) => index + 1).find((one) => {
      const binding = table.at(one);
      return !taken.has(one) && (binding === undefined || !isBindingValid(binding, 0));
    });
    if (address === undefined) continue;
    taken.add(address);
    group.push(recordOf(client, address));
  }
  return group;
}

describe('leases in API objects', () => {
  it('two leaders on a bad network lose no lease that a client knows of, and give no address twice', async () => {
    let acks = 0;
    for (let seed = 1; seed <= 150; seed++) acks += await story(seed).catch((error: Error) => fail(seed, error));
    expect(acks).toBeGreaterThan(8_000);
  });

  it('survive an agent that dies at any one request, before or after it took effect', async () => {
    for (const fate of ['crash-before', 'crash-after', 'late', 'answer-lost'] as const) {
      let isBeyond = false;
      for (let at = 0; !isBeyond; at++) {
        const life = lifeOf(7, (request) => (request === at ? fate : 'answered'));
        let requests = 0;
        const fateOf: Life['fateOf'] = (request, isWrite) => {
          requests = request;
          return life.fateOf(request, isWrite);
        };
        void run({ ...life, fateOf }, 25);
        await life.world.run();
        isBeyond = requests < at;
        await checkAtTheEnd(life);
      }
    }
  });
});

function fail(seed: number, error: Error): never {
  throw new Error(`seed ${seed}: ${error.message}`, { cause: error });
}

function lifeOf(seed: number, fateOf: Life['fateOf']): Life {
  const [world, random] = [new World(), randomFrom(seed)];
  return { world, random, slices: new FakeSlices(world, random), clients: new Clients(), fateOf };
}

const BAD: readonly Fate[] = ['not-sent', 'answer-lost', 'late', 'busy'];

async function story(seed: number): Promise<number> {
  const random = randomFrom(seed * 31);
  // Writes are accepted for some time, and take effect later, or never.
  const outageAtMs = random(60_000);
  const isOutage = () => life.world.clock.nowMs() > outageAtMs && life.world.clock.nowMs() < outageAtMs + 14_000;
  const life: Life = lifeOf(seed, (_, isWrite) => {
    if (isWrite && isOutage()) return random(3) === 0 ? 'not-sent' : 'late';
    if (random(60) === 0) return random(2) === 0 ? 'crash-before' : 'crash-after';
    return random(6) > 0 ? 'answered' : (BAD[random(isWrite ? BAD.length : 2)] ?? 'answered');
  });
  let failure: unknown;
  for (const delayMs of [0, 500]) {
    const replica = async () => {
      await life.world.sleep(delayMs);
      for (let runs = 0; runs < 6; runs++) {
        await run(life, 20);
        await life.world.sleep(random(3_000));
      }
    };
    replica().catch((error: unknown) => {
      failure ??= error;
    });
  }
  await life.world.run(600_000);
  if (failure !== undefined) throw failure;
  await checkAtTheEnd(life);
  return life.clients.acks;
}

/** A replica on a good network finds everything. */
async function checkAtTheEnd(life: Life): Promise<void> {
  let isDone = false;
  run({ ...life, fateOf: () => 'answered' }, 3).then(
    (done) => {
      isDone = done;
    },
    (error: unknown) => {
      throw error;
    },
  );
  await life.world.run();
  expect(isDone).toBe(true);
}
