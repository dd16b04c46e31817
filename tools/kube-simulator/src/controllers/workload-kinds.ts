/** The built-in kinds that controllers work on, as far as they read them. */
import type { ApiObject, JsonObject, ObjectMeta } from '../api-object.js';
import type { LabelSelector } from '../label-selector.js';

export type StringMap = { readonly [key: string]: string };

export interface OwnerReference extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface Meta extends ObjectMeta {
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly finalizers?: readonly string[];
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface KubeObject extends ApiObject {
  readonly metadata: Meta;
}

export interface Condition extends JsonObject {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastUpdateTime?: string;
  readonly lastTransitionTime?: string | null;
}

export interface Container extends JsonObject {
  readonly name: string;
  readonly image?: string;
  readonly resources?: { readonly requests?: StringMap; readonly limits?: StringMap };
}

export interface Toleration extends JsonObject {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

export interface Taint extends JsonObject {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

export interface NodeSelectorRequirement extends JsonObject {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface NodeSelectorTerm extends JsonObject {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

export interface PodAffinityTerm extends JsonObject {
  readonly labelSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly topologyKey: string;
}

export interface Affinity extends JsonObject {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] };
  };
  readonly podAntiAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] };
}

export interface PodSpec extends JsonObject {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly nodeName?: string;
  readonly nodeSelector?: StringMap;
  readonly affinity?: Affinity;
  readonly tolerations?: readonly Toleration[];
  readonly hostNetwork?: boolean;
  readonly restartPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
}

export interface PodStatus extends JsonObject {
  readonly phase?: string;
  readonly conditions?: readonly Condition[];
  readonly containerStatuses?: readonly JsonObject[];
}

export interface Pod extends KubeObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export interface PodTemplate extends JsonObject {
  readonly metadata?: { readonly labels?: StringMap; readonly annotations?: StringMap };
  readonly spec: PodSpec;
}

export interface ReplicaSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
  };
  readonly status?: ReplicaSetStatus;
}

export interface ReplicaSetStatus extends JsonObject {
  readonly replicas?: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
}

export interface RollingUpdate extends JsonObject {
  readonly maxSurge?: number | string;
  readonly maxUnavailable?: number | string;
}

export interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly progressDeadlineSeconds?: number;
    readonly selector: LabelSelector;
    readonly strategy?: { readonly type?: string; readonly rollingUpdate?: RollingUpdate };
    readonly template: PodTemplate;
  };
  readonly status?: DeploymentStatus;
}

export interface DeploymentStatus extends JsonObject {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly conditions?: readonly Condition[];
}

export interface DaemonSet extends KubeObject {
  readonly spec: {
    readonly minReadySeconds?: number;
    readonly selector: LabelSelector;
    readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: RollingUpdate };
    readonly template: PodTemplate;
  };
  readonly status?: JsonObject;
}

/** A template that a DaemonSet had, with a number. */
export interface ControllerRevision extends KubeObject {
  readonly revision?: number;
}

export interface Node extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] };
  readonly status?: JsonObject & {
    readonly conditions?: readonly Condition[];
    readonly capacity?: StringMap;
    readonly allocatable?: StringMap;
  };
}

/** The reference that makes `owner` the controller of an object. */
export const controlledBy = ({ apiVersion, kind, metadata }: KubeObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

/** The controller of an object; undefined if it has none. */
export const controllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find((reference) => reference.controller === true);

/** The time as objects store it: whole seconds. */
export const toTime = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;

const conditionIs = (pod: Pod, type: string, status: string): boolean =>
  pod.status?.conditions?.some((condition) => condition.type === type && condition.status === status) ?? false;

export const isReady = (pod: Pod): boolean => conditionIs(pod, 'Ready', 'True');

/** Ready for at least this number of seconds. */
export const isAvailable = (pod: Pod, minReadySeconds: number, now: Date): boolean => {
  if (!isReady(pod)) return false;
  if (minReadySeconds === 0) return true;
  const since = pod.status?.conditions?.find((condition) => condition.type === 'Ready')?.lastTransitionTime;
  return typeof since === 'string' && Date.parse(since) + minReadySeconds * 1000 <= now.getTime();
};

/** All its containers have ended and none will be restarted. */
export const isFinished = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

export const isDeleting = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined;
