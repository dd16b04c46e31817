/** What the controller knows about the agents of all ClusterAgents: their image and where they run. */
import { CLUSTER_AGENT_LABEL } from '@vmdhcp/ippool-api/bare-metal/keys';

/** Where agents keep the leases of unknown clients. */
export type LeaseStorage =
  /** In objects of the API server: any number of agents. */
  | { readonly kind: 'api' }
  /** In a directory of the node: one agent. For trials. */
  | { readonly kind: 'host-path'; readonly path: string }
  /** In a separate volume: one agent. */
  | {
      readonly kind: 'pvc';
      /** A Kubernetes quantity. */
      readonly size: string;
      /** Undefined for the default of the cluster. */
      readonly storageClass: string | undefined;
    };

export interface HostAgentSettings {
  readonly namespace: string;
  /** The image of agents whose ClusterAgent names none. */
  readonly image: string;
  readonly imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  /** Names of Secrets for pulling the image. */
  readonly imagePullSecrets: readonly string[];
  /** Undefined for the default of the cluster. */
  readonly priorityClassName: string | undefined;
  readonly leases: LeaseStorage;
  /** Namespaces whose Secrets agents may read, each by its name. */
  readonly secretNamespaces: readonly string[];
  /** How often hosts are polled, in seconds; 1 or more. */
  readonly statusIntervalSeconds: number;
}

/** The label selector of the objects of agents. */
export const HOST_AGENT_SELECTOR = CLUSTER_AGENT_LABEL;

/** The ClusterRoleBinding of the chart, by which all agents have their rights to the kinds without namespaces. */
export const HOST_AGENTS_BINDING = 'vmdhcp-bare-metal-agents';

/** The name of the Deployment of a ClusterAgent, of its ServiceAccount, of its Lease and of its rights. */
export function hostAgentName(clusterAgent: string): string {
  return `agent-${clusterAgent}`;
}

/** The name of the volume in which the agent of a ClusterAgent keeps its leases. */
export function hostAgentVolumeName(clusterAgent: string): string {
  return `${hostAgentName(clusterAgent)}-dhcp-data`;
}
