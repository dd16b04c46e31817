/** The Deployment of a group of pools, as data: everything that an API server would fill in is written out. */

import {
  AGENT_GROUP_LABEL,
  AGENT_LABEL,
  AGENT_LABEL_VALUE,
  AGENT_LEASE_VARIABLE,
  AGENT_NETWORK_CONFIGS_VARIABLE,
  type AgentNetworkConfig,
  GROUP,
  IPPOOL_NAME_LABEL,
  IPPOOL_NAMESPACE_LABEL,
  IPPOOL_REFS_VARIABLE,
} from '@vmdhcp/ippool-api';
import { CONTROLLER, MANAGED_BY_LABEL, MULTUS_NETWORKS_ANNOTATION } from '@vmdhcp/ippool-api/resources';
import {
  compareText,
  containerSpec,
  deploymentOf,
  fieldVariable,
  type KubernetesObject,
  leaveLostNodes,
  podSpec,
  spreadOverNodes,
  unprivileged,
} from '@vmdhcp/kube-runtime';
import type { NetworkPlacement } from '../network/network-placement.js';
import { type PoolForAgents, toAgentNetworkConfigs, toMultusNetworks } from './pool-for-agents.js';
import { perPoolGroupName } from './topology.js';

export const AGENT_CONTAINER = 'agent';
/** What the pods of agents are made of. */
export interface AgentPodSettings {
  readonly namespace: string;
  readonly image: string;
  readonly imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  /** Names of Secrets. */
  readonly imagePullSecrets: readonly string[];
  /** Undefined if each group has its own, with the group's name. */
  readonly serviceAccountName?: string | undefined;
  /** Undefined for the cluster's default. */
  readonly priorityClassName: string | undefined;
  readonly replicas: number;
  /** Requests, as Kubernetes quantities; the memory is also the limit. */
  readonly resources: { readonly cpu: string; readonly memory: string; readonly memoryLimit: string };
  /** How long the others wait for a missing replica. */
  readonly leaseSeconds: number;
  /** True if agents only report what they would serve, but serve nothing. */
  readonly dryRun: boolean;
  /** True if agents show their leases over HTTP. */
  readonly showsLeases?: boolean;
}

interface AgentDeploymentParts {
  /** Also the name of its Lease. */
  readonly group: string;
  /** Undefined for any node. */
  readonly placement: NetworkPlacement | undefined;
  /** By name: additional resource requests of the container; 0 to remove one. */
  readonly resources?: ReadonlyMap<string, number>;
  readonly pools: readonly PoolForAgents[];
  readonly image: string;
  /** The security context of the container; undefined for the one that the images of this version need. */
  readonly securityContext?: unknown;
}

const HTTP_PORT = 8080;
const SECURITY_CONTEXT = unprivileged(['NET_BIND_SERVICE', 'NET_RAW', 'NET_ADMIN']);
const LOST_NODE_SECONDS = 10;
/** A stopped agent hands over in a fraction of a second. */
const GRACE_SECONDS = 10;
const LIVENESS = { periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3, initialDelaySeconds: 5 };
const READINESS = { periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 3 };

/** The Deployment of a group of pools, as it should be: everything that an API server would fill in is written out. */
export function toAgentDeployment(parts: AgentDeploymentParts, settings: AgentPodSettings): KubernetesObject {
  const { group, placement, pools } = parts;
  const { namespace, replicas, serviceAccountName = group, priorityClassName, imagePullSecrets } = settings;
  const selected = { [AGENT_LABEL]: AGENT_LABEL_VALUE, [AGENT_GROUP_LABEL]: group };
  const configs = toAgentNetworkConfigs(pools);
  return deploymentOf({
    ...{ namespace, name: group, replicas, selected },
    labels: { ...selected, [MANAGED_BY_LABEL]: CONTROLLER, ...poolLabels(group, pools) },
    // The new pod is warm before the old one hands over.
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    annotations: { [MULTUS_NETWORKS_ANNOTATION]: toMultusNetworks(configs) },
    pod: podSpec(
      { serviceAccountName, priorityClassName, imagePullSecrets, graceSeconds: GRACE_SECONDS, isOnHostNetwork: false },
      {
        securityContext: {},
        affinity: placement && toAffinity(placement),
        topologySpreadConstraints: spreadOverNodes(selected),
        tolerations: leaveLostNodes(LOST_NODE_SECONDS),
        containers: [toContainer(parts, configs, settings)],
      },
    ),
  });
}

function toContainer(
  { group, image, securityContext = SECURITY_CONTEXT, resources: ofNetworks = new Map() }: AgentDeploymentParts,
  configs: readonly AgentNetworkConfig[],
  { imagePullPolicy, resources, leaseSeconds, dryRun, showsLeases = false }: AgentPodSettings,
): Readonly<Record<string, unknown>> {
  // Kubernetes requires equal requests and limits for extended resources.
  const marked = Object.fromEntries([...ofNetworks].map(([name, count]) => [name, count === 0 ? undefined : String(count)]));
  return containerSpec(
    {
      ...{ name: AGENT_CONTAINER, image, imagePullPolicy, securityContext, liveness: LIVENESS, readiness: READINESS },
      http: { name: 'metrics', port: HTTP_PORT, isOnHostNetwork: false },
    },
    {
      // On the interface that has the pod's address, and on no other; the address may be IPv6.
      args: [
        ...['serve', '--http', `$(POD_IP):${HTTP_PORT}`, '--lease-seconds', String(leaseSeconds)],
        ...(dryRun ? ['--dry-run'] : []),
        ...(showsLeases ? ['--enable-cache-dump-api'] : []),
      ],
      env: [
        fieldVariable('POD_NAME', 'metadata.name'),
        fieldVariable('POD_NAMESPACE', 'metadata.namespace'),
        fieldVariable('POD_IP', 'status.podIP'),
        fieldVariable('VM_DHCP_AGENT_NAME', 'metadata.name'),
        { name: AGENT_LEASE_VARIABLE, value: group },
        { name: AGENT_NETWORK_CONFIGS_VARIABLE, value: JSON.stringify(configs) },
        { name: IPPOOL_REFS_VARIABLE, value: JSON.stringify(configs.map(({ ipPoolRef }) => ipPoolRef)) },
      ],
      resources: {
        requests: { cpu: resources.cpu, memory: resources.memory, ...marked },
        limits: { memory: resources.memoryLimit, ...marked },
      },
    },
  );
}

/** Only nodes with the network can attach a pod to it. Undefined if any node will do, or a resource decides. */
function toAffinity({ clusterNetwork, nodeSelector }: NetworkPlacement): Readonly<Record<string, unknown>> | undefined {
  const labels = { ...nodeSelector, ...(clusterNetwork !== undefined && { [`${GROUP}/${clusterNetwork}`]: 'true' }) };
  const matchExpressions = Object.entries(labels)
    .toSorted(([one], [other]) => compareText(one, other))
    .map(([key, value]) => ({ key, operator: 'In', values: [value] }));
  if (matchExpressions.length === 0) return undefined;
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } } };
}

/** Upstream's back reference, for agents of one pool whose names are short enough for labels. */
function poolLabels(group: string, [pool]: readonly PoolForAgents[]): Readonly<Record<string, string>> {
  if (pool === undefined || group !== perPoolGroupName(pool.key)) return {};
  const [namespace = '', name = ''] = pool.key.split('/', 2);
  return name.length > 63 ? {} : { [IPPOOL_NAMESPACE_LABEL]: namespace, [IPPOOL_NAME_LABEL]: name };
}
