import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { BindingTable } from '@vmdhcp/dhcp-allocator';
import { BINDINGS_FILE } from './binding-snapshot.js';
import { readBindingFile } from './read-binding-file.js';

/**
 * Reads the leases of unknown clients in a folder that another process may have open, by pool. Returns none if there is no such
 * file.
 */
export async function peekBindings(folder: string): Promise<ReadonlyMap<string, BindingTable>> {
  const tables = new Map<string, BindingTable>();
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(join(folder, BINDINGS_FILE), 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return tables;
    throw error;
  }
  try {
    const read = async (into: Uint8Array, position: number) => (await handle.read(into, 0, into.length, position)).bytesRead;
    await readBindingFile({ read }, (record) => {
      const table = tables.get(record.poolName) ?? new BindingTable(record.poolName);
      tables.set(record.poolName, table);
      table.apply(record);
    });
    return tables;
  } finally {
    await handle.close();
  }
}
