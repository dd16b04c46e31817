/**
 * Decides what a wake-up means for a virtual machine of KubeVirt in each of its states. A machine is started by the `start`
 * subresource, and its run strategy is never written: KubeVirt refuses `start` for `Always` and `Once`.
 *
 * `printableStatus` alone is not enough. A requested start or stop is in `status.stateChangeRequests` until KubeVirt acts on it,
 * and a machine whose volumes are being filled is `Provisioning`, whether it should run or not.
 * Source: KubeVirt user guide, "Run Strategies"; `VirtualMachineStatus.printableStatus`; virt-api, `StartVMRequestHandler`.
 */

/** `spec.runStrategy`; `spec.running: true` is `Always`, `false` is `Halted`. */
export type RunStrategy = 'Always' | 'Halted' | 'Manual' | 'Once' | 'RerunOnFailure';

/** The VirtualMachineInstance: it does not exist, is starting or running, is being deleted, or has ended. */
export type InstanceState = 'none' | 'active' | 'stopping' | 'succeeded' | 'failed';

/** What is known about a virtual machine. */
export interface MachineState {
  /** Undefined if this version does not know it. */
  readonly runStrategy: RunStrategy | undefined;
  /** `status.printableStatus`. */
  readonly printableStatus: string | undefined;
  /** It has a deletion timestamp. */
  readonly isBeingDeleted: boolean;
  /** `status.stateChangeRequests` has the action `Start`; with `Stop` beside it, KubeVirt restarts the machine. Default: false. */
  readonly startRequested?: boolean;
  /** `status.stateChangeRequests` has the action `Stop`. Default: false. */
  readonly stopRequested?: boolean;
  /** Default: not known, so that only the report of the machine counts. */
  readonly instance?: InstanceState;
}

/** Whether a wake-up also continues a machine that is paused. */
export interface WakeUpPolicy {
  /** True if a paused machine is unpaused. */
  readonly unpauses: boolean;
}

/** Nothing has to be done. */
export type NoActionReason =
  | 'already-running'
  /** Its start was requested, or is under way. */
  | 'already-starting'
  /** KubeVirt starts it because of its run strategy. */
  | 'kubevirt-starts-it';

/** Nothing can be done. */
export type WakeUpRefusalReason =
  | 'being-deleted'
  | 'paused'
  /** It was started, and no node has room for it. */
  | 'unschedulable'
  /** Its image, its volume or its claim does not exist. */
  | 'image-or-volume-not-ready'
  | 'crashes-repeatedly'
  /** `Once`: it has run, and KubeVirt does not start it a second time. */
  | 'runs-only-once'
  /** It waits for a machine that migrates from another cluster. */
  | 'receives-a-migration'
  /** KubeVirt reports no state, or one that this version does not know. */
  | 'state-unknown'
  | 'run-strategy-unknown';

/** What to do about a wake-up. */
export type WakeUpAction =
  | { readonly kind: 'start' }
  | { readonly kind: 'unpause' }
  /** It is stopping. Plan again when it is down. */
  | { readonly kind: 'wait-until-down' }
  | { readonly kind: 'nothing'; readonly reason: NoActionReason }
  | { readonly kind: 'refuse'; readonly reason: WakeUpRefusalReason };

const STARTING: WakeUpAction = { kind: 'nothing', reason: 'already-starting' };
const RUNNING: WakeUpAction = { kind: 'nothing', reason: 'already-running' };
const NOT_READY: WakeUpAction = { kind: 'refuse', reason: 'image-or-volume-not-ready' };

/** The states that alone decide. `Provisioning` and `Stopped` do not: see `planStart`. */
const BY_STATE: ReadonlyMap<string, WakeUpAction> = new Map<string, WakeUpAction>([
  ['Running', RUNNING],
  ['Migrating', RUNNING],
  ['Starting', STARTING],
  ['WaitingForVolumeBinding', STARTING],
]);

/** States that have to be repaired first, even if a start was already requested. */
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
      return planUp(machine);
  }
}

/** KubeVirt deletes the instance of a machine first, and reports later that it is stopping. */
function planUp({ printableStatus = '', instance, runStrategy }: MachineState): WakeUpAction {
  const action = BY_STATE.get(printableStatus);
  if (action === undefined) return { kind: 'refuse', reason: 'state-unknown' };
  return instance === 'stopping' ? startAction(runStrategy, { kind: 'wait-until-down' }) : action;
}

/** For a machine that reports no instance; what is known about the instance is newer. */
function planStart({ runStrategy, instance }: MachineState): WakeUpAction {
  if (instance === 'active') return STARTING;
  if (instance === 'stopping') return startAction(runStrategy, { kind: 'wait-until-down' });
  // KubeVirt refuses the request, and starts the machine itself.
  if (instance === 'failed' && runStrategy === 'RerunOnFailure') return { kind: 'nothing', reason: 'kubevirt-starts-it' };
  return startAction(runStrategy, { kind: 'start' });
}

/** @param action - used if the run strategy allows it. */
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
