/**
 * The way back to Harvester's vm-dhcp-controller, as a function of the observed state. Our agents release their server addresses before Harvester's
 * agents add them, and answer as standbys until those are ready. They are removed last.
 */
import { AGENT_GROUP_LABEL, BEFORE_MIGRATION_ANNOTATION } from '@vmdhcp/ippool-api';
import {
  describeCount,
  isBeingDeleted,
  isRecord,
  type KubernetesObject,
  keyOf,
  type MergePatch,
  readField,
  readList,
  readText,
} from '@vmdhcp/kube-runtime';
import { legacyPoolOf } from '@vmdhcp/reconciler';
import { awaitAddresses, takeLeases } from './lease-steps.js';
import type { MigrationObservation } from './migration-observation.js';
import type { MigratedKind, MigrationStep, MigrationWrite } from './migration-step.js';
import { removeRegistrations, workloadsOf } from './plan-migration.js';
import { startSteps, stopSteps } from './scale-steps.js';
import { entriesUnknownUpstream } from './upstream-limits.js';

/** @returns the steps, in order. Empty if Harvester's vm-dhcp-controller serves all pools, and nothing of ours runs. */
export function planWayBack(observed: MigrationObservation): MigrationStep[] {
  const own = [...workloadsOf(observed, 'own-controller'), ...workloadsOf(observed, 'own-webhook')];
  const leases = observed.agentLeases.filter(isOfGroup);
  const isDone = isServedUpstream(observed) && observed.agentDeployments.filter(isOfGroup).length === 0;
  return [
    ...own.flatMap(stopSteps),
    ...removeRegistrations(observed, 'vmdhcp'),
    ...(isDone ? [] : observed.pools.flatMap(prepareSteps)),
    ...takeLeases(leases),
    ...awaitAddresses(leases),
    ...restoreSteps(observed),
    ...observed.addOns.filter((addOn) => wasEnabled(addOn, observed)).flatMap(enableAddOn),
    ...startUpstream(observed),
    ...observed.pools.flatMap((pool) => awaitPod(pool, observed.agentPods)),
    ...removeAgents(observed),
    ...removeRights(observed),
  ];
}

/** The controller labels what it creates for a group with the name of the group. */
function isOfGroup({ metadata }: KubernetesObject): boolean {
  return metadata.labels?.[AGENT_GROUP_LABEL] !== undefined;
}

function isServedUpstream({ pools, agentPods }: MigrationObservation): boolean {
  return pools.flatMap((pool) => awaitPod(pool, agentPods)).length === 0;
}

/** Removes data that Harvester's controller does not know, or would fail on. */
function prepareSteps(pool: KubernetesObject): MigrationStep[] {
  const patch = patchForUpstream(pool);
  if (patch === undefined) return [];
  const entries = entriesUnknownUpstream(pool);
  const removed = entries.length === 0 ? '' : ` and ${describeCount(entries.length, 'address', 'addresses')} outside its range`;
  return [
    {
      id: `prepare ${keyOf(pool)}`,
      title: `remove the names of our agents${removed} from the status of IPPool ${keyOf(pool)}`,
      writes: [{ kind: 'patch-status', of: 'IPPool', object: pool, patch }],
    },
  ];
}

function patchForUpstream(pool: KubernetesObject): MergePatch | undefined {
  const names = ['agentDeploymentRef', 'servedBy'].filter((name) => readField(pool.status, name) !== undefined);
  const entries = entriesUnknownUpstream(pool).map(({ address }) => [address, null] as const);
  const isQuarantining = isRecord(readField(pool.status, 'ipv4', 'quarantined'));
  if (names.length === 0 && entries.length === 0 && !isQuarantining) return undefined;
  const ipv4 = {
    ...(entries.length > 0 && { allocated: Object.fromEntries(entries) }),
    ...(isQuarantining && { quarantined: null }),
  };
  return {
    status: {
      ...Object.fromEntries(names.map((name) => [name, null])),
      ...(Object.keys(ipv4).length > 0 && { ipv4 }),
    },
  };
}

/** Only while our definitions are applied: Harvester's controller may apply those of another version. */
function restoreSteps({ definitions }: MigrationObservation): MigrationStep[] {
  return definitions.flatMap(({ definition, isOurs, isAsBackedUp }) => {
    const { name } = definition.metadata;
    if (!isOurs || isAsBackedUp !== false) return [];
    const title = `restore CustomResourceDefinition ${name} from the backup`;
    return [{ id: `restore ${name}`, title, writes: [{ kind: 'restore', name }] }];
  });
}

