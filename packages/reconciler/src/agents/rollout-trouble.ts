/** What keeps a Deployment from having its pods, and what to do about it. */
import { type ConditionState, type KubernetesObject, readConditions, readText } from '@vmdhcp/kube-runtime';

interface RolloutTrouble extends Pick<ConditionState, 'reason' | 'message'> {
  readonly reason: 'FailedCreate' | 'RolloutStuck';
  readonly message: string;
}

/** The maximum octets of the API server's message; that of a policy may be long. */
const MOST_CHARACTERS = 500;

/** Undefined if nothing is known to prevent the creation of its pods. Existing pods that do not run report their own reason. */
export function rolloutTrouble(deployment: KubernetesObject | undefined): RolloutTrouble | undefined {
  if (deployment === undefined) return undefined;
  const conditions = readConditions(deployment.status);
  const failure = conditions.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  if (failure !== undefined) return toFailedCreate(deployment, failure.message ?? '');
  const progress = conditions.find(({ type, status }) => type === 'Progressing' && status === 'False');
  return progress?.reason === 'ProgressDeadlineExceeded' ? toStuck(deployment, progress.message ?? '') : undefined;
}

function toFailedCreate(deployment: KubernetesObject, cause: string): RolloutTrouble {
  const message = `pods of Deployment ${nameOf(deployment)} cannot be created: ${shortened(cause)}; ${remedyFor(cause, deployment)}`;
  return { reason: 'FailedCreate', message };
}

function toStuck(deployment: KubernetesObject, cause: string): RolloutTrouble {
  const { namespace, name } = deployment.metadata;
  const look = `look at its pods: kubectl -n ${namespace} describe deployment ${name}`;
  return {
    reason: 'RolloutStuck',
    message: `the rollout of Deployment ${nameOf(deployment)} goes no further: ${shortened(cause)} ${look}`,
  };
}

function remedyFor(cause: string, { metadata, spec }: KubernetesObject): string {
  const { namespace, name } = metadata;
  if (/violates PodSecurity/i.test(cause)) {
    return `agents need NET_ADMIN and NET_RAW, which need the Pod Security level privileged: kubectl label --overwrite namespace ${namespace} pod-security.kubernetes.io/enforce=privileged`;
  }
  if (/serviceaccount "?[^" ]*"? not found/i.test(cause)) {
    const account = readText(spec, 'template', 'spec', 'serviceAccountName') ?? 'default';
    return `create the ServiceAccount ${namespace}/${account} with the rights of agents (as in manifests/vmdhcp-unified.yaml), or name another one (--service-account-name)`;
  }
  const priorityClass = /no PriorityClass with name (\S+) was found/i.exec(cause)?.[1];
  if (priorityClass !== undefined) {
    return `create the PriorityClass ${priorityClass}, or name another one (--agent-priority-class, "" for none)`;
  }
  return (
    remedyForQuota(cause, namespace) ??
    `correct that, and the pods are made; kubectl -n ${namespace} describe deployment ${name} has details`
  );
}

function remedyForQuota(cause: string, namespace: string | undefined): string | undefined {
  const [, quota] = /(?:exceeded|failed) quota: ([^,: ]+)/i.exec(cause) ?? [];
  if (quota !== undefined) {
    return `raise ResourceQuota ${quota} of namespace ${namespace}, or ask for less (--agent-replicas, --agent-memory-limit)`;
  }
  if (!/insufficient quota to match these scopes/i.test(cause)) return undefined;
  return `namespace ${namespace} has no ResourceQuota that allows this PriorityClass: add one, or name another (--agent-priority-class, "" for none)`;
}

function nameOf({ metadata }: KubernetesObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function shortened(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)} ...`;
}
