import type { LeasePage, PageLease } from '../../model/page-data.js';
import type { PageClient } from '../connection/page-client.js';
import { BLOCK_SIZE } from './address-blocks.js';

/** The number of blocks to keep; owners of older blocks are requested again. */
const MOST_BLOCKS = 16;

/** The owners of the addresses in visible blocks, because a /16 has more leases than a page should load. */
export class AddressOwners {
  readonly #client: PageClient;
  readonly #pool: string;
  /** By the first three octets: `10.1.37.`. Null while it is loading. The block that was requested last comes last. */
  readonly #blocks = new Map<string, Map<string, PageLease> | null>();

  constructor(client: PageClient, pool: string) {
    this.#client = client;
    this.#pool = pool;
  }

  /** Undefined if no client has the address, or its block is not known. */
  leaseOf(address: string): PageLease | undefined {
    return this.#blocks.get(toPrefix(address))?.get(address);
  }

  /** Whether `leaseOf` knows this address. */
  isKnown(address: string): boolean {
    return (this.#blocks.get(toPrefix(address)) ?? null) !== null;
  }

  /** Loads the block of an address. True if it has arrived; false if it was known, is loading, or failed. */
  async load(address: string): Promise<boolean> {
    const prefix = toPrefix(address);
    if (this.#blocks.has(prefix)) return false;
    this.#blocks.set(prefix, null);
    const parameters = { pool: this.#pool, search: prefix, limit: String(BLOCK_SIZE) };
    const answer = await this.#client.get<LeasePage>('api/leases', parameters);
    if (answer.kind !== 'data') {
      this.#blocks.delete(prefix);
      return false;
    }
    // The block was forgotten meanwhile.
    if (this.#blocks.get(prefix) !== null) return false;
    const rows = answer.data.rows.filter((lease) => lease.pool === this.#pool && toPrefix(lease.address) === prefix);
    this.#blocks.set(prefix, new Map(rows.map((lease) => [lease.address, lease])));
    this.#forgetOldest();
    return true;
  }

  /** Applies changes to the known blocks. */
  apply(changed: readonly PageLease[], removed: readonly string[]): void {
    for (const address of removed) this.#blocks.get(toPrefix(address))?.delete(address);
    for (const lease of changed) this.#blocks.get(toPrefix(lease.address))?.set(lease.address, lease);
  }

  /** Forgets everything. */
  clear(): void {
    this.#blocks.clear();
  }

  #forgetOldest(): void {
    for (const prefix of this.#blocks.keys()) {
      if (this.#blocks.size <= MOST_BLOCKS) return;
      this.#blocks.delete(prefix);
    }
  }
}

/** `10.1.37.` of `10.1.37.4`. */
function toPrefix(address: string): string {
  return address.slice(0, address.lastIndexOf('.') + 1);
}

/** The owner of an address in a few words: the machine, else the host name, else the MAC address. */
export function describeOwner(lease: PageLease | undefined): string {
  if (lease === undefined) return '';
  return lease.machine || lease.hostname || lease.mac;
}
