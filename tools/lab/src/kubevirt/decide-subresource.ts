/**
 * How KubeVirt's API server answers a request for a subresource, by the run strategy and the state of the machine.
 *
 * Source: KubeVirt user guide, "Run Strategies"; kubevirt.io/kubevirt pkg/virt-api/rest lifecycle.go.
 */
import type { ApiObject, Json, JsonObject } from '@vmdhcp/kube-simulator';
import {
  changeRequestsOf,
  hasCondition,
  isFinal,
  isMigrating,
  KUBEVIRT_GROUP,
  phaseOf,
  runStrategyOf,
  type StateChangeRequest,
} from './kubevirt-objects.js';

/** The objects with the name in the request. */
export interface Observed {
  readonly name: string;
  readonly machine: ApiObject | undefined;
  readonly instance: ApiObject | undefined;
}

export type SubresourceDecision =
  /** Answered with a Status. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The machine is changed by a JSON patch, then answered with 202. */
  | { readonly kind: 'patch-machine'; readonly subresource: '' | 'status'; readonly patch: readonly JsonObject[] }
  /** The instance is paused or continues, then answered with 200. */
  | { readonly kind: 'pause' | 'unpause' };

/** The parts of a `Status` that matter. */
export interface Refusal {
  /** HTTP status. */
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: JsonObject;
}

export type DecideSubresource = (observed: Observed) => SubresourceDecision;

/** By `resource/subresource`. */
export const SUBRESOURCES: ReadonlyMap<string, DecideSubresource> = new Map<string, DecideSubresource>([
  ['virtualmachines/start', withMachine(decideStart)],
  ['virtualmachines/stop', withMachine(decideStop)],
  ['virtualmachines/restart', withMachine(decideRestart)],
  ['virtualmachineinstances/pause', withInstance(decidePause)],
  ['virtualmachineinstances/unpause', withInstance(decideUnpause)],
]);

function decideStart(machine: ApiObject, instance: ApiObject | undefined): SubresourceDecision {
  if (instance !== undefined && !isFinal(instance) && phaseOf(instance) !== '') return conflict(machine, 'VM is already running');
  const runStrategy = runStrategyOf(machine);
  switch (runStrategy) {
    case 'Halted':
      return setRunning(machine, true);
    case 'Manual':
      return request(machine, [...stopOf(instance), { action: 'Start' }]);
    case 'RerunOnFailure':
      return startAfterEnd(machine, instance);
    case 'Always':
    case 'Once':
      return conflict(machine, `${runStrategy} does not support manual start requests`);
  }
}

function startAfterEnd(machine: ApiObject, instance: ApiObject | undefined): SubresourceDecision {
  if (instance !== undefined && phaseOf(instance) === 'Failed')
    return conflict(machine, 'RerunOnFailure does not support starting VM from failed state');
  return request(machine, [...stopOf(instance), { action: 'Start' }]);
}

function decideStop(machine: ApiObject, instance: ApiObject | undefined): SubresourceDecision {
  const runStrategy = runStrategyOf(machine);
  if (runStrategy === 'Always' || runStrategy === 'Once') return setRunning(machine, false);
  if (instance === undefined || isFinal(instance)) return conflict(machine, 'VM is not running');
  if (runStrategy !== 'Halted') return request(machine, stopOf(instance));
  return conflict(machine, 'Halted only supports manual stop requests with a shorter graceperiod');
}

function decideRestart(machine: ApiObject, instance: ApiObject | undefined): SubresourceDecision {
  const runStrategy = runStrategyOf(machine);
  // The spelling is KubeVirt's.
  if (runStrategy === 'Halted' || runStrategy === 'Once')
    return conflict(machine, `RunStategy ${runStrategy} does not support manual restart requests`);
  if (instance === undefined) return conflict(machine, 'VM is not running: Halted');
  return request(machine, [...stopOf(instance), { action: 'Start' }]);
}

