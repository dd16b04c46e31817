/** The life of a VirtualMachineInstance, one step at a time: what KubeVirt's controller and the handler on the node write about it. */
import { createHash } from 'node:crypto';
import { readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { ApiObject, Json, JsonObject } from '@vmdhcp/kube-simulator';
import { conditionsOf, isBeingDeleted, isFinal, phaseOf, withCondition } from './kubevirt-objects.js';

/** Keeps an instance from being deleted until its instance is gone. */
export const INSTANCE_FINALIZER = 'foregroundDeleteVirtualMachine';

const PHASES = ['', 'Pending', 'Scheduling', 'Scheduled', 'Running'] as const;
/** The phases in which an instance can be blocked. */
export type BlockedPhase = 'Pending' | 'Scheduling' | 'Scheduled';

/** The conditions around an instance. */
export interface InstanceWorld {
  readonly nodeName: string;
  /** It does not go beyond this phase. */
  readonly blockedIn?: BlockedPhase | undefined;
  /** No node has room for it. */
  readonly isUnschedulable: boolean;
  /** Its launcher ends before the machine runs. */
  readonly failsToStart: boolean;
  /** It does not react to being stopped. */
  readonly ignoresStop: boolean;
  /** A time as objects have it. */
  readonly now: string;
}

export type InstanceStep =
  | { readonly kind: 'none' }
  | { readonly kind: 'status'; readonly status: JsonObject }
  /** Nothing blocks its deletion any more. */
  | { readonly kind: 'release' };

const NONE: InstanceStep = { kind: 'none' };

/** The next step of an instance. */
export function planInstance(instance: ApiObject, world: InstanceWorld): InstanceStep {
  if (isBeingDeleted(instance)) return planEnd(instance, world);
  const phase = phaseOf(instance);
  if (isFinal(instance) || phase === 'Running' || phase === world.blockedIn) return NONE;
  if (phase === 'Scheduling' && world.isUnschedulable) return markUnschedulable(instance, world.now);
  const fails = phase === 'Scheduled' && world.failsToStart;
  return { kind: 'status', status: fails ? ended(instance, 'Failed', world.now) : nextPhase(instance, world) };
}

function planEnd(instance: ApiObject, { ignoresStop, now }: InstanceWorld): InstanceStep {
  if (isFinal(instance)) return { kind: 'release' };
  return ignoresStop ? NONE : { kind: 'status', status: ended(instance, 'Succeeded', now) };
}

/** The status of an instance that is down. */
export function ended(instance: ApiObject, phase: 'Succeeded' | 'Failed', now: string): JsonObject {
  const ready = { type: 'Ready', status: 'False', reason: 'PodTerminating', message: 'virt-launcher pod is terminating' };
  const conditions = conditionsOf(instance).filter(({ type }) => type !== 'Paused');
  return { ...inPhase(instance, phase, now), conditions: withCondition(conditions, ready, now) };
}

/** The status of an instance that is paused, or continues. */
export function paused(instance: ApiObject, isPaused: boolean, now: string): JsonObject {
  const others = conditionsOf(instance).filter(({ type }) => type !== 'Paused');
  const condition = { type: 'Paused', status: 'True', reason: 'PausedByUser', message: 'VMI was paused by user' };
  return { ...statusOf(instance), conditions: isPaused ? withCondition(others, condition, now) : others };
}

/** The spec of a new instance: that of the template, with the pod network where it names none, as KubeVirt completes it. */
export function instanceSpec(machine: ApiObject): JsonObject {
  const spec = (readField(machine, 'spec', 'template', 'spec') ?? {}) as JsonObject;
  const devices = (readField(spec, 'domain', 'devices') ?? {}) as JsonObject;
  const isComplete = readList(devices, 'interfaces').length > 0 || devices['autoattachPodInterface'] === false;
  if (isComplete) return spec;
  const domain = { ...(spec['domain'] as JsonObject | undefined), devices: { ...devices, interfaces: [POD_INTERFACE] } };
  return { ...spec, domain, networks: [{ name: POD_INTERFACE.name, pod: {} }] };
}

const POD_INTERFACE = { name: 'default', masquerade: {} };

function nextPhase(instance: ApiObject, { nodeName, now }: InstanceWorld): JsonObject {
  const next = PHASES[PHASES.indexOf(phaseOf(instance) as (typeof PHASES)[number]) + 1] ?? 'Running';
  const conditions = conditionsOf(instance).filter(({ type }) => type !== 'PodScheduled');
  const status = { ...inPhase(instance, next, now), conditions };
  if (next === 'Scheduled') return { ...status, nodeName };
  if (next !== 'Running') return status;
  const ready = withCondition(conditions, { type: 'Ready', status: 'True' }, now);
  return { ...status, conditions: ready, interfaces: interfacesOf(instance) };
}

function markUnschedulable(instance: ApiObject, now: string): InstanceStep {
  if (conditionsOf(instance).some(({ type }) => type === 'PodScheduled')) return NONE;
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes are available' };
  return { kind: 'status', status: { ...statusOf(instance), conditions: withCondition(conditionsOf(instance), condition, now) } };
}

function inPhase(instance: ApiObject, phase: string, now: string): JsonObject {
  const before = readList(instance, 'status', 'phaseTransitionTimestamps') as readonly Json[];
  const transitions = [...before, { phase, phaseTransitionTimestamp: now }];
  return { ...statusOf(instance), phase, phaseTransitionTimestamps: transitions };
}

function statusOf(instance: ApiObject): JsonObject {
  return (instance['status'] ?? {}) as JsonObject;
}

/** As the machine has them: with an address of the specification, or one that was chosen for this instance. */
function interfacesOf(instance: ApiObject): readonly JsonObject[] {
  return readList(instance, 'spec', 'domain', 'devices', 'interfaces').map((one) => {
    const name = readText(one, 'name') ?? '';
    const mac = readText(one, 'macAddress') ?? chosenAddress(instance, name);
    return { name, mac, infoSource: 'domain', linkState: linkOf(one), queueCount: 1 };
  });
}

/** The instance with the links of its machine; undefined if it has them. Source: KubeVirt VEP 3. */
export function withLinksOf(machine: ApiObject, instance: ApiObject): ApiObject | undefined {
  if (phaseOf(instance) !== 'Running') return undefined;
  const wanted = readList(machine, 'spec', 'template', 'spec', 'domain', 'devices', 'interfaces');
  const linkIn = (name: string | undefined): string => linkOf(wanted.find((one) => readText(one, 'name') === name));
  const reported = readList(instance, 'status', 'interfaces') as readonly JsonObject[];
  if (reported.every((one) => one['linkState'] === linkIn(readText(one, 'name')))) return undefined;
  const interfaces = reported.map((one) => ({ ...one, linkState: linkIn(readText(one, 'name')) }));
  return { ...instance, status: { ...statusOf(instance), interfaces } };
}

function linkOf(wanted: unknown): 'up' | 'down' {
  return readText(wanted, 'state') === 'down' ? 'down' : 'up';
}

/** A new MAC address for each instance, as in KubeVirt without KubeMacPool. */
function chosenAddress({ metadata: { uid = '' } }: ApiObject, name: string): string {
  const octets = createHash('sha256').update(`${uid} ${name}`).digest().subarray(0, 5);
  return ['02', ...[...octets].map((octet) => octet.toString(16).padStart(2, '0'))].join(':');
}
