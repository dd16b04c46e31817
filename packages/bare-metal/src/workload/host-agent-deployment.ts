/**
 * The Deployment of a ClusterAgent, as data: it includes everything that an API server would fill in. It has no settings of DHCP
 * and of management controllers: agents follow their ClusterAgent, so that a change of these restarts no pod.
 */
import { CLUSTER_AGENT_LABEL } from '@vmdhcp/ippool-api/bare-metal/keys';
import { CONTROLLER, MANAGED_BY_LABEL, MULTUS_NETWORKS_ANNOTATION } from '@vmdhcp/ippool-api/resources';
import {
  containerSpec,
  deploymentOf,
  fieldVariable,
  IMAGE_USER,
  type KubernetesObject,
  leaveLostNodes,
  type PortRange,
  podSpec,
  type RunningImage,
  spreadOverNodes,
  toOwnerReference,
  unprivileged,
} from '@vmdhcp/kube-runtime';
import { type HostAgentSettings, hostAgentName, hostAgentVolumeName } from './host-agent-settings.js';
import type { HostWorkload } from './read-host-workload.js';
import { multusNetworks } from './underlay.js';

export interface HostAgentParts {
  readonly workload: HostWorkload;
  /** The number of agents that can run at once. */
  readonly replicas: number;
  /** TCP port on which agents serve /healthz, /readyz and /metrics. */
  readonly httpPort: number;
  /** The image and user of agents that are kept. */
  readonly kept?: RunningImage | undefined;
}

const COMPONENT_LABEL = 'app.kubernetes.io/component';
const HOST_AGENT_CONTAINER = 'agent';
/** For agents with their own network. */
export const POD_HTTP_PORT = 8_080;
/** For agents on the network of the node, one for each ClusterAgent. */
export const NODE_HTTP_PORTS: PortRange = { first: 20_420, count: 2_000 };
/** The directory of an agent's leases, if it keeps them in a volume. */
const STATE_FOLDER = '/var/lib/vmdhcp';
const SECURITY_CONTEXT = unprivileged(['NET_BIND_SERVICE', 'NET_RAW', 'NET_ADMIN']);
/**
 * A directory of the node that the kubelet creates belongs to root, and fsGroup does not apply to it. The capabilities are the
 * same.
 */
const SECURITY_CONTEXT_OF_HOST_PATH = { ...SECURITY_CONTEXT, runAsNonRoot: false, runAsUser: 0, runAsGroup: 0 };
const RESOURCES = { requests: { cpu: '10m', memory: '96Mi' }, limits: { memory: '256Mi' } };
const LOST_NODE_SECONDS = 10;
const GRACE_SECONDS = 10;
const LIVENESS = { periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3, initialDelaySeconds: 5 };
const READINESS = { periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 3 };

/** Labels of every object of a ClusterAgent. */
export function hostAgentLabels(clusterAgent: string): Readonly<Record<string, string>> {
  return { [CLUSTER_AGENT_LABEL]: clusterAgent, [COMPONENT_LABEL]: 'bare-metal-agent', [MANAGED_BY_LABEL]: CONTROLLER };
}

/** The wanted Deployment, with its owner. */
export function toHostAgentDeployment(parts: HostAgentParts, settings: HostAgentSettings): KubernetesObject {
  const { workload, replicas } = parts;
  const { name, object } = workload;
  return deploymentOf({
    ...{ namespace: settings.namespace, name: hostAgentName(name), replicas },
    labels: hostAgentLabels(name),
    selected: { [CLUSTER_AGENT_LABEL]: name },
    owner: toOwnerReference(object),
    strategy: strategyOf(workload, settings),
    annotations: { [MULTUS_NETWORKS_ANNOTATION]: multusNetworks(workload) },
    pod: toPodSpec(parts, settings),
  });
}

/**
 * The old pod ends before the new one starts if both need one volume, or one port of a node. Otherwise the new one is ready
 * before the old one hands over.
 */
function strategyOf({ isOnHostNetwork }: HostWorkload, { leases }: HostAgentSettings): Readonly<Record<string, unknown>> {
  if (leases.kind !== 'api') return { type: 'Recreate', rollingUpdate: undefined };
  return { type: 'RollingUpdate', rollingUpdate: isOnHostNetwork ? BEFORE : AFTER };
}

const BEFORE = { maxUnavailable: 1, maxSurge: 0 };
const AFTER = { maxUnavailable: 0, maxSurge: 1 };

function toPodSpec(parts: HostAgentParts, settings: HostAgentSettings): Readonly<Record<string, unknown>> {
  const { name, isOnHostNetwork, nodeName, nodeAffinity } = parts.workload;
  const { imagePullSecrets, leases, priorityClassName } = settings;
  return podSpec(
    {
      ...{ serviceAccountName: hostAgentName(name), priorityClassName, imagePullSecrets, isOnHostNetwork },
      graceSeconds: GRACE_SECONDS,
    },
    {
      nodeName,
      affinity: nodeAffinity && { nodeAffinity },
      // Otherwise the user of the container could not write into its volume.
      securityContext: { fsGroup: leases.kind === 'pvc' ? IMAGE_USER : undefined },
      topologySpreadConstraints: spreadOverNodes({ [CLUSTER_AGENT_LABEL]: name }),
      tolerations: leaveLostNodes(LOST_NODE_SECONDS),
      volumes: volumesOf(name, settings),
      containers: [toContainer(parts, settings)],
    },
  );
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
  const securityContext = leases.kind === 'host-path' ? SECURITY_CONTEXT_OF_HOST_PATH : SECURITY_CONTEXT;
  return containerSpec(
    {
      ...{ name: HOST_AGENT_CONTAINER, imagePullPolicy, liveness: LIVENESS, readiness: READINESS },
      image: kept?.image ?? workload.image ?? settings.image,
      http: { name: 'http', port: httpPort, isOnHostNetwork: workload.isOnHostNetwork },
      securityContext: kept?.securityContext ?? securityContext,
    },
    {
      args: toArguments(parts, settings),
      env: [
        fieldVariable('POD_NAME', 'metadata.name'),
        fieldVariable('POD_NAMESPACE', 'metadata.namespace'),
        fieldVariable('POD_IP', 'status.podIP'),
        { name: 'CLUSTERAGENT_NAME', value: workload.name },
        // A variable, because an image of an earlier version refuses unknown options.
        { name: 'AGENT_POD_NETWORK', value: workload.isOnHostNetwork ? 'host' : 'own' },
        { name: 'HOST_STATUS_UPDATE_INTERVAL', value: String(settings.statusIntervalSeconds) },
      ],
      resources: RESOURCES,
      volumeMounts: leases.kind === 'api' ? undefined : [{ name: 'leases', mountPath: STATE_FOLDER }],
    },
  );
}

function toArguments({ workload, httpPort }: HostAgentParts, { leases }: HostAgentSettings): readonly string[] {
  return [
    'hosts',
    '--cluster-agent',
    workload.name,
    '--listen',
    // Listens only on the address that the kubelet uses; it may be IPv6.
    `$(POD_IP):${httpPort}`,
    '--leases',
    ...(leases.kind === 'api' ? ['api'] : ['directory', '--state', STATE_FOLDER]),
  ];
}
