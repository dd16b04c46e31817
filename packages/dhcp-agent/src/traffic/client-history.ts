/** Stores the counts and the last packets of clients in the words of their slots: 256 octets for each client, whatever it sends. */
import { formatIpv4Address, type Ipv4Address } from '@vmdhcp/dhcp-allocator';
import { type ClientSlots, SLOT_WORDS } from './client-slots.js';
import type { Counts, PacketView } from './traffic-view.js';

/** Types of messages, by number. */
export const RECEIVED = ['DISCOVER', 'REQUEST', 'DECLINE', 'RELEASE', 'INFORM', 'UNREADABLE'] as const;
/** Answers, by number; 0 for none. */
export const ANSWERED = ['', 'OFFER', 'ACK', 'NAK'] as const;

/** The total number of packets of a client. */
const PACKETS = 0;
const MESSAGES = 1;
const ANSWERS = MESSAGES + RECEIVED.length;
/** The ring of the last packets. */
const LAST = 16;
const MOST_LAST = 8;
const PACKET_WORDS = 4;
/** A reason and how often it came, 8 and 24 bits. */
const REASONS = LAST + MOST_LAST * PACKET_WORDS;
const MOST_REASONS = SLOT_WORDS - REASONS;
const MOST_COUNTED = 0xffffff;

/** A packet to note. One object is reused, because nothing is allocated on the packet path. */
export interface PacketToNote {
  /** An index of `RECEIVED`. */
  received: number;
  /** An index of `ANSWERED`. */
  answered: number;
  /** 0 for none; at most 255. */
  reason: number;
  from: Ipv4Address;
  /** The address in the answer. */
  address: Ipv4Address;
  /** True if the message was counted before, and this is its later outcome. */
  isLater: boolean;
}

export class ClientHistory {
  readonly #slots: ClientSlots;
  #atMs = 0;
  /** The time in parts of 32 and 16 bits. */
  #timeLow = 0;
  #timeHigh = 0;

  constructor(slots: ClientSlots) {
    this.#slots = slots;
  }

  /** Sets the time of the following packets. */
  setTime(nowMs: number): void {
    this.#atMs = nowMs;
    this.#timeLow = nowMs | 0;
    this.#timeHigh = Math.floor(nowMs / 0x1_0000_0000) & 0xffff;
  }

  note(slot: number, packet: PacketToNote): void {
    const { words } = this.#slots;
    const at = SLOT_WORDS * slot;
    const { received, answered, reason } = packet;
    if (!packet.isLater) words[at + MESSAGES + received] = ((words[at + MESSAGES + received] as number) + 1) | 0;
    if (answered > 0) words[at + ANSWERS + answered] = ((words[at + ANSWERS + answered] as number) + 1) | 0;
    else if (reason > 0) this.#countReason(at + REASONS, reason);
    const packets = words[at + PACKETS] as number;
    words[at + PACKETS] = (packets + 1) | 0;
    const entry = at + LAST + PACKET_WORDS * (packets & (MOST_LAST - 1));
    words[entry] = this.#timeLow;
    words[entry + 1] = received | (answered << 4) | (reason << 8) | (this.#timeHigh << 16);
    words[entry + 2] = packet.from;
    words[entry + 3] = packet.address;
    this.#slots.lastAtMs[slot] = this.#atMs;
  }

  messages(slot: number): Counts {
    return this.#counts(slot, MESSAGES, RECEIVED);
  }

  answers(slot: number): Counts {
    return this.#counts(slot, ANSWERS, ANSWERED);
  }

  /** @param reasons - their names, by number. */
  unanswered(slot: number, reasons: readonly string[]): Counts {
    const start = SLOT_WORDS * slot + REASONS;
    const words = [...this.#slots.words.subarray(start, start + MOST_REASONS)].filter((word) => word !== 0);
    return Object.fromEntries(words.map((word) => [reasons[word & 0xff] ?? '', word >>> 8]));
  }

  /** The oldest first. */
  last(slot: number, reasons: readonly string[]): PacketView[] {
    const packets = (this.#slots.words[SLOT_WORDS * slot + PACKETS] as number) >>> 0;
    const count = Math.min(packets, MOST_LAST);
    return Array.from({ length: count }, (_, index) =>
      this.#packetView(SLOT_WORDS * slot + LAST + PACKET_WORDS * ((packets - count + index) & (MOST_LAST - 1)), reasons),
    );
  }

  #packetView(at: number, reasons: readonly string[]): PacketView {
    const [low, what, from, address] = [...this.#slots.words.subarray(at, at + PACKET_WORDS)] as [number, number, number, number];
    const answered = ANSWERED[(what >>> 4) & 0xf] ?? '';
    const reason = reasons[(what >>> 8) & 0xff] ?? '';
    return {
      atMs: (what >>> 16) * 0x1_0000_0000 + (low >>> 0),
      received: RECEIVED[what & 0xf] ?? '',
      from: formatIpv4Address(from >>> 0),
      answer: answered === '' ? null : answered === 'NAK' ? answered : `${answered} ${formatIpv4Address(address >>> 0)}`,
      reason: reason === '' ? null : reason,
    };
  }

  /** A client has few different reasons; if it has more, the rest is not counted, but still appears in its last packets. */
  #countReason(start: number, reason: number): void {
    const { words } = this.#slots;
    for (let at = start; at < start + MOST_REASONS; at++) {
      const word = words[at] as number;
      if (word !== 0 && (word & 0xff) !== reason) continue;
      const count = Math.min((word >>> 8) + 1, MOST_COUNTED);
      words[at] = (count << 8) | reason;
      return;
    }
  }

  #counts(slot: number, offset: number, names: readonly string[]): Counts {
    const at = SLOT_WORDS * slot + offset;
    const counts = names.map((name, index) => [name, (this.#slots.words[at + index] as number) >>> 0] as const);
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  }
}
