/** The reports of the controller, for the log and the metrics. */
import type { ReconcileResult } from '@vmdhcp/kube-runtime';
import type { AgentAction } from '../agents/agents-plan.js';
import type { AssignmentRecord } from '../audit/assignment-record.js';
import type { AgentObjectKind } from '../view/agent-resources.js';
import type { InstancesState } from '../view/instance-source.js';
import type { ForeignKind } from '../view/missing-kinds.js';
import type { MemoryProblem } from '../virtual-machine/memory-record.js';
import type { AddressChange } from './address-changes.js';
import type { CachedKind } from './by-kind.js';

/** The kinds that the controller reconciles. */
export type ReconciledKind = CachedKind | 'agentGroups';
/** Kinds that are listed and watched. */
export type ReadKind = CachedKind | 'virtualMachineInstances' | 'macAddressMemory' | 'audit' | AgentObjectKind;

/** One key that was reconciled: its result, and how long it took. */
export interface ReconciledKey {
  readonly kind: ReconciledKind;
  readonly key: string;
  readonly result: ReconcileResult;
  readonly durationMs: number;
}

/** Events for counting or logging. */
export interface ControllerObserver {
  readonly onReconciled?: (reconciled: ReconciledKey) => void;
  /** Reconciling a key failed, and will be retried. */
  readonly onRetry?: (kind: ReconciledKind, key: string, cause: { readonly reason: string; readonly error?: unknown }) => void;
  /** A key cannot be reconciled before an object is changed. */
  readonly onTerminal?: (kind: ReconciledKind, key: string, reason: string) => void;
  /** A list or watch failed, or the memory of MAC addresses could not be written; it will be retried. */
  readonly onReadError?: (kind: ReadKind, error: unknown) => void;
  /** The knowledge about VirtualMachineInstances has changed. */
  readonly onInstances?: (state: InstancesState) => void;
  /** @param message - why no IPPool is served: the API server lacks a kind of KubeVirt or Multus; undefined when it has it. */
  readonly onMissingKind?: (kind: ForeignKind, message: string | undefined) => void;
  readonly onEventError?: (error: unknown) => void;
  /** An entry of the memory of MAC addresses is ignored, or a machine is not remembered. */
  readonly onMemoryProblem?: (problem: MemoryProblem) => void;
  /** An address was recorded for a client or released, or a client was refused one. */
  readonly onAddressChange?: (change: AddressChange) => void;
  /** Assignments of a pool began or ended, for the audit. */
  readonly onAssignmentRecords?: (pool: string, records: readonly AssignmentRecord[]) => void;
  /** Records of assignments are lost: deleted at their limit, or dropped before they were stored. */
  readonly onAuditDropped?: (why: 'limit' | 'not-stored', count: number) => void;
  /** Something is about to be written for agents. */
  readonly onAgentAction?: (action: AgentAction) => void;
  readonly onSynced?: () => void;
}
