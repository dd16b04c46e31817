/**
 * Decides when a standby answers: if a client retransmits, it got no answer, so the leader may be dead. The answer depends on API objects alone, so
 * any replica can send it, and a second answer does no harm.
 */
import type { Answer } from '@vmdhcp/dhcp-allocator';
import type { Dhcpv6Answer } from '@vmdhcp/dhcp-allocator/dhcpv6';

/** A client that sends again sooner has not waited for an answer. */
const LEAST_BACK_OFF_MS = 400;
/** A client that was silent for longer begins a new attempt; clients that rebind wait for a minute or more (RFC 2131 §4.4.5). */
const MOST_BACK_OFF_MS = 90_000;
/** How long a message waits for a replica to become leader, and how many do. */
const RECENT_MS = 1_500;
const MOST_RECENT = 256;
/** A client that has retransmitted counts as retransmitting for this long, however soon the same message is checked again. */
const UNANSWERED_MS = 1_500;
/** How long a client may take to request the address that it was offered. */
const EXCHANGE_MS = 10_000;

export interface StandbyGateSettings {
  readonly nowMs: () => number;
  /**
   * How long a client must have waited: 0 while this replica is up to date. A replica without news from the API server may be the only one that is
   * cut off, so it lets the others go first.
   */
  readonly leastWaitMs: () => number;
  /** True if the leader may have a reason to be silent that this replica does not know. */
  readonly isInDoubt: (poolName: string, macAddress: string) => boolean;
}

interface Asking {
  readonly xid: number;
  readonly secs: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** When it last retransmitted. */
  readonly retransmittedAtMs: number;
}

export class StandbyGate {
  readonly #settings: StandbyGateSettings;
  /** By pool and MAC address. Clients without a lease are never included, so there are at most as many entries as leases. */
  readonly #asking = new Map<string, Asking>();
  readonly #answeredAtMs = new Map<string, number>();
  /** Clients that have waited, but not as long as `leastWaitMs`. */
  readonly #leftToOthers = new Set<string>();
  /** The newest message of each client, oldest first. */
  readonly #recent = new Map<string, { readonly packet: Uint8Array; readonly poolName: string; readonly atMs: number }>();

  constructor(settings: StandbyGateSettings) {
    this.#settings = settings;
  }

  /** Recent messages, each once: a new leader answers them, because they may have come while there was no leader. */
  takeRecent(poolName: string): Uint8Array[] {
    return this.#take(poolName, () => true);
  }

