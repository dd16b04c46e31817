/** Builds the Deployment of a group of pools, with all defaults of an API server written out. */
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
import { compareText, type KubernetesObject } from '@vmdhcp/kube-runtime';
import type { NetworkPlacement } from '../network/network-placement.js';
import { ABSENT_CONTAINER_FIELDS, ABSENT_POD_FIELDS } from './absent-pod-fields.js';
import { type PoolForAgents, toAgentNetworkConfigs, toMultusNetworks } from './pool-for-agents.js';
import { perPoolGroupName } from './topology.js';

/** On the pods: the networks that Multus attaches. */
export const MULTUS_NETWORKS_ANNOTATION = 'k8s.v1.cni.cncf.io/networks';
export const AGENT_CONTAINER = 'agent';
/** On objects that the controller creates, not a manifest or a chart. */
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
export const CONTROLLER = 'vm-dhcp-controller';

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
/** The user of the images: an account that exists on no node. */
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
/** Do not wait for a lost node: the pod is replaced elsewhere, and takes part in the election there. */
const LOST_NODE_SECONDS = 10;
/** A stopped agent hands over in a fraction of a second. */
const GRACE_SECONDS = 10;

/** The desired Deployment of a group of pools, with all defaults of an API server written out. */
export function toAgentDeployment(
  { group, placement, resources = new Map(), pools, image, securityContext = SECURITY_CONTEXT }: AgentDeploymentParts,
  settings: AgentPodSettings,
): KubernetesObject {
  const selected = { [AGENT_LABEL]: AGENT_LABEL_VALUE, [AGENT_GROUP_LABEL]: group };
  const labels = { ...selected, [MANAGED_BY_LABEL]: CONTROLLER, ...poolLabels(group, pools) };
  const configs = toAgentNetworkConfigs(pools);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: settings.namespace, name: group, labels },
    spec: {
      replicas: settings.replicas,
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: 600,
      selector: { matchLabels: selected },
      // The new pod is warm before the old one hands over.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: { labels, annotations: { [MULTUS_NETWORKS_ANNOTATION]: toMultusNetworks(configs) } },
        spec: {
          ...ABSENT_POD_FIELDS,
          restartPolicy: 'Always',
          dnsPolicy: 'ClusterFirst',
          schedulerName: 'default-scheduler',
          securityContext: {},
          serviceAccountName: settings.serviceAccountName ?? group,
          serviceAccount: settings.serviceAccountName ?? group,
          priorityClassName: settings.priorityClassName,
          terminationGracePeriodSeconds: GRACE_SECONDS,
          imagePullSecrets:
            settings.imagePullSecrets.length === 0 ? undefined : settings.imagePullSecrets.map((name) => ({ name })),
          affinity: placement && toAffinity(placement),
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: selected },
            },
          ],
          tolerations: ['not-ready', 'unreachable'].map((state) => ({
            key: `node.kubernetes.io/${state}`,
            operator: 'Exists',
            effect: 'NoExecute',
            tolerationSeconds: LOST_NODE_SECONDS,
          })),
          containers: [toContainer({ group, image, securityContext, configs, resources }, settings)],
        },
      },
    },
  };
}

function toContainer(
  {
    group,
    image,
    securityContext,
    configs,
    resources: ofNetworks,
  }: Pick<AgentDeploymentParts, 'group' | 'image' | 'securityContext'> & {
    readonly configs: readonly AgentNetworkConfig[];
    readonly resources: ReadonlyMap<string, number>;
  },
  { imagePullPolicy, resources, leaseSeconds, dryRun, showsLeases = false }: AgentPodSettings,
): Readonly<Record<string, unknown>> {
  // Kubernetes requires equal requests and limits for extended resources.
  const marked = Object.fromEntries([...ofNetworks].map(([name, count]) => [name, count === 0 ? undefined : String(count)]));
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } });
  return {
    ...ABSENT_CONTAINER_FIELDS,
    name: AGENT_CONTAINER,
    image,
    imagePullPolicy,
    // On the interface that has the pod's address, and on no other; the address may be IPv6.
    args: [
      'serve',
      '--http',
      `$(POD_IP):${HTTP_PORT}`,
      '--lease-seconds',
      String(leaseSeconds),
      ...(dryRun ? ['--dry-run'] : []),
      ...(showsLeases ? ['--enable-cache-dump-api'] : []),
    ],
    env: [
      field('POD_NAME', 'metadata.name'),
      field('POD_NAMESPACE', 'metadata.namespace'),
      field('POD_IP', 'status.podIP'),
      field('VM_DHCP_AGENT_NAME', 'metadata.name'),
      { name: AGENT_LEASE_VARIABLE, value: group },
      { name: AGENT_NETWORK_CONFIGS_VARIABLE, value: JSON.stringify(configs) },
      { name: IPPOOL_REFS_VARIABLE, value: JSON.stringify(configs.map(({ ipPoolRef }) => ipPoolRef)) },
    ],
    ports: [{ name: 'metrics', containerPort: HTTP_PORT, protocol: 'TCP' }],
    resources: {
      requests: { cpu: resources.cpu, memory: resources.memory, ...marked },
      limits: { memory: resources.memoryLimit, ...marked },
    },
    livenessProbe: probe('/healthz', { periodSeconds: 10, failureThreshold: 3, initialDelaySeconds: 5 }),
    readinessProbe: probe('/readyz', { periodSeconds: 1, failureThreshold: 3 }),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext,
  };
}

function probe(path: string, times: Readonly<Record<string, number>>): Readonly<Record<string, unknown>> {
  return { httpGet: { path, port: HTTP_PORT, scheme: 'HTTP' }, timeoutSeconds: 1, successThreshold: 1, ...times };
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
