/**
 * What a replica does while it is leader, one leadership after the other: it opens the leases, and follows the hosts. The duties
 * of a leadership have ended before the next one of this process begins, and, if there is time, before another replica becomes
 * leader.
 */

import type { Clock } from '@vmdhcp/kube-runtime';
import type { Logger } from '@vmdhcp/service-process';
import type { BoundAddresses } from '../binding/bound-addresses.js';
import { type Closable, TermLeases } from './term-leases.js';

/** Keeps the objects of hosts during one leadership; implemented by `HostAgent` of `@vmdhcp/bare-metal/agent`. */
export interface HostInventory {
  readonly start: () => void;
  /** A client got, renewed or released a lease, or one ended. */
  readonly leasesChanged: () => void;
  /** After the call, no write and no power action begins. */
  readonly stop: () => Promise<void>;
}

export interface LeaderDutiesPorts<Leases extends Closable> {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
  readonly openLeases: () => Promise<Leases>;
  /** Leases were opened, or are given back (undefined). */
  readonly onLeases: (leases: Leases | undefined) => void;
  /** A new one for each leadership. */
  readonly createInventory: (onBindings: (bound: BoundAddresses) => void) => HostInventory;
  /** Called when bindings changed, or are no longer known (undefined). */
  readonly onBindings: (bound: BoundAddresses | undefined) => void;
}

export class LeaderDuties<Leases extends Closable> {
  readonly #ports: LeaderDutiesPorts<Leases>;
  readonly #leases: TermLeases<Leases>;
  #inventory: HostInventory | undefined;
  #isLeading = false;
  /** Beginnings and ends, one after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(ports: LeaderDutiesPorts<Leases>) {
    this.#ports = ports;
    const { clock, logger, openLeases, onLeases } = ports;
    this.#leases = new TermLeases({ clock, logger, open: openLeases, onChange: onLeases });
  }

  /** What prevents the leader from its duties. */
  get problem(): string | undefined {
    return this.#leases.problem;
  }

  leasesChanged(): void {
    this.#inventory?.leasesChanged();
  }

  /** Leadership begins. */
  begin(): void {
    this.#isLeading = true;
    this.#last = this.#last.then(() => this.#begin());
  }

  /** Ends the leadership: nothing new begins. Resolves when everything has ended. */
  async end(): Promise<void> {
    this.#isLeading = false;
    const inventory = this.#inventory;
    this.#inventory = undefined;
    const ending = Promise.all([inventory?.stop(), this.#leases.release()]);
    this.#ports.onBindings(undefined);
    this.#last = Promise.all([this.#last, ending]).then(() => undefined);
    await this.#last;
  }

  #begin(): void {
    if (!this.#isLeading || this.#inventory !== undefined) return;
    const inventory: HostInventory = this.#ports.createInventory((bound) => {
      if (this.#inventory === inventory) this.#ports.onBindings(bound);
    });
    this.#inventory = inventory;
    this.#leases.open();
    inventory.start();
  }
}
