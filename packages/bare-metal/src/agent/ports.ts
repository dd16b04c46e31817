/** What the agent of bare-metal hosts needs from its environment. It calls only these. */

import type { HostAction } from '@vmdhcp/ippool-api/bare-metal';
import type { Clock, EventRegarding, EventText, KubernetesObject, ObjectClient, SharedCaches } from '@vmdhcp/kube-runtime';
import type { BoundAddresses } from '../binding/bound-addresses.js';
import type { SecretData } from '../check/host-secret.js';
import type { HealthReport } from '../health/health-report.js';
import type { HostConnection } from '../host/cluster-agent-settings.js';
import type { HostLease } from '../inventory/inventory-plan.js';
import type { OperationOutcome } from '../operation/operation-attempts.js';
import type { HostAgentEvent } from './host-agent-event.js';

/** Everything outside of the agent that it uses: caches, clients, clock, randomness. */
export interface HostAgentPorts {
  readonly clusterAgentName: string;
  /**
   * A text of at most 253 characters that is unique to this `HostAgent` object, also within one process: one that becomes leader
   * again creates a new object with a new text. An operation that another run began is never carried out.
   */
  readonly runId: string;
  /** Monotonic time and timers. */
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly wallTimeMs: () => number;
  /** 0 up to, but not including, 1. */
  readonly random: () => number;
  /** ClusterAgents, HostEndpoints, HostStatus objects, HostOperations; and Secrets, each by its name in its namespace. */
  readonly caches: SharedCaches;
  /**
   * False if another process may be leader. Computed from the time and not from timers: a process that was frozen is no longer
   * leader before the first of its timers runs. Called before each action.
   */
  readonly isLeading: () => boolean;
  /** Behind a fence: it refuses if this process is not leader. */
  readonly hostStatuses: Pick<ObjectClient<KubernetesObject>, 'create' | 'patch' | 'patchStatus' | 'delete'>;
  /** Behind the same fence. */
  readonly hostOperations: Pick<ObjectClient<KubernetesObject>, 'patchStatus'>;
  /** Implemented by `EventRecorder`. */
  readonly events: HostEventRecorder;
  /** All leases of the DHCP server. Undefined if it has not loaded them yet: then none counts as ended. */
  readonly leases: () => readonly HostLease[] | undefined;
  /** True if the lease of this address has ended and its client never renewed it. Default: false. */
  readonly mayBeMadeUp?: (address: string) => boolean;
  /** Called with the first bindings, and whenever they change. */
  readonly onBindings: (bound: BoundAddresses) => void;
  readonly managementControllers: ManagementControllers;
  readonly observer: HostObserver;
  /** The time between two polls of a host, in milliseconds. Default: 60,000. */
  readonly pollIntervalMs?: number;
}

/** Receives each event once, in order, for the log and for metrics. Must not throw. */
export interface HostObserver {
  readonly observe: (event: HostAgentEvent) => void;
}

/** Records Events about hosts. */
export interface HostEventRecorder {
  /** Writes the Event now or never. */
  readonly record: (regarding: EventRegarding, text: EventText) => void;
  /**
   * Returns true once an Event of this identity is stored, by this call or an earlier one; false if it is not stored: try again
   * later. Never rejects.
   */
  readonly recordOnce: (regarding: EventRegarding, text: EventText, identity: string) => Promise<boolean>;
}

/** A host, and how to reach its management controller. */
export interface HostTarget {
  /** The name of its HostStatus. */
  readonly name: string;
  readonly address: string;
  readonly connection: HostConnection;
  /**
   * `data` of its Secret, in base64, with one of the pairs of keys in `secretContent`. Undefined if the host needs none. Never
   * log it.
   */
  readonly secret: SecretData | undefined;
}

/** The result of a poll, or why the agent itself could not poll; `message` is without credentials. */
export type PollReport = HealthReport | { readonly kind: 'not-read'; readonly message: string };

/** Management controllers of hosts, over Redfish. Calls for many hosts run at the same time. */
export interface ManagementControllers {
  /**
   * `not-read`: the agent could not read the host, which says nothing about the host. Never rejects. @param signal - aborted when
   * the answer is no longer needed: the call then ends soon.
   */
  readonly read: (target: HostTarget, signal: AbortSignal) => Promise<PollReport>;
  /**
   * Carries out an action at most once: if it is not known whether the host accepted it, it is not sent again. `PxeReboot`: the
   * next boot is from the network, then `ForceRestart`. Never rejects.
   */
  readonly operate: (target: HostTarget, action: HostAction, signal: AbortSignal) => Promise<OperationOutcome>;
}
