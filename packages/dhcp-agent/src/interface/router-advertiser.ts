/**
 * When Router Advertisements are sent on one interface, and to whom. The agent that answers sends them; a standby, to a host that asks again. Agents
 * that know the same pool say the same, so that hosts do not notice a take-over: there is no last advertisement. Source: RFC 4861 §6.2.4, §6.2.6.
 */
import type { Ipv6Address } from '@vmdhcp/dhcp-allocator/address';
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
/** A host that asks again after this time may have got no answer: it waits for four seconds (RFC 4861 §6.3.7), and longer later (RFC 7559). */
const ASKS_AGAIN_MS = { least: 3_000, most: 90_000 };
/** The hosts whose last question a standby remembers: anybody can make up more. */
const MOST_ASKING = 1_024;

/** What an interface advertises. */
export interface Advertisement {
  readonly message: Uint8Array;
  /** The routers in whose names it is sent; empty: in the agent's own. */
  readonly routers: readonly Ipv6Address[];
}

export interface RouterAdvertiserPorts {
  readonly clock: Pick<Clock, 'nowMs' | 'after'>;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** What there is to advertise; undefined: nothing. */
  readonly advertisement: () => Advertisement | undefined;
  /** True if this agent is the one that advertises. */
  readonly mayAdvertise: () => boolean;
  /** Which question of a host a standby answers, if no other agent seems to: 2 for the second one; undefined for none. */
  readonly helpsAtQuestion: () => number | undefined;
  /** Sends it. @param to - undefined for all hosts. */
  readonly send: (advertisement: Advertisement, to: Ipv6Source | undefined) => void;
}

export class RouterAdvertiser {
  readonly #ports: RouterAdvertiserPorts;
  readonly #answers = new RateBudget(ANSWERS);
  /** How many were sent to all since it may advertise, or since what it says has changed. */
  #count = 0;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  #sentAtMs = Number.NEGATIVE_INFINITY;
  #sent: Advertisement | undefined;
  /** How often hosts asked while another agent should have answered, and when they did last, by MAC address; the last one to ask last. */
  readonly #asked = new Map<string, { readonly count: number; readonly atMs: number }>();

  constructor(ports: RouterAdvertiserPorts) {
    this.#ports = ports;
  }

  /** Sends what is due. Call it several times a second. */
  look(): void {
    const { clock, random, mayAdvertise, advertisement: current, send } = this.#ports;
    const nowMs = clock.nowMs();
    const advertisement = mayAdvertise() ? current() : undefined;
    if (advertisement === undefined || !isSame(advertisement, this.#sent)) {
      this.#count = 0;
      this.#nextAtMs = Number.NEGATIVE_INFINITY;
    }
    if (advertisement === undefined || nowMs < this.#nextAtMs || nowMs < this.#sentAtMs + LEAST_MS) return;
    send(advertisement, undefined);
    this.#count++;
    this.#sent = advertisement;
    this.#sentAtMs = nowMs;
    this.#nextAtMs = nowMs + (this.#count < FIRST_COUNT ? FIRST_MS : SHORTEST_MS + random() * (LONGEST_MS - SHORTEST_MS));
  }

  /** Answers a host. @param source - undefined if it has no address yet. */
  answer(source: Ipv6Source | undefined): void {
    const { clock, random, mayAdvertise, advertisement } = this.#ports;
    const isHelp = !mayAdvertise();
    if (isHelp && !(source !== undefined && this.#mayHelp(source))) return;
    if (advertisement() === undefined) return;
    const nowMs = clock.nowMs();
    const delayMs = random() * DELAY_MS;
    if (source !== undefined && this.#answers.take(nowMs)) {
      clock.after(delayMs, () => this.#sendTo(source));
    } else if (nowMs + delayMs < this.#nextAtMs) {
      this.#nextAtMs = nowMs + delayMs;
      clock.after(delayMs, () => this.look());
    }
  }

  #sendTo(source: Ipv6Source): void {
    const { mayAdvertise, helpsAtQuestion, advertisement: current, send } = this.#ports;
    const advertisement = mayAdvertise() || helpsAtQuestion() !== undefined ? current() : undefined;
    if (advertisement !== undefined) send(advertisement, source);
  }

  #mayHelp(source: Ipv6Source): boolean {
    const helpsAt = this.#ports.helpsAtQuestion();
    return helpsAt !== undefined && this.#noteQuestion(source) >= helpsAt;
  }

  /** Notes a question. Returns how often the host has asked, with some seconds in between. */
  #noteQuestion({ macAddress }: Ipv6Source): number {
    const nowMs = this.#ports.clock.nowMs();
    const before = this.#asked.get(macAddress) ?? { count: 0, atMs: Number.NEGATIVE_INFINITY };
    const waitedMs = nowMs - before.atMs;
    const asksAgain = waitedMs >= ASKS_AGAIN_MS.least && waitedMs <= ASKS_AGAIN_MS.most;
    const count = asksAgain ? before.count + 1 : 1;
    this.#asked.delete(macAddress);
    this.#asked.set(macAddress, { count, atMs: nowMs });
    const [oldest = ''] = this.#asked.keys();
    if (this.#asked.size > MOST_ASKING) this.#asked.delete(oldest);
    return count;
  }
}

function isSame(one: Advertisement, other: Advertisement | undefined): boolean {
  return other !== undefined && hasSame(one.message, other.message) && hasSame(one.routers, other.routers);
}

function hasSame<T>(one: ArrayLike<T>, other: ArrayLike<T>): boolean {
  return one.length === other.length && Array.from(one).every((entry, index) => entry === other[index]);
}
