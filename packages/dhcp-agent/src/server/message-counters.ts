import type { ClientMessageType } from '@vmdhcp/dhcp-allocator';
import type { Dhcpv6Event, DroppedDhcpv6Reason } from '@vmdhcp/dhcp-allocator/dhcpv6';
import type { AgentDropReason, MessageReason, PacketDropReason } from './agent-packet-reasons.js';

/** The outcome of a client's message. */
export type MessageOutcome = 'offer' | 'ack' | 'nak' | 'inform' | 'ignored' | 'released' | 'declined';

/** What a packet of DHCPv6 meant for an address. */
export type Dhcpv6Outcome = Dhcpv6Event | 'answered' | 'none';
/** Why a packet of DHCPv6 got no reply. */
export type Dhcpv6NoReplyReason = DroppedDhcpv6Reason | AgentDropReason | 'standing-by';

/** A message type with an outcome, for `increment`. */
export type CounterId = number;

interface MessageCounter {
  readonly type: ClientMessageType;
  readonly outcome: MessageOutcome;
  readonly reason: MessageReason | '';
}

/** Counts messages by outcome: cheap enough for every packet, read only on request. */
export class MessageCounters {
  readonly #ids = new Map<string, Map<string, Map<string, CounterId>>>();
  readonly #counters: MessageCounter[] = [];
  readonly #counts: number[] = [];
  readonly #dropped = new Map<string, number>();
  /** By outcome and reason. */
  readonly #dhcpv6 = new Map<string, number>();
  #omittedOptions = 0;

  /** @param reason - the word for why; empty for an outcome that needs none. */
  count(type: ClientMessageType, outcome: MessageOutcome, reason: MessageReason | ''): void {
    this.increment(this.idOf(type, outcome, reason));
  }

  /** Returns the key for `increment`. Keep it if there are many messages of one kind. */
  idOf(type: ClientMessageType, outcome: MessageOutcome, reason: MessageReason | ''): CounterId {
    const reasons = inner(inner(this.#ids, type), outcome);
    const known = reasons.get(reason);
    if (known !== undefined) return known;
    const id = this.#counters.push({ type, outcome, reason }) - 1;
    this.#counts.push(0);
    reasons.set(reason, id);
    return id;
  }

  increment(id: CounterId): void {
    this.#counts[id] = (this.#counts[id] as number) + 1;
  }

  /** Counts a packet that is not a message for this server. */
  drop(reason: PacketDropReason, count = 1): void {
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + count);
  }

  /** Counts a packet of DHCPv6. @param outcome - `none` for no reply. @param reason - why there is none; empty if there is one. */
  countDhcpv6(outcome: Dhcpv6Outcome, reason: Dhcpv6NoReplyReason | '', count = 1): void {
    const key = `${outcome} ${reason}`;
    this.#dhcpv6.set(key, (this.#dhcpv6.get(key) ?? 0) + count);
  }

  /** The counts of all kinds with a packet. */
  *dhcpv6(): Generator<{ readonly outcome: string; readonly reason: string; readonly count: number }> {
    for (const [key, count] of this.#dhcpv6) {
      const [outcome = '', reason = ''] = key.split(' ');
      yield { outcome, reason, count };
    }
  }

  /** Options that a reply had no room for. */
  omitOptions(count: number): void {
    this.#omittedOptions += count;
  }

  get omittedOptions(): number {
    return this.#omittedOptions;
  }

  /** The counts of all kinds with a message, in the order in which they were first counted or requested. */
  *messages(): Generator<{ readonly type: string; readonly outcome: string; readonly reason: string; readonly count: number }> {
    for (const [id, counter] of this.#counters.entries()) {
      const count = this.#counts[id] as number;
      if (count > 0) yield { ...counter, count };
    }
  }

  dropped(): ReadonlyMap<string, number> {
    return this.#dropped;
  }
}

/** The map for a key, created if needed. */
function inner<Value>(maps: Map<string, Map<string, Value>>, key: string): Map<string, Value> {
  const known = maps.get(key);
  if (known !== undefined) return known;
  const made = new Map<string, Value>();
  maps.set(key, made);
  return made;
}
