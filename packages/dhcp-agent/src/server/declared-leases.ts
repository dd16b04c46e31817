/**
 * The leases of clients that an object declares. Assignments, answers, DECLINEs and time change them; each change is an event for the observer, and
 * is passed on to the parts that need it.
 */
import {
  type Answer,
  type Assignment,
  type AssignmentChanges,
  formatIpv4Address,
  type Lease,
  type LeaseChange,
  LeaseTable,
  leaseExpiry,
  type MacAddress,
  type Pool,
} from '@vmdhcp/dhcp-allocator';
import type { LeaseEvent } from '../agent-event.js';
import { RateBudget } from '../limits/rate-budget.js';
import type { AgentObserver } from '../ports.js';
import type { FindAddressUsers } from '../probe/address-users.js';
import type { DeclineIgnoreReason } from './agent-packet-reasons.js';
import { DeclineChecks, type DeclineOutcome } from './decline-checks.js';
import type { MessageCounters } from './message-counters.js';

export interface DeclaredLeasesPorts {
  readonly observer: AgentObserver;
  readonly nowMs: () => number;
  /** Probes which hosts use an address; a DECLINE is believed only if this confirms it. */
  readonly findUsers: FindAddressUsers;
  /** A DECLINE of the client was confirmed by a probe: it has no lease until it gets another address. */
  readonly onDeclined: (lease: Lease, usedBy: MacAddress) => void;
  /** A client began or stopped using its address. */
  readonly onBindingChanged: () => void;
  readonly counters: MessageCounters;
  /** A confirmed DECLINE of an address that is not assigned to the client. @returns true if it was an unknown client's lease, and is handled. */
  readonly onOtherDeclined: (lease: Lease, interfaceName: string, usedBy: MacAddress) => boolean;
}

export class DeclaredLeases {
  readonly table = new LeaseTable();
  readonly #ports: DeclaredLeasesPorts;
  readonly #declines: DeclineChecks;
  /** DECLINEs that are not believed are counted; this many of them are logged. */
  readonly #doubtLines = new RateBudget({ perSecond: 0.2, burst: 10 });

  constructor(ports: DeclaredLeasesPorts) {
    this.#ports = ports;
    this.#declines = new DeclineChecks({
      nowMs: ports.nowMs,
      findUsers: ports.findUsers,
      onOutcome: (lease, interfaceName, outcome) => this.#onDeclineChecked(lease, interfaceName, outcome),
    });
  }

  /** The assignments of a pool that was not served before. @param expiryOf - when a lease ends, if that is known from before. */
  restore(poolName: string, assignments: Iterable<Assignment>, expiryOf?: (macAddress: string) => number | undefined): void {
    for (const { lease } of this.table.replacePool(poolName, assignments)) {
      const expiresAtMs = expiryOf?.(lease.macAddress);
      if (expiresAtMs !== undefined) this.table.setExpiry(lease, expiresAtMs);
    }
  }

  /** @returns leases that are new or have another address. */
  replace(poolName: string, assignments: Iterable<Assignment>): Lease[] {
    return this.#noteChanges(this.table.replacePool(poolName, assignments));
  }

  /** @returns leases that are new or have another address. */
  change(poolName: string, changes: AssignmentChanges): Lease[] {
    return this.#noteChanges(this.table.changePool(poolName, changes));
  }

  #noteChanges(changes: readonly LeaseChange[]): Lease[] {
    const fresh: Lease[] = [];
    for (const change of changes) {
      const { lease } = change;
      if (change.kind === 'added') fresh.push(lease);
      if (change.kind === 'changed' && change.previous.address !== lease.address) {
        fresh.push(lease);
        this.#observe('changed', lease, { previousAddress: formatIpv4Address(change.previous.address) });
      }
    }
    return fresh;
  }

  /** Notes leases that have ended. @param isLeader - false if their clients may have renewed them elsewhere, so that nobody is told */
  expire(isLeader: boolean): void {
    for (const lease of this.table.expire(this.#ports.nowMs())) if (isLeader) this.#observe('expired', lease);
  }

  /** Binds the client's lease. @param nowMs - when the packet was read. */
  bind(lease: Lease, pool: Pool, { interfaceName, nowMs }: { readonly interfaceName: string; readonly nowMs: number }): void {
    this.observeBound(lease, interfaceName);
    this.table.setExpiry(lease, leaseExpiry(pool, nowMs));
  }

  /** Reports that the lease is bound, unless it already was. Call it before binding. */
  observeBound(lease: Lease, interfaceName: string): void {
    if (lease.expiresAtMs !== undefined) return;
    this.#observe('bound', lease, { interface: interfaceName });
    this.#ports.onBindingChanged();
  }

  /** A client that asked for another's address, or one of elsewhere, got a NAK. */
  observeRefused(
    refused: Pick<Lease, 'poolName' | 'macAddress'> & Partial<Lease>,
    details: Readonly<Record<string, unknown>>,
  ): void {
    this.#observe('refused', refused, details);
  }

  /** A RELEASE or DECLINE. */
  note({ client, decision, pool }: Extract<Answer, { readonly kind: 'noted' }>, interfaceName: string): void {
    const { lease } = decision;
    if (decision.kind === 'release') {
      this.#ports.counters.count('release', 'released', '');
      if (lease.expiresAtMs === undefined) return;
      this.#observe('released', lease, { interface: interfaceName });
      this.table.setExpiry(lease, undefined);
      this.#ports.onBindingChanged();
      return;
    }
    if (pool.reservations.get(client.macAddress)?.address === lease.address) {
      // A reservation of a person stays; a person must see that another machine uses the address.
      this.#doubtDecline(lease, { interface: interfaceName, reason: 'address-reserved' });
      return;
    }
    this.#declines.claim(lease, interfaceName);
  }

  #onDeclineChecked(lease: Lease, interfaceName: string, outcome: DeclineOutcome): void {
    if (!outcome.believed) {
      const { reason, error } = outcome;
      this.#doubtDecline(lease, { interface: interfaceName, reason, ...(error !== undefined && { err: error }) });
      return;
    }
    const { poolName, macAddress, address } = lease;
    const { usedBy } = outcome;
    // While the address was probed, the client may have got another one.
    if (this.table.lookup(poolName, macAddress)?.address !== address) {
      if (!this.#ports.onOtherDeclined(lease, interfaceName, usedBy))
        this.#ports.counters.count('decline', 'ignored', 'address-not-its-own');
      return;
    }
    this.#ports.counters.count('decline', 'declined', '');
    this.#observe('declined', lease, { interface: interfaceName, believed: true, usedBy });
    this.table.changePool(poolName, { removed: [macAddress], assigned: [] });
    this.#ports.onDeclined(lease, usedBy);
  }

  /** A DECLINE that changes nothing. */
  #doubtDecline(
    lease: Lease,
    details: { readonly interface: string; readonly reason: DeclineIgnoreReason; readonly err?: string },
  ): void {
    this.#ports.counters.count('decline', 'ignored', details.reason);
    if (this.#doubtLines.take(this.#ports.nowMs())) this.#observe('declined', lease, { ...details, believed: false });
  }

  #observe(
    event: LeaseEvent,
    lease: Pick<Lease, 'poolName' | 'macAddress'> & Partial<Lease>,
    details: Readonly<Record<string, unknown>> = {},
  ): void {
    this.#ports.observer.observe({ kind: 'lease', event, lease, details });
  }
}
