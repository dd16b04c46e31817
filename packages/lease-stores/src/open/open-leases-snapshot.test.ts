import { type BindingRecord, BindingTable, validatePool } from '@vmdhcp/dhcp-allocator';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { expect, it } from 'vitest';
import { OpenLeases } from './open-leases.js';

const POOLS = ['net-1', 'net-2'];

function poolOf(name: string) {
  const checked = validatePool({ name, cidr: '10.0.0.0/24', serverAddress: '10.0.0.2', dynamic: ['10.0.0.10-10.0.0.200'] });
  if (!checked.ok) throw new Error('no pool');
  return checked.value;
}

function tableOf(poolName: string): BindingTable {
  const table = new BindingTable(poolName);
  for (const client of [1, 2, 3])
    table.apply({
      ...{ kind: 'binding', poolName, address: 0x0a00000a + client, macAddress: `02:00:00:00:00:0${client}` },
      ...{ boundAtMs: 0, grantedAtMs: 0, endsAtMs: Number.POSITIVE_INFINITY, isReleased: false },
    });
  return table;
}

it('a snapshot at the start holds the leases of every pool, although the pools begin to be served while it is written', async () => {
  const clock = new FakeClock();
  const { promise: planIsSaved, resolve: save } = Promise.withResolvers<void>();
  const stored: BindingRecord[] = [];
  let isWritten = false;
  const open = new OpenLeases({
    ...{ clock, nowMs: clock.nowMs, logger: { info: () => {}, warn: () => {}, error: () => {} }, onRecorded: () => {} },
    hasRecords: () => true,
    openRecords: async () => ({
      tables: new Map(POOLS.map((name) => [name, tableOf(name)])),
      reports: [],
      store: {
        // As after an agent that was killed while it wrote its snapshot, or whose disk had no room for one.
        isLong: () => !isWritten,
        append: async () => undefined,
        // As `writeNext`, which writes 500 lines at a time: meanwhile the address book saves its plan, and then the pools are served.
        replace: async (records) => {
          for (const record of records) {
            stored.push(record);
            if (stored.length === 2) await planIsSaved;
          }
          isWritten = true;
        },
        close: async () => undefined,
      },
    }),
  });
  const pools = POOLS.map(poolOf);
  await open.prepare(pools);
  await clock.advance(10);
  for (const pool of pools) open.setPool({ pool, assignments: [], probes: false });
  save();
  await clock.advance(10);
  const count = (name: string) => stored.filter(({ poolName }) => poolName === name).length;
  expect({ isWritten, inMemory: [...open.leases()].length }).toEqual({ isWritten: true, inMemory: 6 });
  expect(POOLS.map(count)).toEqual([3, 3]);
  await open.close();
});

it('the store is opened once, although a reload prepares it while another one does', async () => {
  const clock = new FakeClock();
  let opened = 0;
  const open = new OpenLeases({
    ...{ clock, nowMs: clock.nowMs, logger: { info: () => {}, warn: () => {}, error: () => {} }, onRecorded: () => {} },
    hasRecords: () => true,
    openRecords: async () => {
      opened++;
      const nothing = async () => undefined;
      return {
        tables: new Map(),
        reports: [],
        store: { isLong: () => false, append: nothing, replace: nothing, close: nothing },
      };
    },
  });
  const pools = POOLS.map(poolOf);
  await Promise.all([open.prepare(pools), open.prepare(pools)]);
  await open.prepare(pools);
  expect(opened).toBe(1);
  await open.close();
});
