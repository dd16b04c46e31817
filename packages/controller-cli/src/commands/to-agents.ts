/** Converts the options about agents to settings. */
import { ownNamespace } from '@vmdhcp/controller-process/own-namespace';
import type { AgentLogSettings } from '@vmdhcp/ippool-api/agent';
import type { AgentPodSettings, AgentsSettings } from '@vmdhcp/reconciler';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import type { AgentOptions } from './agent-options.js';

/** An agent's process, and what thousands of leases take besides. */
const RESOURCES = { cpu: '10m', memory: '96Mi' };

/** Undefined if the controller does not manage agents. @throws CommandError if an option is missing. */
export function toAgents(options: AgentOptions): AgentsSettings | undefined {
  if (!options.agent) return undefined;
  const { agentTopology: topology, maxPoolsPerAgent, maxGroupsUpgrading, image } = options;
  const namespace = options.namespace || options.onlyNamespace || ownNamespace();
  const groupRights = !options.serviceAccountName;
  checkAgentOptions(options, { namespace, groupRights });
  return {
    namespace,
    groupRights,
    previousNamespace: options.previousNamespace === namespace ? undefined : options.previousNamespace || undefined,
    topology,
    maxPoolsPerAgent,
    maxGroupsUpgrading,
    leaseWritesPerSecond: options.agentLeaseWritesPerSecond,
    log: toLogSettings(options),
    unified: { deploymentName: options.agentDeployment, containerName: options.agentContainer, dryRun: !options.dhcp },
    pods: image === undefined ? undefined : toPodSettings(options, { namespace, image }),
  };
}

/** @throws CommandError where an option is missing, or options contradict each other. */
function checkAgentOptions(
  { agentTopology: topology, image, onlyNamespace }: AgentOptions,
  { namespace, groupRights }: { readonly namespace: string; readonly groupRights: boolean },
): void {
  if (image === undefined && topology !== 'unified') {
    const message = `with --agent-topology ${topology} the controller creates the agents' Deployments: give their image (--image, AGENT_IMAGE), or --agent-topology unified, or --no-agent`;
    throw new CommandError(message, ExitCode.usage);
  }
  if (groupRights && onlyNamespace !== undefined && onlyNamespace !== namespace) {
    const message = `with --only-namespace ${onlyNamespace} the controller gives no rights in namespace ${namespace}: give the agents' ServiceAccount (--service-account-name), or omit --namespace`;
    throw new CommandError(message, ExitCode.usage);
  }
}

function toLogSettings({ agentLogLevel: level, agentLogPackets: packets }: AgentOptions): AgentLogSettings {
  return { ...(level !== undefined && { level }), ...(packets !== undefined && { packets }) };
}

function toPodSettings(
  options: AgentOptions,
  { namespace, image }: { readonly namespace: string; readonly image: string },
): AgentPodSettings {
  return {
    namespace,
    image,
    imagePullPolicy: options.imagePullPolicy,
    imagePullSecrets: options.imagePullSecret,
    serviceAccountName: options.serviceAccountName || undefined,
    priorityClassName: options.agentPriorityClass || undefined,
    replicas: options.agentReplicas,
    resources: { ...RESOURCES, memoryLimit: options.agentMemoryLimit },
    leaseSeconds: options.agentLeaseSeconds,
    dryRun: !options.dhcp,
    showsLeases: options.enableCacheDumpApi === true,
  };
}
