/**
 * What a wake-up means for a virtual machine of KubeVirt in each of its states. A machine is started by the `start` subresource, and its run
 * strategy is never written: KubeVirt refuses `start` for `Always` and `Once`.
 *
 * `printableStatus` alone is not enough. A start or a stop that was requested stands in `status.stateChangeRequests` until KubeVirt acts on it, and
 * a machine whose volumes are being filled is `Provisioning`, whether it is to run or not.
 * Source: KubeVirt user guide, "Run Strategies"; `VirtualMachineStatus.printableStatus`; virt-api, `StartVMRequestHandler`.
 */

/** `spec.runStrategy`; `spec.running: true` is `Always`, `false` is `Halted`. */
export type RunStrategy = 'Always' | 'Halted' | 'Manual' | 'Once' | 'RerunOnFailure';

/** The VirtualMachineInstance: there is none, it is starting or runs, it is being deleted, or it has ended. */
export type InstanceState = 'none' | 'active' | 'stopping' | 'succeeded' | 'failed';

/** What is known of a virtual machine. */
export interface MachineState {
  /** Undefined: one that is not known here. */
  readonly runStrategy: RunStrategy | undefined;
  /** `status.printableStatus`. */
  readonly printableStatus: string | undefined;
  /** It has a deletion timestamp. */
  readonly isBeingDeleted: boolean;
  /** `status.stateChangeRequests` has the action `Start`; with `Stop` beside it, KubeVirt restarts the machine. Default: false. */
  readonly startRequested?: boolean;
  /** `status.stateChangeRequests` has the action `Stop`. Default: false. */
  readonly stopRequested?: boolean;
  /** Default: not known, so that only what the machine reports counts. */
  readonly instance?: InstanceState;
}

export interface WakeUpPolicy {
  /** True: a paused machine continues. */
  readonly unpauses: boolean;
}

/** Nothing has to be done. */
export type NoActionReason =
  | 'already-running'
  /** Its start was requested, or is under way. */
  | 'already-starting'
  /** The run strategy makes KubeVirt start it by itself. */
  | 'kubevirt-starts-it';

/** Nothing can be done. */
export type WakeUpRefusalReason =
  | 'being-deleted'
  | 'paused'
  /** It was started, and no node has room for it. */
  | 'unschedulable'
  /** Its image, its volume or its claim is not there. */
  | 'image-or-volume-not-ready'
  | 'crashes-repeatedly'
  /** `Once`: it has run, and KubeVirt does not start it a second time. */
  | 'runs-only-once'
  /** It waits for a machine that migrates from another cluster. */
  | 'receives-a-migration'
  /** KubeVirt does not report its state, or one that is not known here. */
  | 'state-unknown'
  | 'run-strategy-unknown';

/** What to do about a wake-up. */
export type WakeUpAction =
  | { readonly kind: 'start' }
  | { readonly kind: 'unpause' }
  /** It stops. Plan again when it is down. */
  | { readonly kind: 'wait-until-down' }
  | { readonly kind: 'nothing'; readonly reason: NoActionReason }
  | { readonly kind: 'refuse'; readonly reason: WakeUpRefusalReason };

const STARTING: WakeUpAction = { kind: 'nothing', reason: 'already-starting' };
const RUNNING: WakeUpAction = { kind: 'nothing', reason: 'already-running' };
const NOT_READY: WakeUpAction = { kind: 'refuse', reason: 'image-or-volume-not-ready' };

/** The states that decide alone. `Provisioning` and `Stopped` do not: see `planStart`. */
const BY_STATE: ReadonlyMap<string, WakeUpAction> = new Map<string, WakeUpAction>([
  ['Running', RUNNING],
  ['Migrating', RUNNING],
  ['Starting', STARTING],
  ['WaitingForVolumeBinding', STARTING],
]);

/** What has to be repaired first, also where a start was requested already. */
const FAULTS: ReadonlyMap<string, WakeUpAction> = new Map<string, WakeUpAction>([
  ['Terminating', { kind: 'refuse', reason: 'being-deleted' }],
  ['ErrorUnschedulable', { kind: 'refuse', reason: 'unschedulable' }],
  ['ErrImagePull', NOT_READY],
  ['ImagePullBackOff', NOT_READY],
  ['ErrorPvcNotFound', NOT_READY],
  ['DataVolumeError', NOT_READY],
  ['CrashLoopBackOff', { kind: 'refuse', reason: 'crashes-repeatedly' }],
  ['WaitingForReceiver', { kind: 'refuse', reason: 'receives-a-migration' }],
]);

/** What a wake-up of this machine means now. */
export function planWakeUp(machine: MachineState, policy: WakeUpPolicy): WakeUpAction {
  if (machine.isBeingDeleted) return { kind: 'refuse', reason: 'being-deleted' };
  const fault = FAULTS.get(machine.printableStatus ?? '');
  if (fault !== undefined) return fault;
  if (machine.startRequested === true) return STARTING;
  if (machine.stopRequested === true) return startAction(machine.runStrategy, { kind: 'wait-until-down' });
  return planByState(machine, policy);
}

function planByState(machine: MachineState, { unpauses }: WakeUpPolicy): WakeUpAction {
  switch (machine.printableStatus ?? '') {
    case 'Paused':
      return unpauses ? { kind: 'unpause' } : { kind: 'refuse', reason: 'paused' };
    case 'Stopped':
      return planStart(machine);
    case 'Provisioning':
      return machine.runStrategy === 'Once' ? STARTING : planStart(machine);
    case 'Stopping':
      return startAction(machine.runStrategy, { kind: 'wait-until-down' });
    default:
      return BY_STATE.get(machine.printableStatus ?? '') ?? { kind: 'refuse', reason: 'state-unknown' };
  }
}

/** Of a machine that reports no instance; what is known of the instance is newer. */
function planStart({ runStrategy, instance }: MachineState): WakeUpAction {
  if (instance === 'active') return STARTING;
  if (instance === 'stopping') return startAction(runStrategy, { kind: 'wait-until-down' });
  // KubeVirt refuses to start it, and starts it itself.
  if (instance === 'failed' && runStrategy === 'RerunOnFailure') return { kind: 'nothing', reason: 'kubevirt-starts-it' };
  return startAction(runStrategy, { kind: 'start' });
}

/** @param action - where the run strategy allows it. */
function startAction(runStrategy: RunStrategy | undefined, action: WakeUpAction): WakeUpAction {
  switch (runStrategy) {
    case 'Halted':
    case 'Manual':
    case 'RerunOnFailure':
      return action;
    case 'Always':
      return { kind: 'nothing', reason: 'kubevirt-starts-it' };
    case 'Once':
      return { kind: 'refuse', reason: 'runs-only-once' };
    case undefined:
      return { kind: 'refuse', reason: 'run-strategy-unknown' };
  }
}
