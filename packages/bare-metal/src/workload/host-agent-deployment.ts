/**
 * The Deployment of a ClusterAgent, as data: everything that an API server would fill in is written out. Settings of DHCP and of management controllers are not in it: agents
 * follow their ClusterAgent, so that a change of these restarts no pod.
 */
import { CLUSTER_AGENT_LABEL } from '@vmdhcp/ippool-api/bare-metal/keys';
import { CONTROLLER, MANAGED_BY_LABEL, MULTUS_NETWORKS_ANNOTATION } from '@vmdhcp/ippool-api/resources';
import type { PortRange } from '@vmdhcp/kube-runtime';
import { ABSENT_CONTAINER_FIELDS, ABSENT_POD_FIELDS, type KubernetesObject, toOwnerReference } from '@vmdhcp/kube-runtime';
import { type HostAgentSettings, hostAgentName, hostAgentVolumeName } from './host-agent-settings.js';
import type { HostWorkload } from './read-host-workload.js';
import { multusNetworks } from './underlay.js';

export interface HostAgentParts {
  readonly workload: HostWorkload;
  /** After what can run at once was taken into account. */
  readonly replicas: number;
  /** TCP port on which agents serve /healthz, /readyz and /metrics. */
  readonly httpPort: number;
  /** Of agents that are kept as they are. */
  readonly kept?: { readonly image: string; readonly securityContext: unknown } | undefined;
}

const COMPONENT_LABEL = 'app.kubernetes.io/component';
const HOST_AGENT_CONTAINER = 'agent';
/** Of agents with a network of their own. */
export const POD_HTTP_PORT = 8_080;
/** Of agents on the network of the node, one for each ClusterAgent. */
export const NODE_HTTP_PORTS: PortRange = { first: 20_420, count: 2_000 };
/** Where an agent keeps its leases, if it keeps them in a volume. */
const STATE_FOLDER = '/var/lib/vmdhcp';
/** Whom the images are made for: an account that exists on no node. */
const IMAGE_USER = 65_532;
/** The image allows its Node these capabilities (file capabilities), so that the agent need not be root. */
const SECURITY_CONTEXT = {
  runAsNonRoot: true,
  runAsUser: IMAGE_USER,
  runAsGroup: IMAGE_USER,
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE', 'NET_RAW', 'NET_ADMIN'] },
  seccompProfile: { type: 'RuntimeDefault' },
};
/** A folder of the node that the kubelet creates belongs to root, and fsGroup does not reach it. The capabilities are the same. */
const SECURITY_CONTEXT_OF_HOST_PATH = { ...SECURITY_CONTEXT, runAsNonRoot: false, runAsUser: 0, runAsGroup: 0 };
const RESOURCES = { requests: { cpu: '10m', memory: '96Mi' }, limits: { memory: '256Mi' } };
/** A node that is lost is not waited for: the pod is replaced elsewhere. */
const LOST_NODE_SECONDS = 10;
const GRACE_SECONDS = 10;

/** Labels of every object of a ClusterAgent. */
export function hostAgentLabels(clusterAgent: string): Readonly<Record<string, string>> {
  return { [CLUSTER_AGENT_LABEL]: clusterAgent, [COMPONENT_LABEL]: 'bare-metal-agent', [MANAGED_BY_LABEL]: CONTROLLER };
}

/** The Deployment as it should be, with its owner. */
export function toHostAgentDeployment(parts: HostAgentParts, settings: HostAgentSettings): KubernetesObject {
  const { name, object } = parts.workload;
  const labels = hostAgentLabels(name);
  const networks = multusNetworks(parts.workload);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      namespace: settings.namespace,
      name: hostAgentName(name),
      labels,
      ownerReferences: [toOwnerReference(object)],
    },
    spec: {
      replicas: parts.replicas,
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: 600,
      selector: { matchLabels: { [CLUSTER_AGENT_LABEL]: name } },
      strategy: strategyOf(parts.workload, settings),
      template: {
        metadata: { labels, annotations: { [MULTUS_NETWORKS_ANNOTATION]: networks } },
        spec: toPodSpec(parts, settings),
      },
    },
  };
}

/** Of two pods of a volume, or of a port of one node, the old one ends before the new one starts. Elsewhere the new one is warm before the old one hands over. */
function strategyOf({ isOnHostNetwork }: HostWorkload, { leases }: HostAgentSettings): Readonly<Record<string, unknown>> {
  if (leases.kind !== 'api') return { type: 'Recreate', rollingUpdate: undefined };
  return { type: 'RollingUpdate', rollingUpdate: isOnHostNetwork ? BEFORE : AFTER };
}

