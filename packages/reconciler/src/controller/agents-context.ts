import type { ApiResource, Clock, KubernetesObject, ObjectClient, SharedCaches } from '@vmdhcp/kube-runtime';
import type { AgentAction, AgentsSettings } from '../agents/agents-plan.js';
import { type AgentObjectKind, agentResources, type ByAgentKind } from '../view/agent-resources.js';
import { type AgentsChange, AgentsView } from '../view/agents-view.js';
import type { ClusterView, ObjectSource } from '../view/cluster-view.js';
import { LagWatch } from '../view/lag-watch.js';
import { PoolAgentsView } from '../view/pool-agents-view.js';
import { PoolsForAgents } from '../view/pools-for-agents.js';

/** The sources and writers of the reconciler of agent groups. */
export interface AgentsContext {
  readonly settings: AgentsSettings;
  readonly clients: AgentClients;
  readonly observed: AgentsView;
  readonly eligible: PoolsForAgents;
  readonly pools: PoolAgentsView;
  readonly view: ClusterView;
  readonly clock: Clock;
  readonly now: () => string;
  readonly onAction: ((action: AgentAction) => void) | undefined;
  readonly enqueue: { readonly agentGroups: () => void; readonly ipPools: (key: string) => void };
}

/** The clients for agents' objects, by kind; unused kinds are left out. */
export type AgentClients = ByAgentKind<ObjectClient<KubernetesObject>>;

export interface AgentsContextSettings
  extends Pick<AgentsContext, 'settings' | 'view' | 'clock' | 'now' | 'onAction' | 'enqueue'> {
  readonly networks: ObjectSource;
  readonly caches: Pick<SharedCaches, 'subscribe'>;
  readonly clientOf: (resource: ApiResource) => ObjectClient<KubernetesObject>;
  /** Undefined for all namespaces. */
  readonly onlyNamespace: string | undefined;
  /** Undefined if a kind is listed completely for the first time. */
  readonly onChange: (change: AgentsChange | undefined) => void;
  readonly onError: (kind: AgentObjectKind, error: unknown) => void;
}

export function createAgentsContext(given: AgentsContextSettings): AgentsContext {
  const { settings, view, networks, clock, now, onAction, enqueue, caches, clientOf, onlyNamespace, onChange, onError } = given;
  const resources = agentResources(settings, onlyNamespace);
  const observed = new AgentsView({ ...settings, caches, resources, clock, now, onlyNamespace, onChange, onError });
  const eligible = new PoolsForAgents({ settings, agents: observed, view, networks, now });
  const pools = new PoolAgentsView({ settings, agents: observed, eligible, view, now, lag: new LagWatch(clock) });
  const { deployments, unifiedDeployment, leases, pods: agentPods, ...others } = resources;
  const clients = {
    ...Object.fromEntries(Object.entries(others).map(([kind, resource]) => [kind, clientOf(resource)])),
    deployments: clientOf(deployments),
    unifiedDeployment: clientOf(unifiedDeployment),
    leases: clientOf(leases),
    pods: clientOf(agentPods),
  };
  return { settings, clients, observed, eligible, pools, view, clock, now, onAction, enqueue };
}
