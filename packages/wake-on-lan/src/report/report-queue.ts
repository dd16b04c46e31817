/**
 * Queues wake-ups for a manager. Each is kept until a manager has answered, or until it is too old to be useful. While no manager
 * answers, one wake-up at a time is tried, with growing pauses; the first answer, or the news that a manager is there, sends all
 * of them. A wake-up that a manager postpones waits apart from the others: otherwise one machine that is woken too often would
 * delay the wake-ups of all others.
 *
 * The memory is bounded, with the rule of WakeUpWindow: when it is full, the wake-up that has waited longest is removed, so that
 * a flood replaces itself.
 */
import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';
import { OldestFirst } from '../window/oldest-first.js';
import type { Sighting } from '../window/wake-up-window.js';

/** How many reports wait, how long, and how many are sent at once. */
export interface ReportQueueSettings {
  /** Wake-ups in memory, 1 or more. */
  readonly capacity: number;
  /** Milliseconds from the first packet of a wake-up until it is given up. */
  readonly keepMs: number;
  /** Reports that wait for their answers at the same time, 1 or more. */
  readonly atOnce: number;
}

/** How a try to report ended. */
export type ReportDelivery<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  /** The leading manager will accept it later, because there are too many of its kind. Other wake-ups are not affected. */
  | { readonly kind: 'later'; readonly message: string }
  /** No manager accepted it. */
  | { readonly kind: 'unavailable'; readonly message: string };

/** How a wake-up left the queue. */
export type ReportEnd<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'given-up'; readonly reason: GivenUpReason; readonly lastFailure: string };

/** Why a wake-up was given up: no manager accepted it in time, or newer ones needed its place. */
export type GivenUpReason = 'too-old' | 'queue-full';

/** A wake-up, and what is reported about it. */
export interface HeardWakeUp<Facts> {
  readonly sighting: Sighting;
  readonly facts: Facts;
}

/** How reports are delivered, and who is told of delays. */
export interface ReportPorts<Facts, Answer> {
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
  /** Calls after this many milliseconds. Returns a function that cancels the call. */
  readonly after: (delayMs: number, run: () => void) => () => void;
  /** Milliseconds until the next try after this many failures in a row, 1 or more. */
  readonly pauseMs: (failures: number) => number;
  /** Reports to a manager; never rejects. */
  readonly deliver: (wakeUp: HeardWakeUp<Facts>) => Promise<ReportDelivery<Answer>>;
  /** The first try of a wake-up failed; it is tried again. */
  readonly onDelayed: (wakeUp: HeardWakeUp<Facts>, message: string) => void;
  /** Called once for each wake-up. */
  readonly onEnd: (wakeUp: HeardWakeUp<Facts>, end: ReportEnd<Answer>) => void;
}

interface Entry<Facts> {
  wakeUp: HeardWakeUp<Facts>;
  readonly addedAtMs: number;
  isUnderWay: boolean;
  lastFailure: string | undefined;
  /** How often a manager has postponed it. */
  timesLater: number;
  /** When it may be tried again after a manager postponed it. */
  dueAtMs: number;
}

/**
 * Milliseconds between two postponed wake-ups: the manager limits its decisions, and all agents together must not flood it with
 * postponed ones.
 */
const LATER_INTERVAL_MS = 50;

/** Keeps wake-ups until they are answered or given up. */
export class ReportQueue<Facts, Answer> {
  readonly #settings: ReportQueueSettings;
  readonly #ports: ReportPorts<Facts, Answer>;
  /** In the order of their first packets. */
  readonly #entries = new OldestFirst<Entry<Facts>>();
  /** Addresses to send, in order. An address without an entry is skipped. */
  readonly #next = new Set<MacAddress>();
  #underWay = 0;
  /** Tries in a row that no manager accepted. */
  #failures = 0;
  /** Wake-ups that a manager postponed, in that order. */
  readonly #later = new Set<Entry<Facts>>();
  #endLater: (() => void) | undefined;
  #endPause: (() => void) | undefined;
  #endExpiry: (() => void) | undefined;
  #isStopped = false;

  constructor(settings: ReportQueueSettings, ports: ReportPorts<Facts, Answer>) {
    this.#settings = settings;
    this.#ports = ports;
  }

  /** Wake-ups without an answer, never more than the capacity. */
  get size(): number {
    return this.#entries.size;
  }

