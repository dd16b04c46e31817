import { type BindingRecord, formatBindingRecord } from '@vmdhcp/dhcp-allocator';
import { expect, it } from 'vitest';
import { BindingFile } from './binding-file.js';
import { FakeDisk } from './fake-disk-fixtures.js';

const bound = (client: number): BindingRecord => ({
  ...{ kind: 'binding', poolName: 'net', address: 0x0a000000 + client, macAddress: `02:00:00:00:00:0${client}` },
  ...{ boundAtMs: 0, grantedAtMs: 0, endsAtMs: 1_000, isReleased: false },
});

it.each([
  ['has no octet, as after a backup was restored to a full disk, or touch', ''],
  ['ends in its header', 'vmdhcp-agent-bin'],
])('a file that %s loses no lease that was acknowledged afterwards', async (_, text) => {
  const disk = new FakeDisk();
  const open = () => BindingFile.open({ folder: '/state', nowMs: () => 7 }, disk.files);
  disk.setText('/state/bindings', text);
  const { file } = await open();
  await file.append([bound(1)]);
  await file.append([bound(2)]);
  await file.close();
  const { tables, reading } = await open();
  const found = [...tables.values()].flatMap((table) => [...table.records()].map(formatBindingRecord));
  expect(reading.corrupt).toEqual([]);
  expect(found).toEqual([bound(1), bound(2)].map(formatBindingRecord));
});
