/**
 * Before an address is handed to somebody who did not have it, the leader asks the network whether anybody uses it. Who asks for such an
 * address meanwhile is answered a moment later; everybody else is not touched by this.
 */
import { type Answer, formatIpv4Address, type Lease } from '@vmdhcp/dhcp-allocator';
import type { AddressConflict } from '@vmdhcp/reconciler';
import { RateBudget } from '../limits/rate-budget.js';
import type { Logger } from '../ports.js';
import type { AskWhoUses } from './address-inquiry.js';

/** Packets of clients that wait, each with its newest. */
const MOST_DEFERRED = 1_024;
/** An address that nobody asked about for so long was new in the time of another leader: that one has asked. */
const FRESH_MS = 15_000;
/** Of one interface: so many that they are asked about when somebody wants them, and not before. */
const MOST_AHEAD = 256;

type State = { readonly kind: 'fresh'; readonly sinceMs: number } | { readonly kind: 'asking' };

export interface ConflictProbesSettings {
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly isLeading: () => boolean;
  readonly whoUses: AskWhoUses;
  readonly onConflict: (poolName: string, conflict: AddressConflict) => void;
  /** Answers a packet that was put off. */
  readonly inject: (interfaceName: string, packet: Uint8Array) => void;
}

export class ConflictProbes {
  readonly #settings: ConflictProbesSettings;
  /** By pool, MAC address and address: only those that are not known to be free of conflict. */
  readonly #states = new Map<string, State>();
  readonly #deferred = new Map<string, Uint8Array>();
  readonly #failures = new RateBudget({ perSecond: 0.1, burst: 2 });

  constructor(settings: ConflictProbesSettings) {
    this.#settings = settings;
  }

  /** These leases are new: they are asked about now, by whoever leads. */
  noteFresh(interfaceName: string, leases: readonly Lease[]): void {
    const sinceMs = this.#settings.nowMs();
    for (const lease of leases) this.#states.set(keyOf(lease), { kind: 'fresh', sinceMs });
    if (leases.length <= MOST_AHEAD && this.#settings.isLeading())
      for (const lease of leases) void this.#ask(interfaceName, lease);
  }

  /** True if nobody has asked yet whether the address is free. */
  isFresh(lease: Lease): boolean {
    return this.#states.has(keyOf(lease));
  }

  /** True if the answer has to wait; it is given as soon as the network was asked. */
  defers(interfaceName: string, answer: Answer, packet: Uint8Array): boolean {
    const lease = leaseOf(answer);
    if (lease === undefined || !this.isFresh(lease)) return false;
    if (this.#deferred.size < MOST_DEFERRED) this.#deferred.set(keyOf(lease), Uint8Array.from(packet));
    void this.#ask(interfaceName, lease);
    return true;
  }

  /** What was new long ago is not, where another one leads. To be called now and then. */
  forgetOld(): void {
    if (this.#settings.isLeading()) return;
    const oldMs = this.#settings.nowMs() - FRESH_MS;
    for (const [key, state] of this.#states) {
      if (state.kind === 'fresh' && state.sinceMs < oldMs) this.#states.delete(key);
    }
  }

  async #ask(interfaceName: string, lease: Lease): Promise<void> {
    const key = keyOf(lease);
    const state = this.#states.get(key);
    if (state?.kind !== 'fresh') return;
    this.#states.set(key, { kind: 'asking' });
    try {
      const [usedBy] = (await this.#settings.whoUses(interfaceName, lease)).others;
      this.#states.delete(key);
      if (usedBy !== undefined) this.#onUsed(lease, usedBy);
      else this.#answerDeferred(interfaceName, key);
    } catch (error) {
      this.#states.set(key, state);
      if (this.#failures.take(this.#settings.nowMs()))
        this.#settings.logger.warn(
          { interface: interfaceName, err: String(error) },
          'the network cannot be asked whether an address is in use; it is tried again when its client asks',
        );
    }
    this.#deferred.delete(key);
  }

  #onUsed({ poolName, macAddress, address }: Lease, usedBy: string): void {
    this.#settings.logger.error(
      { pool: poolName, address: formatIpv4Address(address), mac: macAddress, usedBy },
      'the address is in use by another machine: its client will get another address',
    );
    this.#settings.onConflict(poolName, { address, macAddress, usedBy });
  }

  #answerDeferred(interfaceName: string, key: string): void {
    const packet = this.#deferred.get(key);
    this.#deferred.delete(key);
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