  /** Reports a wake-up. If its machine is already in the queue, it replaces the earlier one, with the same deadline. */
  add(wakeUp: HeardWakeUp<Facts>): void {
    const { macAddress } = wakeUp.sighting;
    const known = this.#entries.get(macAddress);
    if (known !== undefined) {
      known.wakeUp = wakeUp;
      return;
    }
    const oldest = this.#entries.oldest();
    if (this.#entries.size >= this.#settings.capacity && oldest !== undefined) this.#giveUp(oldest, 'queue-full');
    this.#entries.set(macAddress, {
      wakeUp,
      addedAtMs: this.#ports.nowMs(),
      isUnderWay: false,
      lastFailure: undefined,
      timesLater: 0,
      dueAtMs: 0,
    });
    this.#next.add(macAddress);
    this.#send();
    this.#watchOldest();
  }

  /** Called when a manager is there: sends what waits at once. */
  managerIsReachable(): void {
    this.#failures = 0;
    this.#resume();
  }

  /** Stops sending. Waiting wake-ups are lost. */
  stop(): void {
    this.#isStopped = true;
    this.#endPause?.();
    this.#endExpiry?.();
    this.#endLater?.();
  }

  #send(): void {
    if (this.#isStopped || this.#endPause !== undefined) return;
    // After a failure, a single wake-up tests whether a manager is there again.
    const most = this.#failures > 0 ? 1 : this.#settings.atOnce;
    for (const macAddress of this.#next) {
      if (this.#underWay >= most) return;
      this.#next.delete(macAddress);
      const entry = this.#entries.get(macAddress);
      if (entry !== undefined && !entry.isUnderWay) void this.#deliver(entry);
    }
  }

  async #deliver(entry: Entry<Facts>): Promise<void> {
    entry.isUnderWay = true;
    this.#underWay++;
    const failuresBefore = this.#failures;
    const delivery = await this.#ports.deliver(entry.wakeUp);
    entry.isUnderWay = false;
    this.#underWay--;
    if (this.#isStopped) return;
    if (delivery.kind === 'unavailable') this.#onFailure(entry, delivery.message, failuresBefore);
    else if (delivery.kind === 'later') this.#onLater(entry, delivery.message);
    else this.#onAnswer(entry, delivery.answer);
    this.#watchOldest();
    this.#send();
  }

  #onAnswer(entry: Entry<Facts>, answer: Answer): void {
    if (this.#remove(entry)) this.#ports.onEnd(entry.wakeUp, { kind: 'answered', answer });
    this.#failures = 0;
    this.#resume();
  }

  #onLater(entry: Entry<Facts>, message: string): void {
    if (this.#entries.get(entry.wakeUp.sighting.macAddress) === entry) {
      this.#noteFailure(entry, message);
      entry.timesLater++;
      entry.dueAtMs = this.#ports.nowMs() + this.#ports.pauseMs(entry.timesLater);
      this.#later.add(entry);
      this.#endLater ??= this.#ports.after(LATER_INTERVAL_MS, () => this.#tryOneAgain());
    }
    this.#failures = 0;
    this.#resume();
  }

  /** The first postponed one whose pause is over. */
  #tryOneAgain(): void {
    const nowMs = this.#ports.nowMs();
    const due = [...this.#later].find(({ dueAtMs }) => dueAtMs <= nowMs);
    if (due !== undefined) {
      this.#later.delete(due);
      this.#next.add(due.wakeUp.sighting.macAddress);
    }
    this.#endLater = this.#later.size === 0 ? undefined : this.#ports.after(LATER_INTERVAL_MS, () => this.#tryOneAgain());
    this.#send();
  }

  #noteFailure(entry: Entry<Facts>, message: string): void {
    const isFirst = entry.lastFailure === undefined;
    entry.lastFailure = message;
    if (isFirst) this.#ports.onDelayed(entry.wakeUp, message);
  }

  #onFailure(entry: Entry<Facts>, message: string, failuresBefore: number): void {
    const { macAddress } = entry.wakeUp.sighting;
    if (this.#entries.get(macAddress) === entry) {
      this.#next.add(macAddress);
      this.#noteFailure(entry, message);
    }
    // Reports that were sent together fail together: that counts as one failure.
    if (this.#failures !== failuresBefore || this.#endPause !== undefined) return;
    this.#failures++;
    this.#endPause = this.#ports.after(this.#ports.pauseMs(this.#failures), () => this.#resume());
  }

  #resume(): void {
    this.#endPause?.();
    this.#endPause = undefined;
    this.#send();
  }

  /** Gives up what is too old, and runs again when the next one is. */
  #watchOldest(): void {
    this.#endExpiry?.();
    this.#endExpiry = undefined;
    let oldest = this.#entries.oldest();
    // One in progress may still be answered; its end calls this again.
    while (oldest !== undefined && this.#leftMs(oldest) <= 0 && !oldest.isUnderWay) {
      this.#giveUp(oldest, 'too-old');
      oldest = this.#entries.oldest();
    }
    if (oldest === undefined || oldest.isUnderWay) return;
    this.#endExpiry = this.#ports.after(this.#leftMs(oldest), () => this.#watchOldest());
  }

  #leftMs({ addedAtMs }: Entry<Facts>): number {
    return addedAtMs + this.#settings.keepMs - this.#ports.nowMs();
  }

  #giveUp(entry: Entry<Facts>, reason: GivenUpReason): void {
    this.#remove(entry);
    this.#ports.onEnd(entry.wakeUp, { kind: 'given-up', reason, lastFailure: entry.lastFailure ?? 'not tried yet' });
  }

  /** False if it was given up before. */
  #remove(entry: Entry<Facts>): boolean {
    const { macAddress } = entry.wakeUp.sighting;
    if (this.#entries.get(macAddress) !== entry) return false;
    this.#entries.delete(macAddress);
    this.#next.delete(macAddress);
    this.#later.delete(entry);
    return true;
  }
}
