/** The messages and answers of an agent's clients, as data for people and programs. */
import type { Standing } from './client-slots.js';

/** Counts by name: `DISCOVER`, `OFFER`, or a reason. Names without a count are left out. */
export type Counts = Readonly<Record<string, number>>;

/** A packet of a client and its outcome. */
export interface PacketView {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** `DISCOVER`, `REQUEST`, `DECLINE`, `RELEASE`, `INFORM`; `UNREADABLE` for a packet whose type of message cannot be read. */
  readonly received: string;
  /** The source address; for a relayed packet, the address of the relay. */
  readonly from: string;
  /** `OFFER 192.168.48.10`, `ACK 192.168.48.10`, `NAK`; null if it got no answer. */
  readonly answer: string | null;
  /** Why it got no answer, or a NAK; null if there is no reason. */
  readonly reason: string | null;
}

/** The traffic of one place. */
export interface PlaceView {
  /** `namespace/name`; empty if no pool was served on the interface. */
  readonly pool: string;
  readonly interface: string;
  readonly messages: Counts;
  readonly answers: Counts;
  /** By reason. */
  readonly unanswered: Counts;
  /** Milliseconds since 1970. */
  readonly lastAtMs: number;
}

/** What one client sent and got, for people and programs. */
export interface ClientView extends PlaceView {
  readonly mac: string;
  /** Whether an object declares the client, or it is an unknown client that had a lease when it sent something, or neither. */
  readonly standing: Standing;
  /** At most 8, the oldest first. */
  readonly last: readonly PacketView[];
}

/** Clients that were evicted, by their standing. A client that comes again is counted again. */
export type ReplacedClients = Readonly<Record<Standing, number>>;