  #take(poolName: string, isWanted: (key: string) => boolean): Uint8Array[] {
    const sinceMs = this.#settings.nowMs() - RECENT_MS;
    return [...this.#recent].flatMap(([key, question]) => {
      if (question.poolName !== poolName || !isWanted(key)) return [];
      this.#recent.delete(key);
      return question.atMs >= sinceMs ? [question.packet] : [];
    });
  }

  /** Recent messages that were left to other replicas because of `leastWaitMs`, each once: pass them in again when that is shorter. */
  takeLeftToOthers(poolName: string): Uint8Array[] {
    return this.#take(poolName, (key) => this.#leftToOthers.delete(key));
  }

  /** True if the client retransmits, and its last message was not answered from here. */
  isUnanswered(poolName: string, macAddress: string): boolean {
    const key = keyOf(poolName, macAddress);
    return this.#recent.has(key) && this.#isRetransmitting(key);
  }

  /** Notes a packet and its reply. True if a standby sends the reply. Call it once for each packet. */
  admit(answer: Answer, packet: Uint8Array): boolean {
    if (answer.kind !== 'reply' || !isFromObjectsAlone(answer)) return false;
    const { client, pool } = answer;
    const key = keyOf(pool.name, client.macAddress);
    const { xid, secs } = client.message;
    const asked = { xid, secs, isRequest: client.type === 'request' };
    const isAnswered = this.#note(key, asked, () => this.#settings.isInDoubt(pool.name, client.macAddress));
    this.#remember(key, { packet, poolName: pool.name, atMs: this.#settings.nowMs() }, isAnswered);
    return isAnswered;
  }

  /** The same for DHCPv6: retransmissions have the same transaction. Source: RFC 8415 §15. */
  admitDhcpv6(
    poolName: string,
    { message, macAddress, isAssignment }: Extract<Dhcpv6Answer, { readonly kind: 'reply' }>,
  ): boolean {
    if (!isAssignment) return false;
    const { type, transactionId: xid } = message;
    const asked = { xid, secs: 0, isRequest: type === 'request' };
    return this.#note(`${keyOf(poolName, macAddress)} v6`, asked, () => this.#settings.isInDoubt(poolName, macAddress));
  }

  #note(
    key: string,
    asked: { readonly xid: number; readonly secs: number; readonly isRequest: boolean },
    isInDoubt: () => boolean,
  ): boolean {
    const nowMs = this.#settings.nowMs();
    const answeredAtMs = this.#answeredAtMs.get(key) ?? Number.NEGATIVE_INFINITY;
    // It requests an address that this replica offered, so this replica answers.
    const isHelped = asked.isRequest && nowMs - answeredAtMs < EXCHANGE_MS;
    const isWaiting = this.#noteWaiting(key, asked, nowMs);
    const isAnswered = (isHelped || isWaiting) && !isInDoubt();
    // Helping must end: the knowledge of this replica may be old by then.
    if (isAnswered && !isHelped) this.#answeredAtMs.set(key, nowMs);
    return isAnswered;
  }

  #remember(
    key: string,
    question: { readonly packet: Uint8Array; readonly poolName: string; readonly atMs: number },
    isAnswered: boolean,
  ): void {
    this.#recent.delete(key);
    if (isAnswered) return;
    this.#recent.set(key, { ...question, packet: Uint8Array.from(question.packet) });
    const [oldest] = this.#recent.keys();
    if (this.#recent.size > MOST_RECENT && oldest !== undefined) this.#recent.delete(oldest);
  }

  /** Forgets clients that have sent nothing for a long time. Call it now and then. */
  forgetOld(): void {
    const oldMs = this.#settings.nowMs() - MOST_BACK_OFF_MS;
    for (const [key, { lastAtMs }] of this.#asking) if (lastAtMs < oldMs) this.#asking.delete(key);
    for (const key of this.#leftToOthers) if (!this.#isRetransmitting(key)) this.#leftToOthers.delete(key);
    for (const [key, atMs] of this.#answeredAtMs) if (atMs < oldMs) this.#answeredAtMs.delete(key);
  }

  /** Notes a message. True if the client has sent the same before, and has waited since. */
  #noteWaiting(key: string, { xid, secs }: { readonly xid: number; readonly secs: number }, nowMs: number): boolean {
    const before = this.#asking.get(key);
    const isSame =
      before !== undefined &&
      nowMs - before.lastAtMs <= MOST_BACK_OFF_MS &&
      (before.xid === xid || isGrowing(before, secs, nowMs));
    const firstAtMs = isSame ? before.firstAtMs : nowMs;
    const hasWaited = isSame && nowMs - before.lastAtMs >= LEAST_BACK_OFF_MS;
    const retransmittedAtMs = hasWaited ? nowMs : isSame ? before.retransmittedAtMs : Number.NEGATIVE_INFINITY;
    this.#asking.set(key, { xid, secs, firstAtMs, lastAtMs: nowMs, retransmittedAtMs });
    this.#leftToOthers.delete(key);
    if (!this.#isRetransmitting(key)) return false;
    const isLong = nowMs - firstAtMs >= this.#settings.leastWaitMs();
    if (!isLong) this.#leftToOthers.add(key);
    return isLong;
  }

  #isRetransmitting(key: string): boolean {
    const { retransmittedAtMs = Number.NEGATIVE_INFINITY } = this.#asking.get(key) ?? {};
    return this.#settings.nowMs() - retransmittedAtMs < UNANSWERED_MS;
  }
}

function keyOf(poolName: string, macAddress: string): string {
  return `${poolName} ${macAddress}`;
}

/** A new transaction whose seconds go on from the last one: the client is still at the same attempt (RFC 2131 §4.4.1). */
function isGrowing(before: Asking, secs: number, nowMs: number): boolean {
  const passedSeconds = (nowMs - before.lastAtMs) / 1000;
  return secs > before.secs && secs - before.secs <= passedSeconds + 2;
}

/**
 * Offers and acknowledgements depend only on the pool and its records. A NAK makes a client stop using an address, so it must not be based on old
 * data. Replies to relays need the server address, which only the leader has.
 */
function isFromObjectsAlone({ decision, client }: Extract<Answer, { readonly kind: 'reply' }>): boolean {
  return (decision.kind === 'offer' || decision.kind === 'ack') && client.relayAddress === undefined;
}