function decidePause(instance: ApiObject): SubresourceDecision {
  if (phaseOf(instance) !== 'Running') return conflict(instance, 'VM is not running');
  if (hasCondition(instance, 'Paused')) return conflict(instance, 'VMI is already paused');
  if (isMigrating(instance)) {
    const name = instance.metadata.name ?? '';
    return conflict(instance, `Cannot pause VM '${name}' because it is currently being migrated`);
  }
  return { kind: 'pause' };
}

function decideUnpause(instance: ApiObject): SubresourceDecision {
  if (phaseOf(instance) !== 'Running') return conflict(instance, 'VMI is not running');
  if (!hasCondition(instance, 'Paused')) return conflict(instance, 'VMI is not paused');
  return { kind: 'unpause' };
}

function withMachine(decide: (machine: ApiObject, instance: ApiObject | undefined) => SubresourceDecision): DecideSubresource {
  return ({ name, machine, instance }) => (machine === undefined ? notFound('virtualmachine', name) : decide(machine, instance));
}

function withInstance(decide: (instance: ApiObject) => SubresourceDecision): DecideSubresource {
  return ({ name, instance }) => (instance === undefined ? notFound('virtualmachineinstance', name) : decide(instance));
}

/** Asks for the end of this instance. */
function stopOf(instance: ApiObject | undefined): readonly StateChangeRequest[] {
  return instance === undefined ? [] : [{ action: 'Stop', uid: instance.metadata.uid ?? '' }];
}

/** Leaves the run strategy as it is; the controller does what is asked for. A request to stop replaces what was asked for before. */
function request(machine: ApiObject, requests: readonly StateChangeRequest[]): SubresourceDecision {
  const before = changeRequestsOf(machine);
  const isStop = requests.length === 1 && requests[0]?.action === 'Stop';
  if (before.length > 0 && !isStop) {
    const message = 'Internal error occurred: unable to complete request: stop/start already underway';
    const details = { causes: [{ message: 'unable to complete request: stop/start already underway' }] };
    return refuse({ code: 500, reason: 'InternalError', message, details });
  }
  const value = [...requests];
  const patch =
    machine['status'] === undefined
      ? [{ op: 'add', path: '/status', value: { stateChangeRequests: value } }]
      : [...unchanged(machine), { op: 'add', path: '/status/stateChangeRequests', value }];
  return { kind: 'patch-machine', subresource: 'status', patch };
}

function unchanged(machine: ApiObject): readonly JsonObject[] {
  const before = changeRequestsOf(machine);
  return before.length === 0 ? [] : [{ op: 'test', path: '/status/stateChangeRequests', value: [...before] }];
}

/** Changes the field of the two that the machine has. */
function setRunning({ spec }: ApiObject, running: boolean): SubresourceDecision {
  const { runStrategy } = spec as JsonObject;
  const change = (path: string, before: Json | undefined, value: Json): SubresourceDecision => ({
    kind: 'patch-machine',
    subresource: '',
    patch: [...(before === undefined ? [] : [{ op: 'test', path, value: before }]), { op: 'add', path, value }],
  });
  if (runStrategy !== undefined) return change('/spec/runStrategy', runStrategy, running ? 'Always' : 'Halted');
  return change('/spec/running', (spec as JsonObject)['running'], running);
}

function conflict({ kind, metadata: { name = '' } }: ApiObject, why: string): SubresourceDecision {
  const resource = kind.toLowerCase();
  return refuse({
    code: 409,
    reason: 'Conflict',
    message: `Operation cannot be fulfilled on ${resource}.${KUBEVIRT_GROUP} "${name}": ${why}`,
    details: { name, group: KUBEVIRT_GROUP, kind: resource },
  });
}

function notFound(resource: string, name: string): SubresourceDecision {
  return refuse({
    code: 404,
    reason: 'NotFound',
    message: `${resource}.${KUBEVIRT_GROUP} "${name}" not found`,
    details: { name, group: KUBEVIRT_GROUP, kind: resource },
  });
}

function refuse(refusal: Refusal): SubresourceDecision {
  return { kind: 'refused', refusal };
}
