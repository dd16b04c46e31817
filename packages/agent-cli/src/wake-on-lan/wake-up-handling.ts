/** What is done about a wake-up: a command, or a report to a manager. */
import type { HeardWakeUp, ListeningPlace, PacketHearing, PacketSender } from '@vmdhcp/wake-on-lan';
import type { Registry } from 'prom-client';

/** The first packet of a wake-up. */
export interface PacketFacts {
  readonly place: ListeningPlace;
  readonly sender: PacketSender;
  /** In octets. */
  readonly packetSize: number;
  /** Milliseconds since 1970. */
  readonly heardAtMs: number;
}

export type PacketWakeUp = HeardWakeUp<PacketFacts>;

/** What of the hearing is its handling's: to end each wake-up, and to name the machines that count. */
export type WakeUpEnds = Pick<PacketHearing, 'accept' | 'refuse' | 'forgetAccepted' | 'hearOnly' | 'size'>;

export interface WakeUpHandling {
  readonly start: () => Promise<void>;
  /** Begins to handle a wake-up, which ends by `accept` or `refuse` of the hearing. */
  readonly wake: (wakeUp: PacketWakeUp) => void;
  /** Wake-ups that ended. */
  readonly counts: () => { readonly accepted: number; readonly failed: number };
  /** Why wake-ups do not end well now, a line each. */
  readonly unready: () => readonly string[];
  readonly registerMetrics: (registry: Registry) => void;
  /** Resolves when what is under way has ended, or after a few seconds. */
  readonly stop: () => Promise<void>;
}
