/** ClusterAgents for tests. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { HOST_AGENTS_BINDING, type HostAgentSettings } from '../workload/host-agent-settings.js';

type Fields = Readonly<Record<string, unknown>>;

export const HOST_AGENT_SETTINGS: HostAgentSettings = {
  namespace: 'vm-dhcp-agents',
  image: 'registry.local/vmdhcp-agent:1',
  imagePullPolicy: 'IfNotPresent',
  imagePullSecrets: [],
  priorityClassName: 'system-cluster-critical',
  leases: { kind: 'api' },
  secretNamespaces: ['vm-dhcp-agents', 'bmc-secrets'],
  statusIntervalSeconds: 60,
};

/** As the chart creates it. */
export const HOST_AGENTS_BINDING_OBJECT: KubernetesObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: HOST_AGENTS_BINDING, uid: 'binding' },
  ...{ roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'vmdhcp-bare-metal-agent' } },
};

export const DHCP_CONFIG = {
  dhcpServerInterface: 'net1',
  subnet: '192.168.0.0/24',
  ipRange: '192.168.0.10-192.168.0.100',
  gateway: '192.168.0.1',
  selfIp: '192.168.0.2/24',
};

interface ClusterAgentParts {
  readonly yaml?: Fields;
  readonly dhcp?: Fields;
  /** Default: nothing is missing. */
  readonly endpoint?: Fields;
  readonly annotations?: Readonly<Record<string, string>>;
  /** A higher number is younger. */
  readonly age?: number;
}

export function clusterAgentObject(
  name: string,
  { yaml, dhcp, endpoint = { https: false }, annotations, age = 0 }: ClusterAgentParts = {},
): KubernetesObject {
  const seconds = String(age).padStart(2, '0');
  return {
    apiVersion: 'bmc.spidernet.io/v1beta1',
    kind: 'ClusterAgent',
    metadata: {
      name,
      uid: `uid-${name}`,
      generation: 1,
      creationTimestamp: `2026-01-01T00:00:${seconds}Z`,
      ...(annotations && { annotations }),
    },
    spec: {
      agentYaml: { underlayInterface: 'kube-system/management', replicas: 1, ...yaml },
      endpoint,
      feature: { dhcpServerConfig: { ...DHCP_CONFIG, ...dhcp } },
    },
  };
}

export function hostEndpointObject(name: string, spec: Fields): KubernetesObject {
  return {
    apiVersion: 'bmc.spidernet.io/v1beta1',
    kind: 'HostEndpoint',
    metadata: { name, uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec,
  };
}
