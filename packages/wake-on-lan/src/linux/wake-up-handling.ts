/** What is done about a wake-up: a command, or a report to a manager. */

import type { Registry } from 'prom-client';
import type { PacketWakeUp } from '../report/packet-wake-up.js';

export interface WakeUpHandling {
  readonly start: () => Promise<void>;
  /** Begins to handle a wake-up, which ends by `accept` or `refuse` of the hearing. */
  readonly wake: (wakeUp: PacketWakeUp) => void;
  /** Wake-ups that ended. */
  readonly counts: () => { readonly accepted: number; readonly failed: number };
  /** Why wake-ups fail at the moment, one line each. */
  readonly unready: () => readonly string[];
  readonly registerMetrics: (registry: Registry) => void;
  /** Resolves when wake-ups in progress have ended, or after a few seconds. */
  readonly stop: () => Promise<void>;
}
