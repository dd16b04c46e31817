import type { HostAction } from '@vmdhcp/ippool-api/bare-metal';
import type { KubernetesObject, MergePatch } from '@vmdhcp/kube-runtime';
import type { ObservedHost } from '../host/read-host.js';
import type { HostEvent } from '../object/host-event.js';
import type { OperationAttempts } from './operation-attempts.js';

/** How long an operation may take; in milliseconds. */
export interface OperationTimes {
  /** From its creation until its action begins. After that, the person may have forgotten it. */
  readonly beginWithinMs: number;
  /** From the beginning of its action until the management controller has answered. */
  readonly answerWithinMs: number;
}

/** How long an operation may wait for its host, and for an answer. */
export const OPERATION_TIMES: OperationTimes = { beginWithinMs: 600_000, answerWithinMs: 60_000 };

/** The input of the plan for the operations of one ClusterAgent. */
export interface OperationFacts {
  readonly clusterAgent: string;
  /** All HostOperations. */
  readonly operations: readonly KubernetesObject[];
  /** All HostStatus objects. */
  readonly hostStatuses: readonly KubernetesObject[];
  /** This run of this agent, at most 253 characters: a text that no other run has, not even of the same pod. */
  readonly runId: string;
  /** The actions that this run has begun. */
  readonly attempts: OperationAttempts;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Default: `OPERATION_TIMES`. */
  readonly times?: OperationTimes;
}

/** One step of an operation: a record, which comes first, or a request. */
export type OperationStep =
  /** Records `pending`, before anything is done. Only at this version, so that one of several agents succeeds. */
  | {
      readonly kind: 'record-pending';
      readonly name: string;
      readonly resourceVersion: string | undefined;
      readonly patch: MergePatch;
    }
  /** The action itself, once: `attempts.begin(uid, nowMs)` first, then the management controller, then `attempts.end(uid, outcome)`. */
  | {
      readonly kind: 'act';
      readonly name: string;
      readonly uid: string;
      readonly action: HostAction;
      readonly host: ObservedHost;
    }
  /** Records `success` or `failure`, which never changes again. */
  | {
      readonly kind: 'record-result';
      readonly name: string;
      readonly resourceVersion: string | undefined;
      readonly patch: MergePatch;
      readonly events: readonly HostEvent[];
    };

/** The next steps of an operation, and when to plan again. */
export interface OperationPlan {
  /** The oldest operation first. */
  readonly steps: readonly OperationStep[];
  /** When to plan again without a change; milliseconds since 1970. Undefined: not before a change. */
  readonly planAgainAtMs: number | undefined;
}
