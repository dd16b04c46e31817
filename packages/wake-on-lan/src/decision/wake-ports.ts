/** Everything that the decision needs of the world, on one screen. */

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
  /** HTTP; 0: no answer. */
  readonly status: number;
  readonly message: string;
  /** True: it may have happened, or may succeed later. */
  readonly canRetry: boolean;
}

export type CallResult = { readonly ok: true } | CallFailure;

/** A machine as the API server has it now. */
export interface LiveMachine {
  readonly virtualMachine: KubernetesObject;
  /** Undefined: there is none. */
  readonly instance: KubernetesObject | undefined;
}

export type LiveRead =
  | { readonly ok: true /** Undefined: it is gone. */; readonly machine: LiveMachine | undefined }
  | CallFailure;

/** What was decided about one report, for log and metrics. */
export interface DecidedReport {
  readonly report: WakeReport;
  readonly verdict: WakeVerdict;
  readonly processingTimeMs: number;
  /** From the packet, by the clock of its node, until now; 0 where that clock is ahead. */
  readonly sinceHeardMs: number;
}

export interface WakeObserver {
  /** This process is leader and has a report to decide. */
  readonly onReport: (report: WakeReport) => void;
  /** The start of the machine `namespace/name` is about to be requested. */
  readonly onStarting: (key: string) => void;
  readonly onAnswer: (decided: DecidedReport) => void;
  /** What became of a wake-up that waited until its machine was down. */
  readonly onWaitOver: (decided: DecidedReport) => void;
  /** A bug; the agent reports the wake-up again. */
  readonly onFault: (error: unknown) => void;
}

export interface WakePorts {
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly wallTimeMs: () => number;
  readonly isLeading: () => boolean;
  /** host:port of the leader, where it is known. */
  readonly leaderAddress: () => string | undefined;
  readonly index: {
    readonly synced: boolean;
    /** @param passwordSecret - `SECRET/KEY` of the password that the packet had; undefined: none was checked. */
    readonly find: (macAddress: MacAddress, passwordSecret: string | undefined) => PacketTarget;
  };
  /** What the configurations of these names allow. */
  readonly policyOf: (configs: readonly string[]) => WakeUpPolicy;
  /** Of the API server, not of a cache. What one of the three requests throws is a bug. */
  readonly readMachine: (key: string) => Promise<LiveRead>;
  /** True if it is known that no interface of the machine has this MAC address any more, by the rules by which DHCP finds them. */
  readonly hasLostAddress: (machine: LiveMachine, macAddress: MacAddress) => boolean;
  readonly start: (key: string) => Promise<CallResult>;
  readonly unpause: (key: string) => Promise<CallResult>;
  readonly record: (regarding: EventRegarding, event: EventOf<'VirtualMachine'>) => void;
  readonly observer: WakeObserver;
}
