/** What happens in an agent of bare-metal hosts, as values: for log lines and metrics. None contains a credential. */

import type { HostAction } from '@vmdhcp/ippool-api/bare-metal';
import type { HostLease } from '../inventory/inventory-plan.js';
import type { HostEvent } from '../object/host-event.js';

/** What is written to an API server. `health`: of the status of a host, after a poll. `operation`: of the status of a HostOperation. */
export type HostWriteKind = 'create' | 'patch' | 'patch-status' | 'delete' | 'health' | 'operation';

export type HostAgentEvent =
  /** `name`: of the object. */
  | { readonly kind: 'written'; readonly write: HostWriteKind; readonly name: string }
  /** It is planned again. `reason`: `conflict` and the like, or `failed` where it is not known whether it happened. */
  | {
      readonly kind: 'write-failed';
      readonly write: HostWriteKind;
      readonly name: string;
      readonly reason: string;
      readonly message: string;
      /** Milliseconds. */
      readonly retryAfterMs: number;
    }
  /** An Event was recorded about a host: what people read in the log too. */
  | { readonly kind: 'event'; readonly event: HostEvent }
  /** `isOverdue`: no answer within the time for one. */
  | {
      readonly kind: 'polled';
      readonly name: string;
      readonly isHealthy: boolean;
      readonly isOverdue: boolean;
      readonly durationMs: number;
    }
  /** The agent itself could not read the host; what is known of the host stays. */
  | { readonly kind: 'not-polled'; readonly name: string; readonly message: string }
  /** Hosts of this ClusterAgent; when that changes. */
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
  /** A lease whose address or MAC address cannot be read; once. */
  | { readonly kind: 'lease-ignored'; readonly lease: HostLease }
  /** A list or watch failed, and is tried again. */
  | { readonly kind: 'read-failed'; readonly plural: string; readonly error: unknown }
  /** A bug here, or in a port. The agent goes on. */
  | { readonly kind: 'unexpected-error'; readonly error: unknown };
