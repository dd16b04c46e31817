/**
 * The way from Harvester's vm-dhcp-controller to this one, as a function of the observed state: a second run after a crash continues where the first
 * one ended. The order keeps DHCP in service. Harvester's agents answer until the new ones are able to. Its controller stops first, because it would
 * create its pods again; its webhook comes next, because without a server behind it the API server refuses every change of an IPPool. Its chart is
 * not removed before the last pool has moved: its ServiceAccount is that of its agents.
 */
import { BEFORE_MIGRATION_ANNOTATION } from '@vmdhcp/ippool-api';
import { isBeingDeleted, type KubernetesObject, keyOf, readConditions, readField, readText } from '@vmdhcp/kube-runtime';
import { legacyPoolOf } from '@vmdhcp/reconciler';
import { releaseLeases, takenLeases } from './lease-steps.js';
import type { MigrationObservation, ObservedWorkload, WorkloadRole } from './migration-observation.js';
import type { MigratedKind, MigrationStep } from './migration-step.js';
import { startSteps, stopSteps } from './scale-steps.js';
import { isUpstreamRegistration } from './upstream-objects.js';

/** @returns the steps, in order. Empty if everything has moved, or nothing of Harvester's vm-dhcp-controller exists. */
export function planMigration(observed: MigrationObservation): MigrationStep[] {
  const stops = [...workloadsOf(observed, 'upstream-controller'), ...workloadsOf(observed, 'upstream-webhook')].flatMap(
    stopSteps,
  );
  const moves = moveSteps(observed);
  const steps = [
    ...stops,
    ...removeRegistrations(observed, 'Harvester'),
    ...defineSteps(observed),
    ...releaseLeases(takenLeases(observed), observed.agentPods),
    ...(['own-controller', 'own-webhook'] as const).flatMap((role) => workloadsOf(observed, role)).flatMap(startSteps),
    ...moves,
    ...observed.addOns.flatMap(disableAddOn),
  ];
  return isMigrated(observed) ? [] : [...backUpSteps(observed), ...steps];
}

/** True if nothing of Harvester's exists, or all of it is stopped. */
function isMigrated(observed: MigrationObservation): boolean {
  const { workloads, addOns, registrations } = observed;
  const isUpstreamThere = workloads.some(({ role }) => role.startsWith('upstream')) || addOns.length > 0;
  const isAtRest =
    workloadsOf(observed, 'upstream-controller').flatMap(stopSteps).length === 0 &&
    workloadsOf(observed, 'upstream-webhook').flatMap(stopSteps).length === 0 &&
    upstreamRegistrations(registrations).length === 0 &&
    moveSteps(observed).length === 0 &&
    addOns.flatMap(disableAddOn).length === 0;
  // If the way back was interrupted, our Leases are taken or our programs stopped, whatever is left of Harvester's.
  const own = [...workloadsOf(observed, 'own-controller'), ...workloadsOf(observed, 'own-webhook')];
  const isStopped = own.some(({ deployment }) => deployment.metadata.annotations?.[BEFORE_MIGRATION_ANNOTATION] !== undefined);
  const isBegun = isUpstreamThere || isStopped || takenLeases(observed).length > 0;
  return isAtRest && (!isBegun || areOwnRunning(observed));
}

function areOwnRunning(observed: MigrationObservation): boolean {
  const own = [...workloadsOf(observed, 'own-controller'), ...workloadsOf(observed, 'own-webhook')];
  return own.flatMap(startSteps).length === 0 && takenLeases(observed).length === 0 && defineSteps(observed).length === 0;
}

export function workloadsOf({ workloads }: MigrationObservation, role: WorkloadRole): readonly ObservedWorkload[] {
  return workloads.filter((one) => one.role === role);
}

function backUpSteps({ hasBackup }: MigrationObservation): MigrationStep[] {
  if (hasBackup) return [];
  return [{ id: 'back up', title: 'write everything that changes into the backup file', writes: [{ kind: 'back-up' }] }];
}

