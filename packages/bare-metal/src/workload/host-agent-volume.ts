/** The volume in which the agent of a ClusterAgent keeps its leases. */
import { type KubernetesObject, toOwnerReference } from '@vmdhcp/kube-runtime';
import { hostAgentLabels } from './host-agent-deployment.js';
import { type HostAgentSettings, hostAgentVolumeName } from './host-agent-settings.js';
import type { HostWorkload } from './read-host-workload.js';

/** Undefined if leases are kept elsewhere. */
export function toHostAgentVolume(
  workload: HostWorkload,
  { namespace, leases }: HostAgentSettings,
): KubernetesObject | undefined {
  if (leases.kind !== 'pvc') return undefined;
  const { size, storageClass } = leases;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      namespace,
      name: hostAgentVolumeName(workload.name),
      labels: { ...hostAgentLabels(workload.name) },
      ownerReferences: [toOwnerReference(workload.object)],
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(storageClass !== undefined && { storageClassName: storageClass }),
      resources: { requests: { storage: size } },
    },
  };
}
