/** Events in an agent of bare-metal hosts, as values, for log lines and metrics. None contains a credential. */

import type { HostAction } from '@vmdhcp/ippool-api/bare-metal';
import type { HostLease } from '../inventory/inventory-plan.js';
import type { HostEvent } from '../object/host-event.js';

/** What is written to the API server. `health`: the status of a host, after a poll. `operation`: the status of a HostOperation. */
export type HostWriteKind = 'create' | 'patch' | 'patch-status' | 'delete' | 'health' | 'operation';

export type HostAgentEvent =
  /** `name`: the name of the object. */
  | { readonly kind: 'written'; readonly write: HostWriteKind; readonly name: string }
  /** It will be planned again. `reason`: `conflict` and the like, or `failed` if the outcome is not known. */
  | {
      readonly kind: 'write-failed';
      readonly write: HostWriteKind;
      readonly name: string;
      readonly reason: string;
      readonly message: string;
      /** Milliseconds. */
      readonly retryAfterMs: number;
    }
  /** An Event was recorded about a host: its text is logged too. */
  | { readonly kind: 'event'; readonly event: HostEvent }
  /** `isOverdue`: there was no answer in time. */
  | {
      readonly kind: 'polled';
      readonly name: string;
      readonly isHealthy: boolean;
      readonly isOverdue: boolean;
      readonly durationMs: number;
    }
  /** The agent itself could not read the host; what is known about the host stays. */
  | { readonly kind: 'not-polled'; readonly name: string; readonly message: string }
  /** The hosts of this ClusterAgent, when they change. */
  | { readonly kind: 'hosts'; readonly healthy: number; readonly unhealthy: number }
  | {
      readonly kind: 'operation-began';
      readonly name: string;
      readonly hostStatus: string;
      readonly action: HostAction;
    }
  /** The management controller has answered. */
  | {
      readonly kind: 'operation-ended';
      readonly name: string;
      readonly hostStatus: string;
      readonly action: HostAction;
      readonly isSuccess: boolean;
      readonly message: string;
      readonly durationMs: number;
    }
  /** A lease with an unreadable address or MAC address; reported once. */
  | { readonly kind: 'lease-ignored'; readonly lease: HostLease }
  /** A list or watch failed, and will be tried again. */
  | { readonly kind: 'read-failed'; readonly plural: string; readonly error: unknown }
  /** A bug in the agent or a port. The agent continues. */
  | { readonly kind: 'unexpected-error'; readonly error: unknown };