const BEFORE = { maxUnavailable: 1, maxSurge: 0 };
const AFTER = { maxUnavailable: 0, maxSurge: 1 };

function toPodSpec(parts: HostAgentParts, settings: HostAgentSettings): Readonly<Record<string, unknown>> {
  const { name, isOnHostNetwork, nodeName, nodeAffinity } = parts.workload;
  const { imagePullSecrets, leases, priorityClassName } = settings;
  const account = hostAgentName(name);
  return {
    ...ABSENT_POD_FIELDS,
    restartPolicy: 'Always',
    hostNetwork: isOnHostNetwork ? true : undefined,
    dnsPolicy: isOnHostNetwork ? 'ClusterFirstWithHostNet' : 'ClusterFirst',
    schedulerName: 'default-scheduler',
    serviceAccountName: account,
    serviceAccount: account,
    priorityClassName,
    terminationGracePeriodSeconds: GRACE_SECONDS,
    imagePullSecrets: imagePullSecrets.length === 0 ? undefined : imagePullSecrets.map((one) => ({ name: one })),
    nodeName,
    affinity: nodeAffinity && { nodeAffinity },
    // Else the user of the container could not write into its volume.
    securityContext: { fsGroup: leases.kind === 'pvc' ? IMAGE_USER : undefined },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { [CLUSTER_AGENT_LABEL]: name } },
      },
    ],
    tolerations: ['not-ready', 'unreachable'].map((state) => ({
      key: `node.kubernetes.io/${state}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: LOST_NODE_SECONDS,
    })),
    volumes: volumesOf(name, settings),
    containers: [toContainer(parts, settings)],
  };
}

function volumesOf(clusterAgent: string, { leases }: HostAgentSettings): readonly object[] | undefined {
  switch (leases.kind) {
    case 'api':
      return undefined;
    case 'host-path':
      return [{ name: 'leases', hostPath: { path: `${leases.path}/${clusterAgent}`, type: 'DirectoryOrCreate' } }];
    case 'pvc':
      return [{ name: 'leases', persistentVolumeClaim: { claimName: hostAgentVolumeName(clusterAgent) } }];
  }
}

function toContainer(parts: HostAgentParts, settings: HostAgentSettings): Readonly<Record<string, unknown>> {
  const { workload, httpPort, kept } = parts;
  const { leases, imagePullPolicy } = settings;
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } });
  const hostPort = workload.isOnHostNetwork ? { hostPort: httpPort } : {};
  return {
    ...ABSENT_CONTAINER_FIELDS,
    name: HOST_AGENT_CONTAINER,
    image: kept?.image ?? workload.image ?? settings.image,
    imagePullPolicy,
    args: toArguments(parts, settings),
    env: [
      field('POD_NAME', 'metadata.name'),
      field('POD_NAMESPACE', 'metadata.namespace'),
      field('POD_IP', 'status.podIP'),
      { name: 'CLUSTERAGENT_NAME', value: workload.name },
      // A variable, as an image of an earlier version refuses options that it does not know.
      { name: 'AGENT_POD_NETWORK', value: workload.isOnHostNetwork ? 'host' : 'own' },
      { name: 'HOST_STATUS_UPDATE_INTERVAL', value: String(settings.statusIntervalSeconds) },
    ],
    // On the network of the node every container port is one of the node.
    ports: [{ name: 'http', containerPort: httpPort, protocol: 'TCP', ...hostPort }],
    resources: RESOURCES,
    livenessProbe: probe('/healthz', { periodSeconds: 10, failureThreshold: 3, initialDelaySeconds: 5 }),
    readinessProbe: probe('/readyz', { periodSeconds: 1, failureThreshold: 3 }),
    volumeMounts: leases.kind === 'api' ? undefined : [{ name: 'leases', mountPath: STATE_FOLDER }],
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: kept?.securityContext ?? (leases.kind === 'host-path' ? SECURITY_CONTEXT_OF_HOST_PATH : SECURITY_CONTEXT),
  };

  function probe(path: string, times: Readonly<Record<string, number>>): object {
    return { httpGet: { path, port: httpPort, scheme: 'HTTP' }, timeoutSeconds: 1, successThreshold: 1, ...times };
  }
}

function toArguments({ workload, httpPort }: HostAgentParts, { leases }: HostAgentSettings): readonly string[] {
  return [
    'hosts',
    '--cluster-agent',
    workload.name,
    '--listen',
    // On the address that the kubelet uses, and on no other; it may be IPv6.
    `$(POD_IP):${httpPort}`,
    '--leases',
    ...(leases.kind === 'api' ? ['api'] : ['directory', '--state', STATE_FOLDER]),
  ];
}
