/** The report of an agent, and the answer of its manager. */

/** A magic packet that an agent received. */
export interface WakeReport {
  /** The MAC address of the machine to wake; lower case with colons. */
  readonly macAddress: string;
  /** The node whose agent received it. */
  readonly nodeName: string;
  /** IPv4, IPv6 or MAC address. */
  readonly sender: string;
  /** 0 for a frame without UDP. */
  readonly senderPort: number;
  /** In octets. */
  readonly packetSize: number;
  /** Milliseconds since 1970, by the clock of the node. */
  readonly heardAtMs: number;
  /** Milliseconds from the packet to this report, by a monotonic clock; undefined if the agent does not report it. */
  readonly ageMs?: number;
  /** `SECRET/KEY` of the password in the packet; absent if the agent checks none, or does not report it. */
  readonly passwordSecret?: string;
}

/** The outcome of a wake-up. On the wire: UNKNOWN 0 to ERROR 6, in this order. */
export const WAKE_STATUSES = [
  'unknown',
  'accepted',
  'duplicate',
  'vm-not-found',
  'vm-start-initiated',
  'vm-already-running',
  'error',
] as const;

/** How a wake-up ended. */
export type WakeStatus = (typeof WAKE_STATUSES)[number];

/** The machine of a wake-up. */
export interface WokenMachine {
  readonly namespace: string;
  readonly name: string;
  /** `status.printableStatus` before anything was done; empty if not known. */
  readonly currentState: string;
}

/** What the manager did about a wake-up. */
export interface WakeAnswer {
  readonly status: WakeStatus;
  /** For people. */
  readonly message: string;
  readonly machine?: WokenMachine;
  /** The same wake-up was accepted before. */
  readonly wasDuplicate: boolean;
  readonly processingTimeMs: number;
}

/** What a manager does about a report. */
export type ReportOutcome =
  | { readonly kind: 'answered'; readonly answer: WakeAnswer }
  /** `leader`: host:port, if known. */
  | { readonly kind: 'not-leading'; readonly leader: string | undefined }
  /** Too many wake-ups of this machine or sender: the agent tries again, and reports others meanwhile. */
  | { readonly kind: 'later'; readonly message: string }
  /** The agent tries again: the leader has not synced yet, or the API server is down. */
  | { readonly kind: 'unavailable'; readonly message: string };
