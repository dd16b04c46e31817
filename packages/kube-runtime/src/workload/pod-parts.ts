/**
 * What the pods of all agents have in common, as data. It includes everything that an API server would fill in, so that a plan
 * compares what is desired with what is stored, and removes fields that were added by hand.
 */
import type { KubernetesObject, OwnerReference } from '../object/kubernetes-object.js';
import { ABSENT_CONTAINER_FIELDS, ABSENT_POD_FIELDS } from './absent-pod-fields.js';

type Fields = Readonly<Record<string, unknown>>;

/** The user of the images, which exists on no node. */
export const IMAGE_USER = 65_532;

/** What a pod is given beside its containers. */
export interface PodSettings {
  readonly serviceAccountName: string | undefined;
  /** Names of Secrets for pulling the image. */
  readonly imagePullSecrets: readonly string[];
  /** Undefined for the cluster's default. */
  readonly priorityClassName: string | undefined;
  readonly graceSeconds: number;
  readonly isOnHostNetwork: boolean;
}

/** @param further - fields of this pod, which replace those that all pods have. */
export function podSpec(settings: PodSettings, further: Fields): Fields {
  const { serviceAccountName, imagePullSecrets, priorityClassName, graceSeconds, isOnHostNetwork } = settings;
  return {
    ...ABSENT_POD_FIELDS,
    hostNetwork: isOnHostNetwork ? true : undefined,
    dnsPolicy: isOnHostNetwork ? 'ClusterFirstWithHostNet' : 'ClusterFirst',
    restartPolicy: 'Always',
    schedulerName: 'default-scheduler',
    serviceAccountName,
    serviceAccount: serviceAccountName,
    priorityClassName,
    terminationGracePeriodSeconds: graceSeconds,
    imagePullSecrets: imagePullSecrets.length === 0 ? undefined : imagePullSecrets.map((name) => ({ name })),
    ...further,
  };
}

/** How often and how patiently Kubernetes asks a container whether it is well. */
export interface HttpProbe {
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
  readonly initialDelaySeconds?: number;
}

/** A container of a program that has a status server. */
export interface ContainerSettings {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy: string | undefined;
  /** TCP, of /healthz, /readyz and /metrics. On the network of the node it is a port of the node. */
  readonly http: { readonly name: string; readonly port: number; readonly isOnHostNetwork: boolean };
  readonly liveness: HttpProbe;
  readonly readiness: HttpProbe;
  readonly securityContext: unknown;
}

/** @param further - fields of this container, which replace those that all containers have. */
export function containerSpec({ http, liveness, readiness, ...own }: ContainerSettings, further: Fields): Fields {
  const { name, port, isOnHostNetwork } = http;
  const probe = (path: string, times: HttpProbe) => ({ httpGet: { path, port, scheme: 'HTTP' }, successThreshold: 1, ...times });
  return {
    ...ABSENT_CONTAINER_FIELDS,
    ...own,
    ports: [{ name, containerPort: port, protocol: 'TCP', ...(isOnHostNetwork && { hostPort: port }) }],
    livenessProbe: probe('/healthz', liveness),
    readinessProbe: probe('/readyz', readiness),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'FallbackToLogsOnError',
    ...further,
  };
}

/** The image allows its Node these capabilities (file capabilities), so that the agent need not be root. */
export function unprivileged(capabilities: readonly string[]): Fields {
  return {
    runAsNonRoot: true,
    runAsUser: IMAGE_USER,
    runAsGroup: IMAGE_USER,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'], add: capabilities },
    seccompProfile: { type: 'RuntimeDefault' },
  };
}

/** A variable with a field of the pod. */
export function fieldVariable(name: string, fieldPath: string): Fields {
  return { name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } };
}

/** Replicas run on different nodes if there are enough. */
export function spreadOverNodes(matchLabels: Readonly<Record<string, string>>): readonly Fields[] {
  const topologyKey = 'kubernetes.io/hostname';
  return [{ maxSkew: 1, topologyKey, whenUnsatisfiable: 'ScheduleAnyway', labelSelector: { matchLabels } }];
}

/** When a node is lost, the pod is replaced elsewhere after this many seconds. */
export function leaveLostNodes(tolerationSeconds: number): readonly Fields[] {
  return ['not-ready', 'unreachable'].map((state) => ({
    key: `node.kubernetes.io/${state}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds,
  }));
}

/** What a Deployment is made of. */
export interface DeploymentParts {
  readonly namespace: string;
  readonly name: string;
  /** The labels of the Deployment and of its pods. */
  readonly labels: Readonly<Record<string, string>>;
  /** The labels that select the pods. */
  readonly selected: Readonly<Record<string, string>>;
  readonly owner?: OwnerReference;
  readonly replicas: number;
  readonly strategy: Fields;
  /** The annotations of the pods. */
  readonly annotations: Readonly<Record<string, string | undefined>>;
  readonly pod: Fields;
}

/** A Deployment with everything that an API server would fill in. */
export function deploymentOf(parts: DeploymentParts): KubernetesObject {
  const { namespace, name, labels, selected, owner, replicas, strategy, annotations, pod } = parts;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name, labels, ...(owner && { ownerReferences: [owner] }) },
    spec: {
      replicas,
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: 600,
      selector: { matchLabels: selected },
      strategy,
      template: { metadata: { labels, annotations }, spec: pod },
    },
  };
}
