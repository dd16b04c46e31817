/** How an agent reaches its managers. `WolClient` is one, over gRPC. */
import type { WakeAnswer, WakeReport } from './wake-report.js';
import type { WolClientEvent } from './wol-client-event.js';

/** What became of a report. */
export type DeliveryOutcome =
  | { readonly kind: 'answered'; readonly answer: WakeAnswer }
  /** The manager refuses the report, and would refuse it again. */
  | { readonly kind: 'malformed'; readonly message: string }
  /** The manager that leads has too many wake-ups of this machine or sender: it is to be reported again, and others meanwhile. */
  | { readonly kind: 'later'; readonly message: string }
  /** No manager that leads took it: it is to be reported again. */
  | { readonly kind: 'unavailable'; readonly message: string };

export interface ManagerState {
  readonly kind: 'connected' | 'disconnected';
  /** host:port of the manager that was tried last. */
  readonly address: string;
  /** Why it is disconnected; empty where it is connected. */
  readonly why: string;
  /** When that began, in milliseconds of a clock that only goes forward. */
  readonly sinceMs: number;
}

export interface ManagerClient {
  readonly state: ManagerState;
  /** Begins to connect; resolves before a manager answers. */
  start(): Promise<void>;
  /** Reports to the manager that leads; never rejects. */
  report(report: WakeReport): Promise<DeliveryOutcome>;
  stop(): void;
}

/** What a client calls. */
export interface ManagerListeners {
  readonly observe: (event: WolClientEvent) => void;
  /** A manager that leads answers: what waits can be reported. */
  readonly onReachable: () => void;
  /** All addresses that may be woken, after each change. */
  readonly onAddresses: (addresses: ReadonlySet<string>) => void;
}
