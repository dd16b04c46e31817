/** Finds what prevents a Deployment from having all its pods, and says what to do about it. */
import { type ConditionState, readConditions } from '../object/conditions.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { readText } from '../object/read-field.js';

interface RolloutTrouble extends Pick<ConditionState, 'reason' | 'message'> {
  readonly reason: 'FailedCreate' | 'RolloutStuck';
  readonly message: string;
}

/** What an administrator changes when the API server refuses the pods; each is the end of a sentence. */
export interface RolloutRemedies {
  /** Why the pods need the Pod Security level privileged. */
  readonly privileged: string;
  /** What to do about a missing ServiceAccount, or where to name another one. */
  readonly serviceAccount: string;
  /** Where to name another PriorityClass. */
  readonly priorityClass: string;
  /** Where to request less. */
  readonly quota: string;
}

/** The maximum length of the API server's message; that of a policy may be long. */
const MOST_CHARACTERS = 500;

/**
 * Undefined if nothing is known to prevent its pods from being created. Existing pods that do not run report the cause
 * themselves.
 */
export function rolloutTrouble(deployment: KubernetesObject | undefined, remedies: RolloutRemedies): RolloutTrouble | undefined {
  if (deployment === undefined) return undefined;
  const conditions = readConditions(deployment.status);
  const failure = conditions.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  if (failure !== undefined) return toFailedCreate(deployment, failure.message ?? '', remedies);
  const progress = conditions.find(({ type, status }) => type === 'Progressing' && status === 'False');
  return progress?.reason === 'ProgressDeadlineExceeded' ? toStuck(deployment, progress.message ?? '') : undefined;
}

function toFailedCreate(deployment: KubernetesObject, cause: string, remedies: RolloutRemedies): RolloutTrouble {
  const message = `pods of Deployment ${nameOf(deployment)} cannot be created: ${shortened(cause)}; ${remedyFor(cause, deployment, remedies)}`;
  return { reason: 'FailedCreate', message };
}

function toStuck(deployment: KubernetesObject, cause: string): RolloutTrouble {
  const { namespace, name } = deployment.metadata;
  const look = `look at its pods: kubectl -n ${namespace} describe deployment ${name}`;
  return {
    reason: 'RolloutStuck',
    message: `the rollout of Deployment ${nameOf(deployment)} is stuck: ${shortened(cause)} ${look}`,
  };
}

function remedyFor(cause: string, { metadata, spec }: KubernetesObject, remedies: RolloutRemedies): string {
  const { namespace, name } = metadata;
  if (/violates PodSecurity/i.test(cause)) {
    return `${remedies.privileged}, which needs the Pod Security level privileged: kubectl label --overwrite namespace ${namespace} pod-security.kubernetes.io/enforce=privileged`;
  }
  if (/serviceaccount "?[^" ]*"? not found/i.test(cause)) {
    const account = readText(spec, 'template', 'spec', 'serviceAccountName') ?? 'default';
    return `create the ServiceAccount ${namespace}/${account} ${remedies.serviceAccount}`;
  }
  const priorityClass = /no PriorityClass with name (\S+) was found/i.exec(cause)?.[1];
  if (priorityClass !== undefined) {
    return `create the PriorityClass ${priorityClass}, or name another one (${remedies.priorityClass})`;
  }
  return (
    remedyForQuota(cause, namespace, remedies) ??
    `correct that, and the pods are created; kubectl -n ${namespace} describe deployment ${name} has details`
  );
}

function remedyForQuota(cause: string, namespace: string | undefined, remedies: RolloutRemedies): string | undefined {
  const [, quota] = /(?:exceeded|failed) quota: ([^,: ]+)/i.exec(cause) ?? [];
  if (quota !== undefined) {
    return `raise ResourceQuota ${quota} of namespace ${namespace}, or request less (${remedies.quota})`;
  }
  if (!/insufficient quota to match these scopes/i.test(cause)) return undefined;
  return `namespace ${namespace} has no ResourceQuota that allows this PriorityClass: add one, or name another (${remedies.priorityClass})`;
}

function nameOf({ metadata }: KubernetesObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function shortened(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)} ...`;
}
