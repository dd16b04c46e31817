/**
 * Decides which packets become wake-ups. Machines of a list are looked up before anything is counted or remembered, so that a
 * flood of made-up addresses costs one look-up each and delays no real wake-up. Without a list, every address could be a machine:
 * then limits for each sender and for all of them bound the effect of a flood.
 */
import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';
import { decodeMagicPacket, type NotMagicReason } from '../packet/decode-magic-packet.js';
import { isSamePassword, type SecureOnPassword } from '../packet/secure-on-password.js';
import { RateLimit } from '../window/rate-limit.js';
import { type Sighting, WakeUpWindow } from '../window/wake-up-window.js';

const ALL_SENDERS = '';
/**
 * Other nodes receive the same packet within this time. A running machine may be shut down right after that, and be woken again.
 */
const MOMENT_MS = 2_000;
const CAPACITY = 10_000;
/** For each sender of packets for machines that are in no list. */
const SENDER_LIMIT = { burst: 20, perSecond: 2, capacity: CAPACITY };
/** For each machine: how often a wake-up that is not accepted, such as a failing command, is tried again. */
const MACHINE_LIMIT = { burst: 5, perSecond: 0.5, capacity: CAPACITY };
/** For all senders together, because senders can be made up too. */
const TOTAL_LIMIT = { burst: 100, perSecond: 20, capacity: 1 };

/** Which machines are listened for, with which password, and how long packets are one wake-up. */
export interface HearingSettings {
  /** The initial list; see `hearOnly`. In the canonical spelling; undefined for every machine. */
  readonly machines: ReadonlySet<MacAddress> | undefined;
  /** Packets without it are ignored. */
  readonly password: SecureOnPassword | undefined;
  readonly windowMs: number;
}

/** Why a packet is ignored. */
export type IgnoredReason =
  | NotMagicReason
  | 'wrong-password'
  | 'not-in-list'
  /** It is one more packet of a wake-up in progress. */
  | 'in-progress'
  /** It is one more packet of an accepted wake-up. */
  | 'repeated'
  /** Its sender, or all senders together, sent too many; or wake-ups of its machine failed too often. */
  | 'too-many';

/** A packet that is about a machine, or why it is ignored. */
export type HeardPacket =
  | { readonly kind: 'wake-up'; readonly sighting: Sighting }
  | { readonly kind: 'ignored'; readonly reason: IgnoredReason };

/** Classifies packets, and remembers their wake-ups. */
export class PacketHearing {
  readonly #settings: HearingSettings;
  #machines: ReadonlySet<MacAddress> | undefined;
  readonly #window: WakeUpWindow;
  readonly #machineLimit = new RateLimit(MACHINE_LIMIT);
  readonly #senderLimit = new RateLimit(SENDER_LIMIT);
  readonly #totalLimit = new RateLimit(TOTAL_LIMIT);

  constructor(settings: HearingSettings) {
    this.#settings = settings;
    this.#machines = settings.machines;
    this.#window = new WakeUpWindow({ windowMs: settings.windowMs, capacity: CAPACITY });
  }

  /** Wake-ups in memory. */
  get size(): number {
    return this.#window.size;
  }

  /** Classifies a packet received at `nowMs`. @param sender - called only if it is needed. */
  hear(payload: Uint8Array, sender: () => string, nowMs: number): HeardPacket {
    const decoded = decodeMagicPacket(payload);
    if (!decoded.ok) return ignored(decoded.reason);
    const { macAddress, password } = decoded.packet;
    const machines = this.#machines;
    if (machines?.has(macAddress) === false) return ignored('not-in-list');
    if (!this.#isRightPassword(password)) return ignored('wrong-password');
    const seen = this.#window.see(macAddress, nowMs);
    if (seen.kind !== 'new') return ignored(seen.kind);
    if (!this.#isWithinLimits(macAddress, machines === undefined ? sender : undefined, nowMs)) {
      this.#window.refuse(seen.sighting);
      return ignored('too-many');
    }
    return { kind: 'wake-up', sighting: seen.sighting };
  }

  /** Replaces the list of machines. @param machines - in the canonical spelling; undefined for every machine. */
  hearOnly(machines: ReadonlySet<MacAddress> | undefined): void {
    this.#machines = machines;
  }

  /**
   * Ends a wake-up as accepted: further packets of it are repeated ones, for the window, or for the moment in which they arrive
   * on other ways.
   */
  accept(sighting: Sighting, remembered: 'window' | 'moment' = 'window'): void {
    this.#window.accept(sighting, remembered === 'window' ? this.#settings.windowMs : MOMENT_MS);
  }

  /** Forgets accepted wake-ups: the manager that accepted them may be gone. */
  forgetAccepted(): void {
    this.#window.forgetAccepted();
  }

  /** Ends a wake-up as failed: the next packet is a wake-up again. */
  refuse(sighting: Sighting): void {
    this.#window.refuse(sighting);
  }

  #isRightPassword(password: SecureOnPassword | undefined): boolean {
    const wanted = this.#settings.password;
    return wanted === undefined || (password !== undefined && isSamePassword(password, wanted));
  }

  /** @param sender - the sender of a packet for a machine that is in no list. */
  #isWithinLimits(macAddress: MacAddress, sender: (() => string) | undefined, nowMs: number): boolean {
    if (this.#machineLimit.take(macAddress, nowMs).kind !== 'allowed') return false;
    if (sender === undefined) return true;
    return (
      this.#senderLimit.take(sender(), nowMs).kind === 'allowed' && this.#totalLimit.take(ALL_SENDERS, nowMs).kind === 'allowed'
    );
  }
}

function ignored(reason: IgnoredReason): HeardPacket {
  return { kind: 'ignored', reason };
}
