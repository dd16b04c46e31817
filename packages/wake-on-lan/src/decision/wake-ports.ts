/** Everything that the decision needs from its environment. */

import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import type { EventOf } from '@vmdhcp/ippool-api';
import type { Clock, EventRegarding, KubernetesObject } from '@vmdhcp/kube-runtime';
import type { WakeUpPolicy } from '../machine/plan-wake-up.js';
import type { PacketTarget } from '../machine/wakeable.js';
import type { WakeReport } from '../report/wake-report.js';
import type { WakeVerdict } from './wake-verdict.js';

/** Why a request did not succeed. */
export interface CallFailure {
  readonly ok: false;
  /** HTTP status; 0 without a response. */
  readonly status: number;
  readonly message: string;
  /** True if it may have happened, or may succeed later. */
  readonly canRetry: boolean;
}

/** Whether a call to KubeVirt succeeded. */
export type CallResult = { readonly ok: true } | CallFailure;

/** The current state of a machine, from the API server. */
export interface LiveMachine {
  readonly virtualMachine: KubernetesObject;
  /** Undefined if there is none. */
  readonly instance: KubernetesObject | undefined;
}

/** A machine as the API server has it now, or why it cannot be read. */
export type LiveRead =
  | { readonly ok: true /** Undefined if it is gone. */; readonly machine: LiveMachine | undefined }
  | CallFailure;

/** The decision about one report, for log and metrics. */
export interface DecidedReport {
  readonly report: WakeReport;
  readonly verdict: WakeVerdict;
  readonly processingTimeMs: number;
  /** From the packet, by the clock of its node, until now; 0 if that clock is ahead. */
  readonly sinceHeardMs: number;
}

/** Who is told of reports, starts and answers. */
export interface WakeObserver {
  /** This process is leader and has a report to decide. */
  readonly onReport: (report: WakeReport) => void;
  /** The start of the machine `namespace/name` is about to be requested. */
  readonly onStarting: (key: string) => void;
  readonly onAnswer: (decided: DecidedReport) => void;
  /** The outcome of a wake-up that waited until its machine was down. */
  readonly onWaitOver: (decided: DecidedReport) => void;
  /** A bug; the agent will report the wake-up again. */
  readonly onFault: (error: unknown) => void;
}

export interface WakePorts {
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly wallTimeMs: () => number;
  readonly isLeading: () => boolean;
  /** host:port of the leader, if it is known. */
  readonly leaderAddress: () => string | undefined;
  readonly index: {
    readonly synced: boolean;
    /** @param passwordSecret - `SECRET/KEY` of the password in the packet; undefined if none was checked. */
    readonly find: (macAddress: MacAddress, passwordSecret: string | undefined) => PacketTarget;
  };
  /** What the configurations of these names allow. */
  readonly policyOf: (configs: readonly string[]) => WakeUpPolicy;
  /** Reads from the API server, not from a cache. An error thrown by one of the three requests is a bug. */
  readonly readMachine: (key: string) => Promise<LiveRead>;
  /**
   * True if it is known that no interface of the machine has this MAC address any longer, by the rules by which DHCP finds them.
   */
  readonly hasLostAddress: (machine: LiveMachine, macAddress: MacAddress) => boolean;
  readonly start: (key: string) => Promise<CallResult>;
  readonly unpause: (key: string) => Promise<CallResult>;
  readonly record: (regarding: EventRegarding, event: EventOf<'VirtualMachine'>) => void;
  readonly observer: WakeObserver;
}
