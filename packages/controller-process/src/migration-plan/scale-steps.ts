/** Steps that stop and start Deployments. The number of replicas before is recorded in an annotation. */
import { BEFORE_MIGRATION_ANNOTATION } from '@vmdhcp/ippool-api';
import { describeCount, type KubernetesObject, keyOf, readField } from '@vmdhcp/kube-runtime';
import type { ObservedWorkload, WorkloadRole } from './migration-observation.js';
import type { MigrationStep } from './migration-step.js';

const NAMES: Readonly<Record<WorkloadRole, string>> = {
  'upstream-controller': "Harvester's vm-dhcp-controller",
  'upstream-webhook': "Harvester's webhook",
  'own-controller': 'vmdhcp-controller',
  'own-webhook': 'the webhook of vmdhcp',
};

/** Empty if nothing of it runs. */
export function stopSteps({ role, deployment, pods }: ObservedWorkload): MigrationStep[] {
  const replicas = replicasOf(deployment);
  if (replicas === 0 && pods === 0) return [];
  const annotations = { [BEFORE_MIGRATION_ANNOTATION]: String(replicas) };
  const patch = { metadata: { annotations }, spec: { replicas: 0 } };
  return [
    {
      id: `stop ${keyOf(deployment)}`,
      title: `stop ${NAMES[role]}: scale Deployment ${keyOf(deployment)} to 0`,
      writes: replicas === 0 ? [] : [{ kind: 'patch', of: 'Deployment', object: deployment, patch }],
      waitsFor: `${describeCount(pods, 'pod')} of Deployment ${keyOf(deployment)} to end`,
    },
  ];
}

/** Empty if it runs. */
export function startSteps({ role, deployment }: ObservedWorkload): MigrationStep[] {
  const before = recordedReplicas(deployment);
  if (replicasOf(deployment) > 0 && isAvailable(deployment)) return [];
  const patch = { metadata: { annotations: { [BEFORE_MIGRATION_ANNOTATION]: null } }, spec: { replicas: before } };
  return [
    {
      id: `start ${keyOf(deployment)}`,
      title: `start ${NAMES[role]}: scale Deployment ${keyOf(deployment)} to ${before}`,
      writes: replicasOf(deployment) > 0 ? [] : [{ kind: 'patch', of: 'Deployment', object: deployment, patch }],
      waitsFor: `a pod of Deployment ${keyOf(deployment)} to be available`,
    },
  ];
}

/** Kubernetes runs one pod if the number is left out. */
export function replicasOf({ spec }: KubernetesObject): number {
  return Number(readField(spec, 'replicas') ?? 1);
}

function recordedReplicas({ metadata }: KubernetesObject): number {
  const recorded = Number(metadata.annotations?.[BEFORE_MIGRATION_ANNOTATION]);
  return Number.isInteger(recorded) && recorded > 0 ? recorded : 1;
}

export function isAvailable({ status }: KubernetesObject): boolean {
  return Number(readField(status, 'availableReplicas') ?? 0) > 0;
}
