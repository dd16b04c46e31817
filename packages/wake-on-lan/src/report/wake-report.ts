/** What an agent reports, and what its manager answers. */

/** A magic packet that an agent received. */
export interface WakeReport {
  /** Of the machine to wake; lower case with colons. */
  readonly macAddress: string;
  /** Of the node whose agent received it. */
  readonly nodeName: string;
  /** IPv4, IPv6 or MAC address. */
  readonly sender: string;
  /** 0: a frame without UDP. */
  readonly senderPort: number;
  /** In octets. */
  readonly packetSize: number;
  /** Milliseconds since 1970, by the clock of the node. */
  readonly heardAtMs: number;
  /** Milliseconds from the packet to this report, by a clock that does not jump; undefined: the agent does not report it. */
  readonly ageMs?: number;
  /** `SECRET/KEY` of the password that the packet had; absent: the agent checks none, or does not report it. */
  readonly passwordSecret?: string;
}

/** What became of a wake-up. On the wire: UNKNOWN 0 to ERROR 6, in this order. */
export const WAKE_STATUSES = [
  'unknown',
  'accepted',
  'duplicate',
  'vm-not-found',
  'vm-start-initiated',
  'vm-already-running',
  'error',
] as const;

export type WakeStatus = (typeof WAKE_STATUSES)[number];

/** The machine of a wake-up. */
export interface WokenMachine {
  readonly namespace: string;
  readonly name: string;
  /** `status.printableStatus`, as it was before anything was done; empty where it is not known. */
  readonly currentState: string;
}

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
  /** `leader`: host:port, where it is known. */
  | { readonly kind: 'not-leading'; readonly leader: string | undefined }
  /** Too many wake-ups of this machine or sender: the agent tries again, and reports others meanwhile. */
  | { readonly kind: 'later'; readonly message: string }
  /** The agent tries again: the leader has not synced yet, or the API server is down. */
  | { readonly kind: 'unavailable'; readonly message: string };
