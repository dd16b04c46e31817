import { validatePool } from '@vmdhcp/dhcp-allocator';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { EMPTY_STATE } from '@vmdhcp/lease-stores';
import { expect, it } from 'vitest';
import { AddressBook } from '../addresses/address-book.js';
import type { PoolsFile } from '../pools-file/parse-pools-file.js';
import { LeaseSaving } from './lease-saving.js';

const MAC = '02:00:00:00:00:0a';

it('an address in conflict that could not be saved because the disk was full for a moment is replaced as soon as it can be', async () => {
  const checked = validatePool({ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', start: '10.0.0.10' });
  if (!checked.ok) throw new Error('no pool');
  const claims = [{ owner: 'default/vm', macAddress: MAC, index: 0, line: 1, column: 1 }] as const;
  const pool = { pool: checked.value, paused: false, probesConflicts: true, log: {}, claims };
  const file: PoolsFile = { pools: new Map([['net', pool]]), ntpNames: new Set() };
  const clock = new FakeClock();
  const disk = { isFull: false };
  let address: number | undefined;
  let probesConflicts: boolean | undefined;
  // As in bare-host-parts.ts.
  const book: AddressBook = new AddressBook(
    {
      directory: {
        save: async () => {
          if (disk.isFull) throw new Error('ENOSPC');
          saving.onSaved();
        },
      },
      nowMs: clock.nowMs,
      expiryOf: () => undefined,
      onPlanned: (pools) => {
        address = pools.get('net')?.assignments[0]?.address;
        probesConflicts = pools.get('net')?.configured.probesConflicts;
      },
    },
    EMPTY_STATE,
  );
  const saving: LeaseSaving = new LeaseSaving({
    logger: { info: () => {}, error: () => {} },
    clock,
    directory: '/state',
    retry: () => void book.configure(file).catch((error) => saving.onFailure(error)),
  });
  await book.configure(file);
  disk.isFull = true;
  await book.decline({ poolName: 'net', macAddress: MAC, address: 0x0a00000a }).catch((error) => saving.onFailure(error));
  await clock.advance(2_500);
  // A change of the pools file that changes no address takes effect all the same, although the decline cannot be saved.
  await book.configure({ ...file, pools: new Map([['net', { ...pool, probesConflicts: false }]]) }).catch(() => undefined);
  expect(probesConflicts).toBe(false);
  disk.isFull = false;
  await clock.advance(60_000);
  // "changes wait until they can be saved" (the log of lease-saving.ts)
  expect([address, [...book.quarantines()].length]).toEqual([0x0a00000b, 1]);
});
