/**
 * Decides which reports belong to one wake-up. An accepted wake-up is remembered for ten seconds from its first sighting; one
 * without effect, because the machine runs or cannot be started, only for the moment in which other nodes report the same packet,
 * so that a machine that is shut down right after that can be woken. The time of reception counts: a report that was delayed for
 * two minutes belongs to a wake-up that was decided meanwhile, even if the owner of the machine has stopped it again. Reports
 * that arrive during a decision wait for its verdict.
 */
import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { ruleOf, type WakeVerdict } from './wake-verdict.js';

/** Source: the predecessor's windows, of its managers and of its agents. */
const WINDOW_MS = 10_000;
const MOMENT_MS = 2_000;
/** Only addresses that may wake a machine are stored here. */
const CAPACITY = 10_000;

export type SeenReport =
  /** Has to be decided; the caller settles it by `decide`. */
  { readonly kind: 'new' } | { readonly kind: 'repeated'; readonly verdict: WakeVerdict | Promise<WakeVerdict> };

interface Remembered {
  readonly verdict: WakeVerdict;
  /** Packets received before this time are the same wake-up. */
  readonly untilMs: number;
}

export class RecentWakeUps {
  readonly #deciding = new Map<MacAddress, Promise<WakeVerdict>>();
  /** In the order of their decisions. */
  readonly #remembered = new Map<MacAddress, Remembered>();

  /** Reports whose decision is in progress. */
  get underWay(): number {
    return this.#deciding.size;
  }

  /** Classifies a report of a packet received at `heardMs`, by the clock of this process. */
  see(macAddress: MacAddress, heardMs: number): SeenReport {
    const deciding = this.#deciding.get(macAddress);
    if (deciding !== undefined) return { kind: 'repeated', verdict: deciding };
    const remembered = this.#remembered.get(macAddress);
    if (remembered === undefined || heardMs >= remembered.untilMs) return { kind: 'new' };
    return { kind: 'repeated', verdict: remembered.verdict };
  }

  /** Decides a new report that arrived at `nowMs`, and remembers the verdict for as long as its outcome requires. */
  async decide(macAddress: MacAddress, nowMs: number, decide: () => Promise<WakeVerdict>): Promise<WakeVerdict> {
    const deciding = decide();
    this.#deciding.set(macAddress, deciding);
    try {
      const verdict = await deciding;
      this.#remember(macAddress, nowMs, verdict);
      return verdict;
    } finally {
      this.#deciding.delete(macAddress);
    }
  }

  /** Replaces the verdict of a wake-up that had to wait: if that failed, the next packet is decided again. */
  settle(macAddress: MacAddress, nowMs: number, verdict: WakeVerdict): void {
    this.#remembered.delete(macAddress);
    this.#remember(macAddress, nowMs, verdict);
  }

  #remember(macAddress: MacAddress, nowMs: number, verdict: WakeVerdict): void {
    const { remembered } = ruleOf(verdict.outcome);
    if (remembered === 'no') return;
    this.#remembered.delete(macAddress);
    this.#remembered.set(macAddress, { verdict, untilMs: nowMs + (remembered === 'window' ? WINDOW_MS : MOMENT_MS) });
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > CAPACITY && oldest !== undefined) this.#remembered.delete(oldest);
  }
}
