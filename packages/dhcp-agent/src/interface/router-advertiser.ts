/**
 * When Router Advertisements are sent on one interface, and to whom. Only the agent that answers sends them. The next one says the same, so that hosts
 * do not notice a take-over: there is no last advertisement. Source: RFC 4861 §6.2.4, §6.2.6.
 */
import type { Clock } from '@vmdhcp/kube-runtime';
import { RateBudget } from '../limits/rate-budget.js';
import type { Ipv6Source } from '../ports.js';

const SHORTEST_MS = 200_000;
const LONGEST_MS = 600_000;
/** The first ones follow each other more closely. */
const FIRST_COUNT = 3;
const FIRST_MS = 16_000;
/** Between two advertisements to all hosts. */
const LEAST_MS = 3_000;
/** An answer waits for a random part of this. */
const DELAY_MS = 500;
/** Answers to single hosts; hosts that ask beyond that get the next one to all. */
const ANSWERS = { perSecond: 20, burst: 50 };

export interface RouterAdvertiserPorts {
  readonly clock: Pick<Clock, 'nowMs' | 'after'>;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** True if this agent advertises now. */
  readonly mayAdvertise: () => boolean;
  /** Sends an advertisement. @param to - undefined for all hosts. */
  readonly send: (to: Ipv6Source | undefined) => void;
}

export class RouterAdvertiser {
  readonly #ports: RouterAdvertiserPorts;
  readonly #answers = new RateBudget(ANSWERS);
  /** How many were sent to all since it may advertise. */
  #count = 0;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  #sentAtMs = Number.NEGATIVE_INFINITY;

  constructor(ports: RouterAdvertiserPorts) {
    this.#ports = ports;
  }

  /** Sends what is due. Call it several times a second. */
  look(): void {
    const { clock, random, mayAdvertise, send } = this.#ports;
    const nowMs = clock.nowMs();
    if (!mayAdvertise()) {
      this.#count = 0;
      this.#nextAtMs = Number.NEGATIVE_INFINITY;
      return;
    }
    if (nowMs < this.#nextAtMs || nowMs < this.#sentAtMs + LEAST_MS) return;
    send(undefined);
    this.#count++;
    this.#sentAtMs = nowMs;
    this.#nextAtMs = nowMs + (this.#count < FIRST_COUNT ? FIRST_MS : SHORTEST_MS + random() * (LONGEST_MS - SHORTEST_MS));
  }

  /** Answers a host. @param source - undefined if it has no address yet. */
  answer(source: Ipv6Source | undefined): void {
    const { clock, random, mayAdvertise, send } = this.#ports;
    if (!mayAdvertise()) return;
    const isAlone = source !== undefined && this.#answers.take(clock.nowMs());
    const delayMs = random() * DELAY_MS;
    if (!isAlone) this.#nextAtMs = Math.min(this.#nextAtMs, clock.nowMs() + delayMs);
    clock.after(delayMs, () => {
      if (!isAlone) this.look();
      else if (mayAdvertise()) send(source);
    });
  }
}
