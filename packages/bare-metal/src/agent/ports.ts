/** What the agent of bare-metal hosts needs of the world, on one screen. It calls these and nothing else. */

import type { HostAction } from '@vmdhcp/ippool-api/bare-metal';
import type { Clock, EventRegarding, EventText, KubernetesObject, ObjectClient, SharedCaches } from '@vmdhcp/kube-runtime';
import type { BoundAddresses } from '../binding/bound-addresses.js';
import type { SecretData } from '../check/host-secret.js';
import type { HealthReport } from '../health/health-report.js';
import type { HostConnection } from '../host/cluster-agent-settings.js';
import type { HostLease } from '../inventory/inventory-plan.js';
import type { OperationOutcome } from '../operation/operation-attempts.js';
import type { HostAgentEvent } from './host-agent-event.js';

export interface HostAgentPorts {
  readonly clusterAgentName: string;
  /**
   * A text of at most 253 characters that no other `HostAgent` object has, also none of the same process: one that leads again begins with a new object and a new text. An operation
   * that another run began is never carried out.
   */
  readonly runId: string;
  /** Monotonic time and timers. */
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly wallTimeMs: () => number;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** ClusterAgents, HostEndpoints, HostStatus objects, HostOperations; and Secrets, each by its name in its namespace. */
  readonly caches: SharedCaches;
  /** False: another process may lead. By the time, and not by timers: a process that was frozen leads no more before the first of its timers runs. Asked before each action. */
  readonly isLeading: () => boolean;
  /** Behind a fence: it refuses where this process does not lead. */
  readonly hostStatuses: Pick<ObjectClient<KubernetesObject>, 'create' | 'patch' | 'patchStatus' | 'delete'>;
  /** The same. */
  readonly hostOperations: Pick<ObjectClient<KubernetesObject>, 'patchStatus'>;
  /** An `EventRecorder`. */
  readonly events: HostEventRecorder;
  /** The leases of the DHCP server, all of them. Undefined: it has not loaded them yet, so that none counts as ended. */
  readonly leases: () => readonly HostLease[] | undefined;
  /** True: the lease of this address has ended, and its client never renewed it. Default: of no address. */
  readonly mayBeMadeUp?: (address: string) => boolean;
  /** Called with the first ones, and whenever they differ. */
  readonly onBindings: (bound: BoundAddresses) => void;
  readonly managementControllers: ManagementControllers;
  readonly observer: HostObserver;
  /** From one poll of a host to the next; in milliseconds. Default: 60,000. */
  readonly pollIntervalMs?: number;
}

/** Receives what happened, once, in order: for the log and for metrics. Must not throw. */
export interface HostObserver {
  readonly observe: (event: HostAgentEvent) => void;
}

export interface HostEventRecorder {
  /** Now or never. */
  readonly record: (regarding: EventRegarding, text: EventText) => void;
  /** True once an Event of this identity is stored, by this call or by an earlier one; false: not stored, so try again later. Never rejects. */
  readonly recordOnce: (regarding: EventRegarding, text: EventText, identity: string) => Promise<boolean>;
}

/** A host, and how its management controller is reached. */
export interface HostTarget {
  /** Of its HostStatus. */
  readonly name: string;
  readonly address: string;
  readonly connection: HostConnection;
  /** `data` of its Secret, in base64: it has one of the pairs of keys that `secretContent` names. Undefined: the host needs none. Never to be logged. */
  readonly secret: SecretData | undefined;
}

/** What a poll found, or why the agent itself could not make it; `message` without credentials. */
export type PollReport = HealthReport | { readonly kind: 'not-read'; readonly message: string };

/** Management controllers of hosts, over Redfish. Calls for many hosts are made at the same time. */
export interface ManagementControllers {
  /** `not-read`: the agent could not read the host, which tells nothing about the host. Never rejects. @param signal - aborted when the answer counts no more: the call then ends soon. */
  readonly read: (target: HostTarget, signal: AbortSignal) => Promise<PollReport>;
  /**
   * Carries out an action, at most once: where it is not known whether the host took it, it is not sent again. `PxeReboot`: the next boot is from the network, then
   * `ForceRestart`. Never rejects.
   */
  readonly operate: (target: HostTarget, action: HostAction, signal: AbortSignal) => Promise<OperationOutcome>;
}
