import { type BindingRecord, BindingTable } from '@vmdhcp/dhcp-allocator';

/** Returns the table of the record's pool; creates it if necessary. */
export function tableOf(tables: Map<string, BindingTable>, { poolName }: BindingRecord): BindingTable {
  const known = tables.get(poolName);
  if (known !== undefined) return known;
  const table = new BindingTable(poolName);
  tables.set(poolName, table);
  return table;
}

/** Yields a record for each binding and each quarantine of each table. */
export function* recordsOf(tables: ReadonlyMap<string, BindingTable>): Generator<BindingRecord> {
  for (const table of tables.values()) yield* table.records();
}
