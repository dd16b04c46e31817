/**
 * Decides which of the packets for one machine is a new wake-up. Senders repeat packets, every node of a network receives them,
 * and a record that is made too early loses a wake-up. So a record is made when the wake-up was accepted, and its window begins
 * at the first sighting and does not slide.
 *
 * The memory is bounded. When it is full, the sighting that has waited longest for its answer is removed first: made-up addresses
 * are never accepted, so a flood of them replaces itself. Only if every entry is accepted, the one that was accepted longest ago
 * is removed. After a removal, the next packet for that machine is a wake-up again: a wake-up may be reported twice, and is never
 * lost.
 */
import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';
import { OldestFirst } from './oldest-first.js';

/** The first packet of a wake-up. Its owner ends it by `accept` or `refuse`. */
export interface Sighting {
  readonly macAddress: MacAddress;
  readonly firstSeenMs: number;
}

interface Accepted extends Sighting {
  /** Counted from the first sighting. */
  readonly windowMs: number;
}

/** Whether a packet begins a wake-up, belongs to one, or cannot be kept. */
export type SeenWakeUp =
  /** Has to be reported. */
  | { readonly kind: 'new'; readonly sighting: Sighting }
  /** It is already reported, and has no answer yet. */
  | { readonly kind: 'in-progress'; readonly sighting: Sighting }
  /** It was accepted less than a window after its first sighting. */
  | { readonly kind: 'repeated' };

/** How long packets for a machine are one wake-up, and for how many machines. */
export interface WakeUpWindowSettings {
  /** Counted from the first sighting of a wake-up; in milliseconds. */
  readonly windowMs: number;
  /** Entries, 1 or more. */
  readonly capacity: number;
}

/** The wake-ups that wait for an answer, and the accepted ones. */
export class WakeUpWindow {
  readonly #settings: WakeUpWindowSettings;
  /** In the order of their first sightings. */
  readonly #waiting = new OldestFirst<Sighting>();
  /** In the order of their acceptance. */
  readonly #accepted = new OldestFirst<Accepted>();

  constructor(settings: WakeUpWindowSettings) {
    this.#settings = settings;
  }

  /** Entries in memory, never more than the capacity. */
  get size(): number {
    return this.#waiting.size + this.#accepted.size;
  }

  /** Classifies a packet received at `nowMs`, of any monotonic clock; one that jumps ends windows. */
  see(macAddress: MacAddress, nowMs: number): SeenWakeUp {
    const waiting = this.#waiting.get(macAddress);
    if (waiting !== undefined) return { kind: 'in-progress', sighting: waiting };
    const accepted = this.#accepted.get(macAddress);
    if (accepted !== undefined && isWithinWindow(accepted, nowMs)) return { kind: 'repeated' };
    this.#accepted.delete(macAddress);
    this.#forgetEnded(nowMs);
    this.#makeRoom();
    const sighting: Sighting = { macAddress, firstSeenMs: nowMs };
    this.#waiting.set(macAddress, sighting);
    return { kind: 'new', sighting };
  }

  /**
   * Ends a wake-up as accepted: packets until the end of its window are repeated ones. @param windowMs - from the first sighting;
   * default: the window of the settings, which is the longest.
   */
  accept(sighting: Sighting, windowMs = this.#settings.windowMs): void {
    const { macAddress } = sighting;
    this.refuse(sighting);
    this.#accepted.delete(macAddress);
    this.#makeRoom();
    this.#accepted.set(macAddress, { ...sighting, windowMs: Math.min(windowMs, this.#settings.windowMs) });
  }

  /** Forgets accepted wake-ups: the next packet of each machine is a wake-up, unless it waits for an answer. */
  forgetAccepted(): void {
    while (this.#accepted.size > 0) this.#accepted.deleteOldest();
  }

  /** Ends a wake-up as refused or not delivered: the next packet is a wake-up again. */
  refuse(sighting: Sighting): void {
    const { macAddress } = sighting;
    // Another sighting may have replaced this one, if this one was removed.
    if (this.#waiting.get(macAddress) === sighting) this.#waiting.delete(macAddress);
  }

  #forgetEnded(nowMs: number): void {
    let oldest = this.#accepted.oldest();
    while (oldest !== undefined && !isWithinWindow(oldest, nowMs)) {
      this.#accepted.deleteOldest();
      oldest = this.#accepted.oldest();
    }
  }

  #makeRoom(): void {
    if (this.size < this.#settings.capacity) return;
    if (this.#waiting.size > 0) this.#waiting.deleteOldest();
    else this.#accepted.deleteOldest();
  }
}

function isWithinWindow({ firstSeenMs, windowMs }: Accepted, nowMs: number): boolean {
  return nowMs >= firstSeenMs && nowMs - firstSeenMs < windowMs;
}
