/**
 * Which reports are one wake-up. A wake-up that was accepted is remembered for ten seconds from its first sighting; one that came to nothing, because the
 * machine runs or cannot be started, only for the moment in which other nodes report the same packet: a machine that is shut down right after that can be
 * woken. What counts is when the packet was received: a report that was kept for two minutes is one more of a wake-up that was decided meanwhile, also where the
 * owner of the machine has stopped it again. Reports that come while one is being decided wait for its verdict.
 */
import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { ruleOf, type WakeVerdict } from './wake-verdict.js';

/** Source: the predecessor's windows, of its managers and of its agents. */
const WINDOW_MS = 10_000;
const MOMENT_MS = 2_000;
/** Only addresses that may wake a machine come here. */
const CAPACITY = 10_000;

export type SeenReport =
  /** To be decided; the caller settles it by `decide`. */
  { readonly kind: 'new' } | { readonly kind: 'repeated'; readonly verdict: WakeVerdict | Promise<WakeVerdict> };

interface Remembered {
  readonly verdict: WakeVerdict;
  /** Packets that were received before are the same wake-up. */
  readonly untilMs: number;
}

export class RecentWakeUps {
  readonly #deciding = new Map<MacAddress, Promise<WakeVerdict>>();
  /** In the order of their decisions. */
  readonly #remembered = new Map<MacAddress, Remembered>();

  /** Reports that are being decided. */
  get underWay(): number {
    return this.#deciding.size;
  }

  /** What a report is of a packet that was received at `heardMs`, by the clock of this process. */
  see(macAddress: MacAddress, heardMs: number): SeenReport {
    const deciding = this.#deciding.get(macAddress);
    if (deciding !== undefined) return { kind: 'repeated', verdict: deciding };
    const remembered = this.#remembered.get(macAddress);
    if (remembered === undefined || heardMs >= remembered.untilMs) return { kind: 'new' };
    return { kind: 'repeated', verdict: remembered.verdict };
  }

  /** Decides a new report that came at `nowMs`, and remembers the verdict as its outcome demands. */
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

  #remember(macAddress: MacAddress, nowMs: number, verdict: WakeVerdict): void {
    const { remembered } = ruleOf(verdict.outcome);
    if (remembered === 'no') return;
    this.#remembered.delete(macAddress);
    this.#remembered.set(macAddress, { verdict, untilMs: nowMs + (remembered === 'window' ? WINDOW_MS : MOMENT_MS) });
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > CAPACITY && oldest !== undefined) this.#remembered.delete(oldest);
  }
}
