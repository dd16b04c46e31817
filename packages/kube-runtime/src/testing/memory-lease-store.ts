import type { LeaseRecord, LeaseStore, StoredLease } from '../election/lease-store.js';

/** A lease in memory, shared by all users of its `store`. */
export class MemoryLeaseStore implements LeaseStore {
  #stored: StoredLease | undefined;
  #writes = 0;

  get stored(): StoredLease | undefined {
    return this.#stored;
  }

  readonly read = async (): Promise<StoredLease | undefined> => this.#stored;

  readonly write = async (record: LeaseRecord, version: string | undefined): Promise<StoredLease | undefined> => {
    if (this.#stored?.version !== version) return undefined;
    this.#stored = { record, version: String(++this.#writes) };
    return this.#stored;
  };
}
