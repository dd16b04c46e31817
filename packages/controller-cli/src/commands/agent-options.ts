/** The options of the controller about agents. */

import { AGENT_LOG_LEVELS, type AgentLogLevel } from '@vmdhcp/ippool-api/agent';
import type { AgentPodSettings } from '@vmdhcp/reconciler';
import { AGENT_TOPOLOGIES, type AgentTopology } from '@vmdhcp/reconciler/agent-topologies';
import { booleanOption } from '@vmdhcp/service-process';
import { InvalidArgumentError, Option } from 'commander';
import { parseImage } from './parse-image.js';

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'] as const;

export interface AgentOptions {
  readonly agent: boolean;
  readonly agentTopology: AgentTopology;
  readonly maxPoolsPerAgent: number;
  readonly namespace?: string;
  readonly previousNamespace?: string;
  readonly onlyNamespace?: string;
  readonly image?: string;
  readonly imagePullPolicy: AgentPodSettings['imagePullPolicy'];
  readonly imagePullSecret: readonly string[];
  readonly serviceAccountName?: string;
  readonly agentReplicas: number;
  readonly maxGroupsUpgrading: number;
  readonly agentPriorityClass: string;
  readonly agentMemoryLimit: string;
  readonly agentLeaseSeconds: number;
  readonly agentLeaseWritesPerSecond: number;
  readonly agentLogLevel?: AgentLogLevel;
  readonly agentLogPackets?: boolean;
  readonly agentDeployment: string;
  readonly agentContainer: string;
  readonly dhcp: boolean;
  readonly enableCacheDumpApi?: boolean;
}

export const agentOptions = (): Option[] => [
  new Option('--agent-topology <topology>', 'which pools share agents').choices(AGENT_TOPOLOGIES).default('per-network'),
  new Option('--max-pools-per-agent <count>', 'with per-network: the largest number of pools that share agents')
    .argParser(parseCount)
    .default(24),
  new Option('--namespace <namespace>', 'namespace of the agents; default: that of the controller, POD_NAMESPACE').env(
    'AGENT_NAMESPACE',
  ),
  new Option(
    '--previous-namespace <namespace>',
    'namespace where agents ran before: their pools move to the new agents, then they are removed',
  ).env('AGENT_PREVIOUS_NAMESPACE'),
  new Option('--image <image>', 'image of the agents; required unless the topology is unified')
    .argParser(parseImage)
    .env('AGENT_IMAGE'),
  new Option('--image-pull-policy <policy>', 'when the image is pulled').choices(PULL_POLICIES).default('IfNotPresent'),
  new Option('--image-pull-secret <name>', 'Secret to pull it with; may be given several times')
    .argParser((name, before: readonly string[]) => [...before, name])
    .default([] as readonly string[], 'none'),
  new Option(
    '--service-account-name <name>',
    'ServiceAccount of all agents, whose rights you give; default: one for each group, with rights to its own Lease and pools',
  ).env('AGENT_SERVICE_ACCOUNT_NAME'),
  new Option('--agent-replicas <count>', 'agents of each group; 0 to see what would be deployed')
    .argParser(parseReplicas)
    .default(2),
  new Option('--max-groups-upgrading <count>', 'groups whose agents are replaced at a time when their image or settings change')
    .argParser(parseCount)
    .default(4),
  new Option('--agent-priority-class <name>', 'PriorityClass of the agents; "" for none').default('system-cluster-critical'),
  new Option('--agent-memory-limit <quantity>', 'memory an agent may use').argParser(parseMemory).default('256Mi'),
  new Option(
    '--agent-lease-seconds <seconds>',
    'how long the Lease of a group lasts; less makes failover faster and costs more writes',
  )
    .argParser(parseLeaseSeconds)
    .default(2.75),
  new Option(
    '--agent-lease-writes-per-second <count>',
    'how often the Leases of all groups together are renewed; with more than half as many groups each is renewed more rarely, and lasts longer',
  )
    .argParser(parseCount)
    .default(25),
  new Option('--agent-log-level <level>', 'how much agents log; takes effect without restarting them').choices(AGENT_LOG_LEVELS),
  booleanOption(
    '--agent-log-packets',
    'agents log whole packets, decoded; for one pool: annotation network.harvesterhci.io/log-packets',
  ),
  new Option('--agent-deployment <name>', 'with unified: the Deployment that a chart installed')
    .env('AGENT_DEPLOYMENT_NAME')
    .default('vm-dhcp-controller-agent'),
  new Option('--agent-container <name>', 'with unified: the container in it')
    .env('AGENT_CONTAINER_NAME')
    .default('vm-dhcp-controller-agent'),
  booleanOption('--no-agent', 'do not manage agents, and do not wait for them'),
  booleanOption('--no-dhcp', 'agents run and report, and serve nothing (--dry-run)'),
];

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 1_000) throw new InvalidArgumentError('write a whole number, 1 to 1000.');
  return count;
}

/** A Kubernetes quantity of whole octets. The API server would refuse another one only when a Deployment is created. */
function parseMemory(text: string): string {
  if (!/^[1-9]\d*([KMGTPE]i|[kMGTPE])?$/.test(text))
    throw new InvalidArgumentError('write a quantity, for example 256Mi or 1Gi.');
  return text;
}

/** Agents refuse less. */
const LEAST_LEASE_SECONDS = 2.5;

function parseLeaseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= LEAST_LEASE_SECONDS && seconds <= 3_600)) {
    throw new InvalidArgumentError(`write seconds, ${LEAST_LEASE_SECONDS} to 3600.`);
  }
  return seconds;
}

function parseReplicas(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0 || count > 1_000) throw new InvalidArgumentError('write a whole number, 0 to 1000.');
  return count;
}