/** Webhook configurations that Harvester's webhook registered. */
export function upstreamRegistrations(registrations: readonly KubernetesObject[]): readonly KubernetesObject[] {
  return registrations.filter((one) => isUpstreamRegistration(one) && !isOwnRegistration(one));
}

export function isOwnRegistration({ metadata }: KubernetesObject): boolean {
  return metadata.labels?.['app.kubernetes.io/managed-by'] === 'vmdhcp-controller';
}

/** Their process registers them again when it starts. */
export function removeRegistrations({ registrations }: MigrationObservation, owner: 'Harvester' | 'vmdhcp'): MigrationStep[] {
  const removed = owner === 'Harvester' ? upstreamRegistrations(registrations) : registrations.filter(isOwnRegistration);
  return removed.map((object) => {
    const of = object.kind as Extract<MigratedKind, `${string}WebhookConfiguration`>;
    return {
      id: `unregister ${of} ${object.metadata.name}`,
      title: `remove the webhook of ${owner}: delete ${of} ${object.metadata.name}`,
      writes: [{ kind: 'delete', of, object }],
    };
  });
}

function defineSteps({ definitions, missingDefinitions }: MigrationObservation): MigrationStep[] {
  const names = [
    ...definitions.filter(({ isOurs }) => !isOurs).map(({ definition }) => definition.metadata.name),
    ...missingDefinitions,
  ];
  if (names.length === 0) return [];
  return [{ id: 'define', title: `apply our definitions: ${names.join(', ')}`, writes: [{ kind: 'define' }] }];
}

function moveSteps({ pools, agentPods }: MigrationObservation): MigrationStep[] {
  const podsOf = Map.groupBy(agentPods, (pod) => legacyPoolOf(pod) ?? '');
  return pools.flatMap((pool) => {
    const key = keyOf(pool);
    const pods = podsOf.get(key) ?? [];
    if (hasMoved(pool, pods)) return [];
    const [pod] = pods;
    const title = `move IPPool ${key} to the new agents${pod === undefined ? '' : `, which replace Pod ${keyOf(pod)}`}`;
    return [{ id: `move ${key}`, title, writes: [], waitsFor: describeMove(pool, pod) }];
  });
}

/**
 * Our controller removes the name of the pod when the new agents serve. A pool that was paused meanwhile is served by nobody. A pod on a node that is
 * lost stays in Terminating.
 */
function hasMoved({ spec, status }: KubernetesObject, pods: readonly KubernetesObject[]): boolean {
  if (readField(spec, 'paused') === true) return pods.every(isBeingDeleted);
  if (readField(status, 'agentPodRef') !== undefined) return false;
  return pods.length === 0 || (readField(status, 'agentDeploymentRef') !== undefined && pods.every(isBeingDeleted));
}

function describeMove(pool: KubernetesObject, pod: KubernetesObject | undefined): string {
  const ready = readConditions(pool.status).find(({ type }) => type === 'AgentReady');
  const reported = ready?.status === 'False' && ready.message !== undefined ? ` (${ready.message})` : '';
  const agents = readText(pool.status, 'agentDeploymentRef', 'name');
  if (agents === undefined) return `vmdhcp-controller to deploy agents for IPPool ${keyOf(pool)}${reported}`;
  if (pod === undefined) return `the agents ${agents} to serve IPPool ${keyOf(pool)}${reported}`;
  return `the agents ${agents} to be ready and Pod ${keyOf(pod)} to end${reported}`;
}

/** Harvester uninstalls the chart of an add-on that is disabled; a later upgrade of Harvester would start its controller again otherwise. */
function disableAddOn(object: KubernetesObject): MigrationStep[] {
  if (readField(object.spec, 'enabled') !== true) return [];
  const patch = { metadata: { annotations: { [BEFORE_MIGRATION_ANNOTATION]: 'enabled' } }, spec: { enabled: false } };
  return [
    {
      id: `disable ${keyOf(object)}`,
      title: `disable the add-on ${keyOf(object)}, which removes Harvester's chart`,
      writes: [{ kind: 'patch', of: 'Addon', object, patch }],
    },
  ];
}
