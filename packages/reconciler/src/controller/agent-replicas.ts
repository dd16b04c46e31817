import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';

/** Pods of a group of agents. */
export interface AgentReplicas {
  readonly desired: number;
  readonly ready: number;
}

/** The replicas of each group with a Deployment, by name. */
export function agentReplicasOf(
  groups: Iterable<readonly [name: string, { readonly deployment?: KubernetesObject | undefined }]>,
): ReadonlyMap<string, AgentReplicas> {
  return new Map(
    [...groups].flatMap(([name, { deployment }]) => (deployment === undefined ? [] : [[name, replicasOf(deployment)]])),
  );
}

function replicasOf({ spec, status }: KubernetesObject): AgentReplicas {
  const [desired, ready] = [readField(spec, 'replicas') ?? 1, readField(status, 'readyReplicas') ?? 0];
  return { desired: Number(desired), ready: Number(ready) };
}
