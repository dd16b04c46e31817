import type { ClientMessageType } from '@vmdhcp/dhcp-allocator';
import type { MessageReason, PacketDropReason } from './agent-packet-reasons.js';

/** What a message of a client led to. */
export type MessageOutcome = 'offer' | 'ack' | 'nak' | 'inform' | 'ignored' | 'released' | 'declined';

/** Counts of what became of messages: cheap enough for every packet, read only on request. */
export class MessageCounters {
  readonly #messages = new Map<string, Map<string, Map<string, number>>>();
  readonly #dropped = new Map<string, number>();
  #omittedOptions = 0;

  /** @param reason - the word for why; empty for an outcome that needs none. */
  count(type: ClientMessageType, outcome: MessageOutcome, reason: MessageReason | ''): void {
    const reasons = inner(inner(this.#messages, type), outcome);
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }

  /** A packet that is no message for this server. */
  drop(reason: PacketDropReason, count = 1): void {
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + count);
  }

  /** Options that a reply had no room for. */
  omitOptions(count: number): void {
    this.#omittedOptions += count;
  }

  get omittedOptions(): number {
    return this.#omittedOptions;
  }

  *messages(): Generator<{ readonly type: string; readonly outcome: string; readonly reason: string; readonly count: number }> {
    for (const [type, outcomes] of this.#messages) {
      for (const [outcome, reasons] of outcomes) {
        for (const [reason, count] of reasons) yield { type, outcome, reason, count };
      }
    }
  }

  dropped(): ReadonlyMap<string, number> {
    return this.#dropped;
  }
}

/** The map behind a key, made where there is none. */
function inner<Value>(maps: Map<string, Map<string, Value>>, key: string): Map<string, Value> {
  const known = maps.get(key);
  if (known !== undefined) return known;
  const made = new Map<string, Value>();
  maps.set(key, made);
  return made;
}
