/** What prevents the agent of a ClusterAgent from working, in words: all problems at once. */
import type { InterfaceState } from '@vmdhcp/dhcp-agent/packet-path';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { hostSecretProblems, type SecretData } from '../check/host-secret.js';
import { readClusterAgent } from '../host/cluster-agent-settings.js';
import { describeHostProblem } from '../object/problem.js';
import type { HostPoolReading } from './host-pool.js';
import type { ManagementLink } from './management-link.js';

export interface AgentFacts {
  readonly clusterAgentName: string;
  /** Undefined if it does not exist. */
  readonly clusterAgent: KubernetesObject | undefined;
  /** Undefined if there is no ClusterAgent. */
  readonly reading: HostPoolReading | undefined;
  /** Undefined if the interface does not exist. */
  readonly link: ManagementLink | undefined;
  readonly socket: InterfaceState;
  /** The default Secret of hosts. `unread` if not known yet. */
  readonly secret: SecretData | undefined | 'unread';
  /** What this pod or host itself needs `selfIp` for; undefined if for nothing. */
  readonly selfNeededFor?: string | undefined;
}

/** What prevents this agent from answering clients; another replica may be able to. */
export function servingProblems(facts: AgentFacts): string[] {
  const { clusterAgent, clusterAgentName, reading } = facts;
  if (clusterAgent === undefined)
    return [`ClusterAgent ${clusterAgentName} does not exist: create it, or correct CLUSTERAGENT_NAME`];
  if (reading === undefined || reading.kind === 'off') return [];
  const { interfaceName } = reading;
  const ofInterface = [
    ...(interfaceName === undefined ? [] : interfaceProblems(interfaceName, facts)),
    ...(facts.selfNeededFor === undefined
      ? []
      : [`ClusterAgent ${clusterAgentName}: selfIp is the address of ${facts.selfNeededFor}: write another one`]),
  ];
  return reading.kind === 'unserved' ? [...reading.problems.map(ofObject(clusterAgentName)), ...ofInterface] : ofInterface;
}

/** What keeps hosts from being polled with the default Secret. */
export function defaultSecretProblems({ clusterAgent, clusterAgentName, secret }: AgentFacts): string[] {
  if (clusterAgent === undefined || secret === 'unread') return [];
  const { secretName: name, secretNamespace: namespace } = readClusterAgent(clusterAgent).connection;
  if (name === undefined || namespace === undefined) return [];
  const path = ['spec', 'endpoint', 'secretName'];
  return hostSecretProblems({ path, name, namespace }, secret).map(describeHostProblem).map(ofObject(clusterAgentName));
}

function interfaceProblems(name: string, { link, socket }: AgentFacts): string[] {
  if (link === undefined)
    return [`interface ${name} does not exist here: correct dhcpServerInterface, or attach the network to the agent`];
  if (!link.isUp) return [`interface ${name} is down: set it up (ip link set ${name} up)`];
  if (socket.kind === 'failed') return [`interface ${name} cannot be served: ${socket.message}`];
  return [];
}

const ofObject = (name: string) => (problem: string) => `ClusterAgent ${name}: ${problem}`;
