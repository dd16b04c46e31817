/** VirtualMachines and VirtualMachineInstances, as far as the stand-in reads them. */
import { readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { ApiObject, JsonObject } from '@vmdhcp/kube-simulator';

export const KUBEVIRT_GROUP = 'kubevirt.io';
export const MACHINES = { group: KUBEVIRT_GROUP, resource: 'virtualmachines' } as const;
export const INSTANCES = { group: KUBEVIRT_GROUP, resource: 'virtualmachineinstances' } as const;

/** `spec.runStrategy`. */
export type RunStrategyName = 'Always' | 'Halted' | 'Manual' | 'Once' | 'RerunOnFailure';

/** An entry of `status.stateChangeRequests`. */
export interface StateChangeRequest extends JsonObject {
  readonly action: 'Start' | 'Stop';
  /** The uid of the instance that is to stop. */
  readonly uid?: string;
}

/** `spec.running` is the older form of `Always` and `Halted`; neither of both is `Halted`. */
export function runStrategyOf(machine: ApiObject): RunStrategyName {
  const running = readField(machine, 'spec', 'running');
  if (typeof running === 'boolean') return running ? 'Always' : 'Halted';
  return (readText(machine, 'spec', 'runStrategy') ?? 'Halted') as RunStrategyName;
}

export function changeRequestsOf(machine: ApiObject): readonly StateChangeRequest[] {
  return readList(machine, 'status', 'stateChangeRequests') as readonly StateChangeRequest[];
}

/** Empty: it was created a moment ago. */
export function phaseOf(instance: ApiObject): string {
  return readText(instance, 'status', 'phase') ?? '';
}

/** It has ended, and stays until it is deleted. */
export function isFinal(instance: ApiObject): boolean {
  return ['Succeeded', 'Failed'].includes(phaseOf(instance));
}

export function isBeingDeleted({ metadata }: ApiObject): boolean {
  return metadata['deletionTimestamp'] !== undefined;
}

export function conditionsOf(object: JsonObject): readonly JsonObject[] {
  return readList(object, 'status', 'conditions') as readonly JsonObject[];
}

/** @param status - `True` by default. */
export function hasCondition(object: ApiObject, type: string, status = 'True'): boolean {
  return conditionsOf(object).some((condition) => condition['type'] === type && condition['status'] === status);
}

/** The conditions with this one; an equal one keeps the time of its last transition. */
export function withCondition(
  conditions: readonly JsonObject[],
  condition: { readonly type: string; readonly status: string; readonly reason?: string; readonly message?: string },
  now: string,
): readonly JsonObject[] {
  const before = conditions.find(({ type }) => type === condition.type);
  const since = before?.['status'] === condition.status ? before['lastTransitionTime'] : now;
  const next: JsonObject = { ...condition, lastProbeTime: null, lastTransitionTime: since ?? now };
  return [...conditions.filter(({ type }) => type !== condition.type), next];
}

/** True while `status.migrationState` is there and not completed. */
export function isMigrating(instance: ApiObject): boolean {
  const state = readField(instance, 'status', 'migrationState');
  return state !== undefined && state !== null && readField(state, 'completed') !== true;
}

/** `namespace/name`. */
export function keyOf({ metadata: { namespace = '', name = '' } }: ApiObject): string {
  return `${namespace}/${name}`;
}

/** The object of this key. */
export function placeOf(key: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = key.split('/', 2);
  return { namespace, name };
}
