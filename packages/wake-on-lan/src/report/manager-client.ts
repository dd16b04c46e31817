/** The connection of an agent to its managers. `WolClient` implements it over gRPC. */
import type { WakeAnswer, WakeReport } from './wake-report.js';
import type { WolClientEvent } from './wol-client-event.js';

/** The outcome of a report. */
export type DeliveryOutcome =
  | { readonly kind: 'answered'; readonly answer: WakeAnswer }
  /** The manager refuses the report, and would refuse it again. */
  | { readonly kind: 'malformed'; readonly message: string }
  /** The leading manager has too many wake-ups of this machine or sender: report it again later, and report others meanwhile. */
  | { readonly kind: 'later'; readonly message: string }
  /** No manager that is leader accepted it: report it again. */
  | { readonly kind: 'unavailable'; readonly message: string };

/** Whether the manager can be reached, and since when. */
export interface ManagerState {
  readonly kind: 'connected' | 'disconnected';
  /** host:port of the manager that was tried last. */
  readonly address: string;
  /** Why it is disconnected; empty if it is connected. */
  readonly why: string;
  /** Since when, in milliseconds of a monotonic clock. */
  readonly sinceMs: number;
}

export interface ManagerClient {
  readonly state: ManagerState;
  /** Starts to connect; resolves before a manager responds. */
  start(): Promise<void>;
  /** Reports to the manager that is leader; never rejects. */
  report(report: WakeReport): Promise<DeliveryOutcome>;
  stop(): void;
}

/** The callbacks of a client. */
export interface ManagerListeners {
  readonly observe: (event: WolClientEvent) => void;
  /** A manager that is leader answers: waiting wake-ups can be reported. */
  readonly onReachable: () => void;
  /** All wakeable addresses, after each change. */
  readonly onAddresses: (addresses: ReadonlySet<string>) => void;
}
