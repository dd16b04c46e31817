/**
 * Before an address is leased to a client that did not have it, the leader probes whether another host uses it. A client that asks for such an
 * address meanwhile is answered a moment later; other clients do not notice. A standby probes it when the client retransmits.
 */
import type { Answer, Lease, MacAddress } from '@vmdhcp/dhcp-allocator';
import type { AddressConflict } from '@vmdhcp/reconciler/pool';
import type { AgentObserver } from '../ports.js';
import type { FindAddressUsers } from './address-users.js';

/** After this time, a standby assumes that another leader has probed the new address. */
const FRESH_MS = 15_000;
/** The maximum number of waiting clients, each with its newest packet. */
const MOST_DEFERRED = 16_384;
/** The maximum number of probes on one interface; further addresses are probed when their clients ask. */
const MOST_AHEAD = 256;

type State = { readonly kind: 'fresh'; readonly sinceMs: number } | { readonly kind: 'probing' };

/** How addresses are probed before clients get them, and what happens when one is in use. */
export interface ConflictProbesSettings {
  readonly observer: AgentObserver;
  readonly nowMs: () => number;
  readonly isLeader: () => boolean;
  /**
   * How long an address counts as new on a standby that has not probed it, milliseconds: by then the leader, or the next one, has probed it. Default
   * and minimum: 15 s.
   */
  readonly freshMs?: () => number;
  readonly findUsers: FindAddressUsers;
  readonly onConflict: (poolName: string, conflict: AddressConflict) => void;
  /** Answers a packet that was deferred. */
  readonly inject: (interfaceName: string, packet: Uint8Array) => void;
}

export class ConflictProbes {
  readonly #settings: ConflictProbesSettings;
  /** By pool, MAC address and address: only leases that may have a conflict. */
  readonly #states = new Map<string, State>();
  readonly #deferred = new Map<string, Uint8Array>();

  constructor(settings: ConflictProbesSettings) {
    this.#settings = settings;
  }

  /** Notes new leases; the leader probes them now. */
  noteFresh(interfaceName: string, leases: readonly Lease[]): void {
    const sinceMs = this.#settings.nowMs();
    for (const lease of leases) this.#states.set(keyOf(lease), { kind: 'fresh', sinceMs });
    if (leases.length <= MOST_AHEAD && this.#settings.isLeader())
      for (const lease of leases) void this.#probe(interfaceName, lease);
  }

  /** True if the address was not probed yet. */
  isFresh(lease: Lease): boolean {
    return this.#states.size > 0 && this.#states.has(keyOf(lease));
  }

  /** Returns true, and keeps the packet, if its answer must wait for a probe. It is answered as soon as the address was probed. */
  defer(interfaceName: string, answer: Answer, packet: Uint8Array): boolean {
    const lease = leaseOf(answer);
    if (lease === undefined || !this.isFresh(lease)) return false;
    if (this.#deferred.size < MOST_DEFERRED) this.#deferred.set(keyOf(lease), Uint8Array.from(packet));
    void this.#probe(interfaceName, lease);
    return true;
  }

  /** Forgets leases that were new long ago, on a standby. Call it now and then. */
  forgetOld(): void {
    if (this.#settings.isLeader()) return;
    const { nowMs, freshMs } = this.#settings;
    const oldMs = nowMs() - Math.max(FRESH_MS, freshMs?.() ?? 0);
    for (const [key, state] of this.#states) {
      if (state.kind === 'fresh' && state.sinceMs < oldMs) this.#states.delete(key);
    }
  }

  async #probe(interfaceName: string, lease: Lease): Promise<void> {
    const key = keyOf(lease);
    const state = this.#states.get(key);
    if (state?.kind !== 'fresh') return;
    this.#states.set(key, { kind: 'probing' });
    try {
      const [usedBy] = (await this.#settings.findUsers(interfaceName, lease)).others;
      this.#states.delete(key);
      if (usedBy !== undefined) this.#onUsed(lease, usedBy);
      else this.#answerDeferred(interfaceName, key);
    } catch (error) {
      this.#states.set(key, state);
      this.#settings.observer.observe({ kind: 'address-not-probed', interfaceName, error });
    }
    this.#deferred.delete(key);
  }

  #onUsed({ poolName, macAddress, address }: Lease, usedBy: MacAddress): void {
    this.#settings.observer.observe({ kind: 'address-conflict', pool: poolName, macAddress, address, usedBy });
    this.#settings.onConflict(poolName, { address, macAddress, usedBy });
  }

  #answerDeferred(interfaceName: string, key: string): void {
    const packet = this.#deferred.get(key);
    if (packet !== undefined) this.#settings.inject(interfaceName, packet);
  }
}

function leaseOf(answer: Answer): Lease | undefined {
  if (answer.kind !== 'reply' || !('lease' in answer.decision)) return undefined;
  return answer.decision.lease;
}

function keyOf({ poolName, macAddress, address }: Lease): string {
  return `${poolName} ${macAddress} ${address}`;
}
