import { AGENT_LABEL, AGENT_LABEL_VALUE } from '@vmdhcp/ippool-api';
import { Resource } from '@vmdhcp/ippool-api/resources';
import type { ApiResource } from '@vmdhcp/kube-runtime';
import type { AgentsSettings } from '../agents/agents-plan.js';

/** Objects with the agents' label, in the agents' namespace. */
export const AGENT_SELECTOR = `${AGENT_LABEL}=${AGENT_LABEL_VALUE}`;

/** The kinds of objects that the controller reads and writes for its agents. `previous`: in the previous namespace. */
export type AgentObjectKind = OwnKind | RightsKind | PreviousKind;
export type OwnKind = 'deployments' | 'unifiedDeployment' | 'leases' | 'pods';
export type RightsKind = 'serviceAccounts' | 'roles' | 'roleBindings';
export type PreviousKind =
  | 'previousDeployments'
  | 'previousUnifiedDeployment'
  | 'previousLeases'
  | 'previousPods'
  | 'previousServiceAccounts';

/** A value for each kind that a controller uses. */
export type ByAgentKind<Value> = Readonly<Record<OwnKind, Value> & Partial<Record<RightsKind | PreviousKind, Value>>>;

/** The selections of these objects. Kinds that a controller with these settings does not use are left out. */
export function agentResources(
  { namespace, unified, previousNamespace, groupRights = false }: AgentsSettings,
  onlyNamespace?: string,
): ByAgentKind<ApiResource> {
  const of = (resource: ApiResource, within: string) => ({ ...resource, namespace: within, labelSelector: AGENT_SELECTOR });
  // A chart installed it, whatever its labels are.
  const chart = (within: string) => ({
    ...Resource.deployments,
    namespace: within,
    fieldSelector: `metadata.name=${unified.deploymentName}`,
  });
  // The rights to read pools are in the namespaces of the pools.
  const ofPools = (resource: ApiResource) => ({
    ...resource,
    ...(onlyNamespace !== undefined && { namespace: onlyNamespace }),
    labelSelector: AGENT_SELECTOR,
  });
  return {
    deployments: of(Resource.deployments, namespace),
    unifiedDeployment: chart(namespace),
    leases: of(Resource.leases, namespace),
    pods: of(Resource.pods, namespace),
    ...(groupRights && {
      serviceAccounts: of(Resource.serviceAccounts, namespace),
      roles: ofPools(Resource.roles),
      roleBindings: ofPools(Resource.roleBindings),
    }),
    ...(previousNamespace !== undefined && {
      previousDeployments: of(Resource.deployments, previousNamespace),
      previousUnifiedDeployment: chart(previousNamespace),
      previousLeases: of(Resource.leases, previousNamespace),
      previousPods: of(Resource.pods, previousNamespace),
      ...(groupRights && { previousServiceAccounts: of(Resource.serviceAccounts, previousNamespace) }),
    }),
  };
}
