import { validatePool } from '@vmdhcp/dhcp-allocator';
import { EMPTY_STATE, type StateToSave } from '@vmdhcp/lease-stores';
import { describe, expect, it } from 'vitest';
import type { ConfiguredPool, PoolsFile } from '../pools-file/parse-pools-file.js';
import { AddressBook, QUARANTINE_MS } from './address-book.js';
import type { PlannedPool } from './planned-pool.js';

const VM_A = '02:00:00:00:00:0a';
const VM_B = '02:00:00:00:00:0b';

function fileOf(macs: readonly string[], settings: Partial<ConfiguredPool> = {}): PoolsFile {
  const checked = validatePool({ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', start: '10.0.0.10' });
  if (!checked.ok) throw new Error('no pool');
  const claims = macs.map((macAddress, index) => ({ owner: macAddress, macAddress, index, line: 1, column: 1 }));
  return {
    pools: new Map([['net', { pool: checked.value, paused: false, probesConflicts: true, log: {}, claims, ...settings }]]),
    ntpNames: new Set(),
  };
}

/** A book on a disk that can fail, and all events, in order. */
function bookOn(disk: { fails?: boolean } = {}, stored = EMPTY_STATE) {
  const log: string[] = [];
  let saved: StateToSave['owners'] = new Map();
  const clock = { nowMs: 1_000 };
  const book = new AddressBook(
    {
      directory: {
        save: async ({ pools, owners }: StateToSave) => {
          await Promise.resolve();
          if (disk.fails) throw new Error('disk full');
          saved = owners;
          log.push(
            `saved ${pools.get('net')?.assignments.map(({ macAddress, address }) => `${macAddress.slice(-1)}=${address & 255}`)}`,
          );
        },
      },
      nowMs: () => clock.nowMs,
      expiryOf: () => undefined,
      onPlanned: (pools: ReadonlyMap<string, PlannedPool>) => {
        log.push(
          `served ${pools.get('net')?.assignments.map(({ macAddress, address }) => `${macAddress.slice(-1)}=${address & 255}`)}`,
        );
      },
    },
    stored,
  );
  return { book, log, clock, owners: () => [...(saved.get('net')?.values() ?? [])] };
}

describe('the story of an address book', () => {
  it('serves nothing before it is saved, and saves nothing that did not change', async () => {
    const { book, log } = bookOn();
    await book.configure(fileOf([VM_A]));
    await book.configure(fileOf([VM_A]));
    await book.configure(fileOf([VM_A, VM_B]));
    expect(log).toEqual(['saved a=10', 'served a=10', 'served a=10', 'saved a=10,b=11', 'served a=10,b=11']);
  });

  it('does not serve what cannot be saved; the old plan stays in force', async () => {
    const disk = { fails: true };
    const { book, log } = bookOn(disk);
    await expect(book.configure(fileOf([VM_A]))).rejects.toThrow('disk full');
    expect(log).toEqual([]);
    disk.fails = false;
    await book.configure(fileOf([VM_A]));
    expect(log).toEqual(['saved a=10', 'served a=10']);
  });

  it('quarantines a declined address for an hour, and assigns its client another one', async () => {
    const { book, log, clock } = bookOn();
    await book.configure(fileOf([VM_A]));
    await book.decline({ poolName: 'net', macAddress: VM_A, address: 0x0a00000a });
    expect(log.slice(2)).toEqual(['saved a=11', 'served a=11']);
    expect([...book.quarantines()]).toEqual([{ pool: 'net', address: 0x0a00000a, untilMs: clock.nowMs + QUARANTINE_MS }]);
    await book.configure(fileOf([VM_A, VM_B]));
    expect(log.at(-1)).toBe('served a=11,b=12');
    clock.nowMs += QUARANTINE_MS;
    expect(await book.endQuarantines()).toBe(true);
    expect(await book.endQuarantines()).toBe(false);
    await book.configure(fileOf([VM_A, VM_B, '02:00:00:00:00:0c']));
    expect(log.at(-1)).toBe('served a=11,b=12,c=10');
  });

  it('ends the quarantine of one address at once when a person asks for it, and not if that cannot be saved', async () => {
    const disk = { fails: false };
    const { book, log } = bookOn(disk);
    await book.configure(fileOf([VM_A, VM_B]));
    await book.decline({ poolName: 'net', macAddress: VM_A, address: 0x0a00000a });
    await book.decline({ poolName: 'net', macAddress: VM_B, address: 0x0a00000b });
    expect(await book.endQuarantine(0x0a000063)).toBe(false);
    disk.fails = true;
    await expect(book.endQuarantine(0x0a00000a)).rejects.toThrow('disk full');
    expect([...book.quarantines()]).toHaveLength(2);
    disk.fails = false;
    expect(await book.endQuarantine(0x0a00000a)).toBe(true);
    expect([...book.quarantines()].map(({ address }) => address)).toEqual([0x0a00000b]);
    await book.configure(fileOf([VM_A, VM_B, '02:00:00:00:00:0c']));
    expect(log.at(-1)).toContain('c=10');
  });

  it('does not plan a paused pool again and again for an expired quarantine', async () => {
    const { book, clock } = bookOn();
    await book.configure(fileOf([VM_A]));
    await book.decline({ poolName: 'net', macAddress: VM_A, address: 0x0a00000a });
    await book.configure(fileOf([VM_A], { paused: true }));
    clock.nowMs += QUARANTINE_MS;
    expect(await book.endQuarantines()).toBe(false);
  });

  it('keeps existing assignments first, and a paused pool keeps its addresses', async () => {
    const pools = new Map([['net', { assignments: [{ macAddress: VM_B, address: 0x0a00000a }], quarantines: [] }]]);
    const { book, log } = bookOn({}, { pools, expiries: new Map([['net', new Map([[VM_B, 5_000]])]]), owners: new Map() });
    await book.configure(fileOf([VM_A, VM_B], { paused: true }));
    await book.configure(fileOf([VM_A, VM_B]));
    expect(log.at(-1)).toBe('served a=11,b=10');
    expect(book.restoredExpiry('net', VM_B)).toBe(5_000);
  });

  it('saves owners too: at once if a state of an earlier version has none, and when another object claims the MAC address', async () => {
    const pools = new Map([['net', { assignments: [{ macAddress: VM_A, address: 0x0a00000a }], quarantines: [] }]]);
    const { book, log, owners } = bookOn({}, { ...EMPTY_STATE, pools });
    await book.configure(fileOf([VM_A]));
    expect(log).toEqual(['saved a=10', 'served a=10']);
    expect(owners()).toEqual([VM_A]);
    const renamed = fileOf([VM_A]).pools.get('net');
    const claims = (renamed?.claims ?? []).map((claim) => ({ ...claim, owner: 'default/vm-a' }));
    await book.configure(fileOf([], { claims }));
    expect(owners()).toEqual(['default/vm-a']);
    // The one of the two claims that has the address.
    const twice = ['default/vm-a', 'default/vm-b'].flatMap((owner) => claims.map((claim) => ({ ...claim, owner })));
    await book.configure(fileOf([], { claims: twice }));
    await book.configure({ pools: new Map(), ntpNames: new Set() });
    await book.saveExpiries();
    expect(owners()).toEqual(['default/vm-a']);
  });

  it('a pool that leaves the file has its addresses again when it comes back', async () => {
    const { book, log } = bookOn();
    await book.configure(fileOf([VM_B]));
    await book.configure({ pools: new Map(), ntpNames: new Set() });
    await book.configure(fileOf([VM_A, VM_B]));
    expect(log.at(-1)).toBe('served a=11,b=10');
  });

  describe('of two pools', () => {
    const OTHER = 'other';

    /** Both pools in one file, each with its clients. */
    function both(ofNet: readonly string[], ofOther: readonly string[], settings: Partial<ConfiguredPool> = {}): PoolsFile {
      const other = fileOf(ofOther, settings).pools.get('net');
      if (other === undefined) throw new Error('no pool');
      return {
        pools: new Map([...fileOf(ofNet).pools, [OTHER, { ...other, pool: { ...other.pool, name: OTHER } }]]),
        ntpNames: new Set(),
      };
    }

    /** A book that notes what is saved and served for each pool: `net a=10; other b=10`. */
    function bookOfTwo() {
      const log: string[] = [];
      const clock = { nowMs: 1_000 };
      const describePools = (pools: ReadonlyMap<string, Pick<PlannedPool, 'assignments'>>) =>
        [...pools]
          .map(([name, { assignments }]) => {
            const leases = assignments.map(({ macAddress, address }) => `${macAddress.slice(-1)}=${address & 255}`);
            return `${name} ${leases.join(',')}`;
          })
          .join('; ');
      const book = new AddressBook(
        {
          directory: { save: async ({ pools }: StateToSave) => void log.push(`saved ${describePools(pools)}`) },
          nowMs: () => clock.nowMs,
          expiryOf: () => undefined,
          onPlanned: (pools) => void log.push(`served ${describePools(pools)}`),
        },
        EMPTY_STATE,
      );
      return { book, log, clock };
    }

    it.each([
      ['the first', [VM_A, VM_B], [VM_A], 'net a=10,b=11; other a=10'],
      ['the second', [VM_A], [VM_A, VM_B], 'net a=10; other a=10,b=11'],
      ['the second, whose only client goes', [VM_A], [], 'net a=10; other '],
    ])('a change in %s is saved before it is served, although the other did not change', async (_, net, other, expected) => {
      const { book, log } = bookOfTwo();
      await book.configure(both([VM_A], [VM_A]));
      log.length = 0;
      await book.configure(both(net, other));
      expect(log).toEqual([`saved ${expected}`, `served ${expected}`]);
    });

    it('a declined address of one leaves the other unchanged, and its quarantine is saved and ends on time', async () => {
      const { book, log, clock } = bookOfTwo();
      await book.configure(both([VM_A], [VM_A]));
      log.length = 0;
      await book.decline({ poolName: OTHER, macAddress: VM_A, address: 0x0a00000a });
      expect(log).toEqual(['saved net a=10; other a=11', 'served net a=10; other a=11']);
      log.length = 0;
      clock.nowMs += QUARANTINE_MS - 1;
      expect(await book.endQuarantines()).toBe(false);
      clock.nowMs += 1;
      expect(await book.endQuarantines()).toBe(true);
      // Only the quarantine changed: it is saved too.
      expect(log).toEqual(['saved net a=10; other a=11', 'served net a=10; other a=11']);
    });

    it('one that is paused keeps its records while the other is served', async () => {
      const { book, log } = bookOfTwo();
      await book.configure(both([VM_A], [VM_B]));
      log.length = 0;
      await book.configure(both([VM_A], [VM_A, VM_B], { paused: true }));
      expect(log).toEqual(['served net a=10']);
      await book.configure(both([VM_A], [VM_A, VM_B]));
      expect(log.slice(1)).toEqual(['saved net a=10; other a=11,b=10', 'served net a=10; other a=11,b=10']);
    });

    it('a new pool without clients is saved too', async () => {
      const { book, log } = bookOfTwo();
      await book.configure(fileOf([VM_A]));
      log.length = 0;
      await book.configure(both([VM_A], []));
      expect(log).toEqual(['saved net a=10; other ', 'served net a=10; other ']);
    });
  });

  it('if a client declines its next address too, both are quarantined', async () => {
    const { book, log } = bookOn();
    await book.configure(fileOf([VM_A]));
    await book.decline({ poolName: 'net', macAddress: VM_A, address: 0x0a00000a });
    await book.decline({ poolName: 'net', macAddress: VM_A, address: 0x0a00000b });
    expect(log.at(-1)).toBe('served a=12');
  });

  it('a failed save does not prevent later ones', async () => {
    const disk = { fails: true };
    const { book, log } = bookOn(disk);
    const failed = book.configure(fileOf([VM_A]));
    const next = book.configure(fileOf([VM_B]));
    await expect(failed).rejects.toThrow('disk full');
    await expect(next).rejects.toThrow('disk full');
    disk.fails = false;
    await book.configure(fileOf([VM_B]));
    expect(log).toEqual(['saved b=10', 'served b=10']);
  });
});