/** An add-on that was disabled before the migration stays disabled, unless nothing else is there that could be started. */
function wasEnabled({ metadata }: KubernetesObject, observed: MigrationObservation): boolean {
  const isRecorded = metadata.annotations?.[BEFORE_MIGRATION_ANNOTATION] !== undefined;
  return isRecorded || workloadsOf(observed, 'upstream-controller').length === 0;
}

function enableAddOn(object: KubernetesObject): MigrationStep[] {
  if (readField(object.spec, 'enabled') === true) return [];
  const patch = { metadata: { annotations: { [BEFORE_MIGRATION_ANNOTATION]: null } }, spec: { enabled: true } };
  return [
    {
      id: `enable ${keyOf(object)}`,
      title: `enable the add-on ${keyOf(object)}, which installs Harvester's chart`,
      writes: [{ kind: 'patch', of: 'Addon', object, patch }],
    },
  ];
}

function startUpstream(observed: MigrationObservation): MigrationStep[] {
  const workloads = [...workloadsOf(observed, 'upstream-controller'), ...workloadsOf(observed, 'upstream-webhook')];
  if (workloads.some(({ role }) => role === 'upstream-controller')) return workloads.flatMap(startSteps);
  if (observed.addOns.length === 0) return [];
  const title = "wait until Harvester has installed its vm-dhcp-controller's chart";
  return [{ id: 'await chart', title, writes: [], waitsFor: 'the Deployment of the chart to exist' }];
}

function awaitPod(pool: KubernetesObject, pods: readonly KubernetesObject[]): MigrationStep[] {
  const key = keyOf(pool);
  if (readField(pool.spec, 'paused') === true || isBeingDeleted(pool)) return [];
  const pod = pods.find((one) => legacyPoolOf(one) === key && !isBeingDeleted(one));
  if (pod !== undefined && isReady(pod)) return [];
  const without = `kubectl -n ${pool.metadata.namespace} patch ippool ${pool.metadata.name} --type merge -p '{"spec":{"paused":true}}' goes on without it`;
  const waitsFor = `${pod === undefined ? `a pod for IPPool ${key}` : `Pod ${keyOf(pod)} to be ready`} (${without})`;
  return [{ id: `serve ${key}`, title: `wait until Harvester's agent serves IPPool ${key}`, writes: [], waitsFor }];
}

function isReady({ status }: KubernetesObject): boolean {
  return readList(status, 'conditions').some(
    (condition) => readText(condition, 'type') === 'Ready' && readText(condition, 'status') === 'True',
  );
}

function removeAgents({ agentDeployments, agentPods }: MigrationObservation): MigrationStep[] {
  return agentDeployments.filter(isOfGroup).flatMap((deployment) => {
    const group = deployment.metadata.name;
    const pods = podsOf(group, agentPods).length;
    return [
      {
        id: `remove agents ${keyOf(deployment)}`,
        title: `remove our agents: delete Deployment ${keyOf(deployment)}`,
        writes: isBeingDeleted(deployment) ? [] : [deletion('Deployment', deployment)],
        ...(pods > 0 && { waitsFor: `${describeCount(pods, 'pod')} of ${keyOf(deployment)} to end` }),
      },
    ];
  });
}

function podsOf(group: string, pods: readonly KubernetesObject[]): readonly KubernetesObject[] {
  return pods.filter(({ metadata }) => metadata.labels?.[AGENT_GROUP_LABEL] === group);
}

/** Last: as long as pods run, their Lease keeps them from leadership. */
function removeRights({ agentLeases, agentRights, agentPods }: MigrationObservation): MigrationStep[] {
  const objects = [...agentLeases, ...agentRights].filter(isOfGroup);
  if (objects.length === 0) return [];
  const pods = agentPods.filter(isOfGroup).length;
  return [
    {
      id: 'remove rights',
      title: `remove the Leases and rights of our agents: ${describeCount(objects.length, 'object')}`,
      writes: pods > 0 ? [] : objects.map((object) => deletion(object.kind as MigratedKind, object)),
      ...(pods > 0 && { waitsFor: `${describeCount(pods, 'pod')} of our agents to end` }),
    },
  ];
}

function deletion(of: MigratedKind, object: KubernetesObject): MigrationWrite {
  return { kind: 'delete', of, object };
}
