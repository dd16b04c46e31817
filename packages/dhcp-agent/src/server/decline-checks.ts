/**
 * A DECLINE claims that another host uses the address of its client. Any virtual machine can send one with the MAC address of another client, so it
 * is only a claim: it takes effect if a probe confirms it, and changes nothing otherwise.
 */
import type { Lease, MacAddress } from '@vmdhcp/dhcp-allocator';
import { HourlyLimit } from '../limits/hourly-limit.js';
import type { AddressUse } from '../ports.js';
import type { FindAddressUsers } from '../probe/address-users.js';
import { DeclineLimits } from './decline-limits.js';

/** How many leases the answers of one host may end in an hour. */
const PER_ANSWERING_HOST = 3;

/** Why a DECLINE is not believed. */
export type DeclineDoubt =
  /** Too many DECLINEs of this client or in this pool: the address was not probed. */
  | 'decline-limit'
  /** The address is being probed because of an earlier DECLINE of this client. */
  | 'decline-being-checked'
  /** The client itself answers for the address, so it uses it. */
  | 'decline-address-in-use-by-client'
  /** No host answers for the address. */
  | 'decline-unconfirmed'
  /** One host has confirmed too many DECLINEs. */
  | 'decline-answered-too-often'
  /** The address could not be probed. */
  | 'decline-not-checked';

export type DeclineOutcome =
  | { readonly believed: true; readonly usedBy: MacAddress }
  | { readonly believed: false; readonly reason: DeclineDoubt; readonly error?: string };

export interface DeclineChecksPorts {
  readonly nowMs: () => number;
  readonly findUsers: FindAddressUsers;
  /** Called once for each claim. */
  readonly onOutcome: (lease: Lease, interfaceName: string, outcome: DeclineOutcome) => void;
}

export class DeclineChecks {
  readonly #ports: DeclineChecksPorts;
  readonly #limits = new DeclineLimits();
  readonly #answeringHosts = new HourlyLimit(PER_ANSWERING_HOST);
  /** By pool and MAC address. */
  readonly #running = new Set<string>();

  constructor(ports: DeclineChecksPorts) {
    this.#ports = ports;
  }

  /** Checks a DECLINE of this lease that came in on this interface. */
  claim(lease: Lease, interfaceName: string): void {
    const { poolName, macAddress } = lease;
    const key = `${poolName} ${macAddress}`;
    if (this.#running.has(key)) this.#refuse(lease, interfaceName, 'decline-being-checked');
    else if (!this.#limits.take(poolName, macAddress, this.#ports.nowMs())) this.#refuse(lease, interfaceName, 'decline-limit');
    else void this.#check(lease, interfaceName, key);
  }

  async #check(lease: Lease, interfaceName: string, key: string): Promise<void> {
    this.#running.add(key);
    const outcome = await this.#ports.findUsers(interfaceName, lease).then(
      (use) => this.#judge(use, interfaceName),
      (error: unknown): DeclineOutcome => ({ believed: false, reason: 'decline-not-checked', error: String(error) }),
    );
    this.#running.delete(key);
    this.#ports.onOutcome(lease, interfaceName, outcome);
  }

  /** The client's own answer decides first: a client that uses an address has not declined it. */
  #judge({ byClient, others }: AddressUse, interfaceName: string): DeclineOutcome {
    if (byClient) return { believed: false, reason: 'decline-address-in-use-by-client' };
    if (others.length === 0) return { believed: false, reason: 'decline-unconfirmed' };
    const usedBy = others.find((host) => this.#answeringHosts.take(`${interfaceName} ${host}`, this.#ports.nowMs()));
    if (usedBy === undefined) return { believed: false, reason: 'decline-answered-too-often' };
    return { believed: true, usedBy };
  }

  #refuse(lease: Lease, interfaceName: string, reason: DeclineDoubt): void {
    this.#ports.onOutcome(lease, interfaceName, { believed: false, reason });
  }
}
