import type { Assignment, Lease, MacAddress, Pool } from '@vmdhcp/dhcp-allocator';
import { isRecord, readField } from '@vmdhcp/kube-runtime';
import { changedAssignments, type ReadVersion, readRecordedAddresses } from '@vmdhcp/reconciler/pool';
import type { DhcpServer } from '../server/dhcp-server.js';

type Allocated = ReadVersion['allocated'];

type Silenced = (assignments: readonly Assignment[]) => ReadonlySet<MacAddress>;

const NONE: ReadonlySet<MacAddress> = new Set();

/** The record that the server uses, if it has no problems: the next version is compared with it. */
interface Served extends ReadVersion {
  readonly pool: Pool;
}

/**
 * Turns the recorded addresses of one pool into leases of the server. Clients wait meanwhile, so in a large pool only the changed entries are read.
 */
export class ServedRecord {
  readonly #server: DhcpServer;
  #served: Served | undefined;

  constructor(server: DhcpServer) {
    this.#server = server;
  }

  /**
   * Makes the server use this version of the pool.
   *
   * @param silenced - recorded clients that are not answered; undefined if all are.
   * @returns leases that are new or have another address.
   */
  serve(pool: Pool, status: unknown, silenced?: Silenced): Lease[] {
    const field = readField(status, 'ipv4', 'allocated');
    const allocated = isRecord(field) ? field : {};
    const changes = silenced === undefined ? this.#changes(pool, allocated) : undefined;
    if (changes === undefined) return this.#serveAnew(pool, { status, allocated }, silenced);
    this.#served = { pool, allocated, size: changes.size };
    return this.#server.changePool(pool.name, {
      removed: changes.removed,
      assigned: changes.assigned.map((assignment) => withHostName(assignment, pool)),
    });
  }

  #changes(pool: Pool, allocated: Allocated): ReturnType<typeof changedAssignments> {
    if (this.#served?.pool !== pool) return undefined;
    const hasLease = (macAddress: MacAddress) => this.#server.leaseOf(pool.name, macAddress) !== undefined;
    return changedAssignments(this.#served, allocated, hasLease);
  }

  #serveAnew(
    pool: Pool,
    { status, allocated }: { readonly status: unknown; readonly allocated: Allocated },
    silenced: Silenced | undefined,
  ): Lease[] {
    const { assignments, unreadable } = readRecordedAddresses({ metadata: { name: pool.name }, status });
    const silent = silenced?.(assignments) ?? NONE;
    const isOrdinary = unreadable.length === 0 && silent.size === 0;
    this.#served = isOrdinary ? { pool, allocated, size: Object.keys(allocated).length } : undefined;
    const answered = silent.size === 0 ? assignments : assignments.filter(({ macAddress }) => !silent.has(macAddress));
    return this.#server.setPool(
      pool,
      answered.map((assignment) => withHostName(assignment, pool)),
    );
  }
}

function withHostName(assignment: Assignment, pool: Pool): Assignment {
  const hostname = pool.reservations.get(assignment.macAddress)?.hostname;
  return hostname === undefined ? assignment : { ...assignment, hostname };
}
