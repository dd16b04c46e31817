/** What an agent reports, and what it is answered. On the wire: `wol.v1.WOLService` of `@vmdhcp/wol-service`. */

export interface WakeReport {
  /** In any spelling. */
  readonly macAddress: string;
  readonly nodeName: string;
  /** IPv4, IPv6 or MAC address. */
  readonly sender: string;
  readonly senderPort: number;
  readonly packetSize: number;
  /** Milliseconds since 1970, by the clock of the node. */
  readonly heardAtMs: number;
  /** Milliseconds from the packet to this report, by a clock that does not jump; undefined: the agent does not report it. */
  readonly ageMs?: number;
}

export type WakeStatus =
  | 'unknown'
  | 'accepted'
  | 'duplicate'
  | 'vm-not-found'
  | 'vm-start-initiated'
  | 'vm-already-running'
  | 'error';

/** The machine of a wake-up. */
export interface WokenMachine {
  readonly namespace: string;
  readonly name: string;
  /** `status.printableStatus`, as it was before anything was done; empty where it is not known. */
  readonly currentState: string;
}

export interface WakeAnswer {
  readonly status: WakeStatus;
  readonly message: string;
  readonly machine?: WokenMachine;
  readonly wasDuplicate: boolean;
  readonly processingTimeMs: number;
}

export type ReportOutcome =
  | { readonly kind: 'answered'; readonly answer: WakeAnswer }
  /** `leader`: host:port of the leader, where it is known. */
  | { readonly kind: 'not-leading'; readonly leader: string | undefined }
  /** A limit is reached: the agent reports it again, and others meanwhile. */
  | { readonly kind: 'later'; readonly message: string }
  /** Nothing was decided: the agent reports it again. */
  | { readonly kind: 'unavailable'; readonly message: string };
