/**
 * Plans a VirtualMachine as KubeVirt's controller does, by its run strategy, its requests and its instance.
 *
 * Source: KubeVirt user guide, "Run Strategies"; kubevirt.io/kubevirt pkg/virt-controller/watch/vm vm.go.
 */
import { readField, readText } from '@vmdhcp/kube-runtime';
import type { ApiObject, JsonObject } from '@vmdhcp/kube-simulator';
import {
  changeRequestsOf,
  conditionsOf,
  hasCondition,
  isBeingDeleted,
  isFinal,
  isMigrating,
  phaseOf,
  runStrategyOf,
  type StateChangeRequest,
  withCondition,
} from './kubevirt-objects.js';

export type MachineAction = 'none' | 'create-instance' | 'delete-instance';

/** What to do with the instance. */
export function planMachine(machine: ApiObject, instance: ApiObject | undefined): MachineAction {
  if (instance === undefined) return !isBeingDeleted(machine) && isToStart(machine) ? 'create-instance' : 'none';
  if (isBeingDeleted(instance)) return 'none';
  return isBeingDeleted(machine) || isToEnd(machine, instance) ? 'delete-instance' : 'none';
}

function isToStart(machine: ApiObject): boolean {
  const runStrategy = runStrategyOf(machine);
  switch (runStrategy) {
    case 'Always':
    case 'Once':
      return true;
    case 'Halted':
      return false;
    case 'Manual':
      return isStartRequested(machine);
    case 'RerunOnFailure':
      // Also when it comes from another strategy, or was never started.
      return isStartRequested(machine) || readText(machine, 'status', 'runStrategy') !== runStrategy;
  }
}

function isToEnd(machine: ApiObject, instance: ApiObject): boolean {
  const isAsked = changeRequestsOf(machine)[0]?.uid === instance.metadata.uid;
  switch (runStrategyOf(machine)) {
    case 'Always':
    case 'RerunOnFailure':
      return isAsked || isFinal(instance);
    case 'Manual':
      return isAsked;
    case 'Halted':
      return true;
    case 'Once':
      return false;
  }
}

function isStartRequested(machine: ApiObject): boolean {
  return changeRequestsOf(machine)[0]?.action === 'Start';
}

/** The status of the machine. @param now - a time as objects have it. */
export function statusOf(machine: ApiObject, instance: ApiObject | undefined, now: string): JsonObject {
  const {
    startFailure: failedBefore,
    stateChangeRequests: _requests,
    ...kept
  } = (machine['status'] ?? {}) as Readonly<Record<string, JsonObject[string]>>;
  const requests = remainingRequests(machine, instance);
  const startFailure = nextStartFailure(failedBefore as JsonObject | undefined, instance, now);
  const wasEverCreated = instance !== undefined || readText(machine, 'status', 'runStrategy') !== undefined;
  const isReady = instance !== undefined && hasCondition(instance, 'Ready');
  const status: JsonObject = {
    ...kept,
    created: instance !== undefined,
    ready: isReady,
    ...(wasEverCreated ? { runStrategy: runStrategyOf(machine) } : {}),
    ...(requests.length === 0 ? {} : { stateChangeRequests: requests }),
    ...(startFailure === undefined ? {} : { startFailure }),
    conditions: conditionsFor(machine, instance, now),
  };
  const printableStatus = printableStatusOf({ ...machine, status }, instance);
  return { ...status, printableStatus };
}

/** Without the first one, if it was fulfilled; and with a start, if an instance that failed is to be followed by another one. */
function remainingRequests(machine: ApiObject, instance: ApiObject | undefined): readonly StateChangeRequest[] {
  const requests = changeRequestsOf(machine);
  const [first] = requests;
  const rest = first !== undefined && isFulfilled(first, instance) ? requests.slice(1) : requests;
  const isRerun = runStrategyOf(machine) === 'RerunOnFailure' && instance !== undefined && phaseOf(instance) === 'Failed';
  return isRerun && rest.length === 0 ? [{ action: 'Start' }] : rest;
}

function isFulfilled({ action, uid }: StateChangeRequest, instance: ApiObject | undefined): boolean {
  if (action === 'Stop') return instance?.metadata.uid !== uid;
  return instance !== undefined && !isBeingDeleted(instance) && !isFinal(instance);
}

/** How many starts failed since the last one that led to a running machine. */
function nextStartFailure(before: JsonObject | undefined, instance: ApiObject | undefined, now: string): JsonObject | undefined {
  if (instance === undefined) return before;
  if (hasRun(instance)) return undefined;
  const { uid = '' } = instance.metadata;
  const isCounted = readText(before, 'lastFailedVMIUID') === uid;
  if (phaseOf(instance) !== 'Failed' || isCounted) return before;
  const count = Number(readField(before, 'consecutiveFailCount') ?? 0);
  return { consecutiveFailCount: count + 1, lastFailedVMIUID: uid, retryAfterTimestamp: now };
}

function hasRun(instance: ApiObject): boolean {
  const phases = (readField(instance, 'status', 'phaseTransitionTimestamps') ?? []) as readonly JsonObject[];
  return phases.some(({ phase }) => phase === 'Running');
}

/** The conditions of the instance, and Ready in any case. */
function conditionsFor(machine: ApiObject, instance: ApiObject | undefined, now: string): readonly JsonObject[] {
  const before = conditionsOf(machine).filter(({ type }) => type === 'Ready');
  if (instance === undefined) {
    const missing = { type: 'Ready', status: 'False', reason: 'VMINotExists', message: 'VMI does not exist' };
    return withCondition(before, missing, now);
  }
  const others = conditionsOf(instance).filter(({ type }) => type !== 'Ready');
  const ready = conditionsOf(instance).find(({ type }) => type === 'Ready');
  if (ready !== undefined) return [ready, ...others];
  const missing = { reason: 'VMIConditionMissing', message: 'VMI is missing the Ready condition' };
  return [...withCondition(before, { type: 'Ready', status: 'False', ...missing }, now), ...others];
}

/** The first that fits, in KubeVirt's order. */
function printableStatusOf(machine: ApiObject, instance: ApiObject | undefined): string {
  if (isBeingDeleted(machine)) return 'Terminating';
  return instance === undefined || isFinal(instance) ? downStatusOf(machine) : upStatusOf(instance);
}

function downStatusOf(machine: ApiObject): string {
  const failures = readField(machine, 'status', 'startFailure', 'consecutiveFailCount');
  const restarts = ['Always', 'RerunOnFailure', 'Once'].includes(runStrategyOf(machine));
  return failures !== undefined && restarts ? 'CrashLoopBackOff' : 'Stopped';
}

function upStatusOf(instance: ApiObject): string {
  if (isBeingDeleted(instance)) return 'Stopping';
  if (isMigrating(instance)) return 'Migrating';
  if (phaseOf(instance) === 'Running') return hasCondition(instance, 'Paused') ? 'Paused' : 'Running';
  return hasCondition(instance, 'PodScheduled', 'False') ? 'ErrorUnschedulable' : 'Starting';
}
