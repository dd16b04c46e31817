/** Finds a part of the leases of all pools, or of the matching ones. */
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import { formatIpv6Address, parseIpv6Address } from '@vmdhcp/dhcp-allocator/address';
import type { LeasePage, PageLease } from '../model/page-data.js';
import { type AddressHolder, holdersOf, type LeaseNames, toLease } from '../pool/pool-leases.js';
import type { PoolSnapshot } from '../pool/pool-snapshot.js';
import type { Pause } from './pause.js';

export interface LeaseQuery {
  /** Any part of an address, MAC address, virtual machine or host name; empty for all leases. */
  readonly search: string;
  /** 1 or more. */
  readonly limit: number;
  /** Starts after this address of this pool; undefined for the beginning. */
  readonly after: LeasePlace | undefined;
}

export interface LeasePlace {
  readonly pool: string;
  readonly address: number;
}

/** Undefined for a text that is not a `continue` of an earlier answer. */
export function parseLeasePlace(text: string): LeasePlace | undefined {
  const [, pool = '', address = ''] = /^([^/@]+\/[^/@]+)@(\d{1,10})$/.exec(text) ?? [];
  return pool === '' ? undefined : { pool, address: Number(address) };
}

export interface LeaseSearch {
  readonly names: LeaseNames;
  readonly pause: Pause;
}

/** The number of leases that take about a millisecond to search. */
const ROWS_AT_ONCE = 2_000;

/** @param pools - sorted by key. */
export async function findLeases(
  pools: readonly PoolSnapshot[],
  query: LeaseQuery,
  { names, pause }: LeaseSearch,
): Promise<LeasePage> {
  const isWanted = matcherOf(query.search);
  const part = new Part(query);
  let seen = 0;
  for (const pool of pools) {
    for (const row of holdersOf(pool.facts)) {
      if (++seen % ROWS_AT_ONCE === 0) await pause();
      const lease = isWanted(pool, row, names);
      if (lease !== false) part.add(pool, row, () => (lease === true ? toLease(pool, row, names) : lease));
    }
  }
  return part.page();
}

/** Collects the rows of a part of the list, and counts all matches. */
class Part {
  readonly #query: LeaseQuery;
  readonly #rows: PageLease[] = [];
  #total = 0;
  #last: LeasePlace | undefined;
  #isMore = false;

  constructor(query: LeaseQuery) {
    this.#query = query;
  }

  add({ key }: PoolSnapshot, { address }: AddressHolder, toRow: () => PageLease): void {
    const { after, limit } = this.#query;
    this.#total++;
    if (!isAfter(key, address, after)) return;
    if (this.#rows.length === limit) {
      this.#isMore = true;
      return;
    }
    this.#rows.push(toRow());
    this.#last = { pool: key, address };
  }

  page(): LeasePage {
    const next = this.#isMore && this.#last !== undefined ? `${this.#last.pool}@${this.#last.address}` : null;
    return { rows: this.#rows, total: this.#total, continue: next };
  }
}

function isAfter(pool: string, address: number, after: LeasePlace | undefined): boolean {
  if (after === undefined) return true;
  return pool === after.pool ? address > after.address : pool > after.pool;
}

/** True if it matches; a lease if it matches and was formatted for the comparison. */
type Matcher = (pool: PoolSnapshot, row: AddressHolder, names: LeaseNames) => boolean | PageLease;

function matcherOf(search: string): Matcher {
  const wanted = search.trim().toLowerCase();
  if (wanted === '') return () => true;
  const digits = wanted.replaceAll(/[:.-]/g, '');
  const ipv6 = ipv6TextIn(wanted);
  const mac = /^[0-9a-f]{2,12}$/.test(digits) && !/^[\d.]*\.[\d.]*$/.test(wanted) ? digits : undefined;
  return (pool, row, names) => {
    if (formatIpv4Address(row.address).includes(wanted) || row.macAddress.includes(wanted)) return true;
    if (mac !== undefined && row.macAddress.replaceAll(':', '').includes(mac)) return true;
    const lease = toLease(pool, row, names);
    if (ipv6 !== undefined && lease.ipv6Address.includes(ipv6)) return lease;
    return lease.machine.toLowerCase().includes(wanted) || lease.hostname.toLowerCase().includes(wanted) ? lease : false;
  };
}

/** The search as IPv6 addresses are written; undefined without a colon: all clients of a pool share its prefix, and a name such as `db` would find them all. */
function ipv6TextIn(wanted: string): string | undefined {
  if (!wanted.includes(':')) return undefined;
  const address = parseIpv6Address(wanted);
  return address === undefined ? wanted : formatIpv6Address(address);
}
