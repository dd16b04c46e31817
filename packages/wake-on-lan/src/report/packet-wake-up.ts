import type { PacketHearing } from '../listen/hear-packet.js';
import type { ListeningPlace, MagicPacketSender } from '../listen/listening-ports.js';
import type { HeardWakeUp } from './report-queue.js';

/** The first packet of a wake-up. */
export interface PacketFacts {
  readonly place: ListeningPlace;
  readonly sender: MagicPacketSender;
  /** In octets. */
  readonly packetSize: number;
  /** Milliseconds since 1970. */
  readonly heardAtMs: number;
}

/** A wake-up that packets asked for, with what they had in common. */
export type PacketWakeUp = HeardWakeUp<PacketFacts>;

/** The part of the hearing that the handling uses: it ends each wake-up, and sets the machines to listen for. */
export type WakeUpEnds = Pick<PacketHearing, 'accept' | 'refuse' | 'forgetAccepted' | 'hearOnly' | 'size'>;
