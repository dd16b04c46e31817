/** Plans the change of a group's Deployment, so that its agents serve the group's pools. */
import { isBeingDeleted, type KubernetesObject, readField, readText, readTexts } from '@vmdhcp/kube-runtime';
import { isMarker } from '../network/network-placement.js';
import { AGENT_CONTAINER, toAgentDeployment } from './agent-deployment.js';
import { type ActivePool, type ObservedGroup, observedGroup } from './agents-observation.js';
import type { DeploymentAction, GroupProblem } from './agents-plan.js';
import { findContainer, isConfigured } from './configured-pools.js';
import type { FittedGroup } from './fit-group.js';
import type { GroupContext } from './group-context.js';
import type { GroupRightsPlan } from './plan-group-rights.js';
import { planOwnedDeployment } from './plan-owned-deployment.js';
import { planUnifiedDeployment } from './plan-unified-deployment.js';
import type { PoolForAgents } from './pool-for-agents.js';
import { UNIFIED_GROUP } from './topology.js';
import type { UpgradeBudget } from './upgrade-budget.js';

export type GroupDeploymentPlan =
  | { readonly ok: true; readonly actions: readonly DeploymentAction[] }
  | { readonly ok: false; readonly problem: GroupProblem };

export interface DeploymentContext extends GroupContext {
  readonly upgrades: UpgradeBudget;
}

const NOTHING_TO_DO: GroupDeploymentPlan = { ok: true, actions: [] };

/** Plans the Deployment that a chart installed for the topology unified. */
export function planChartDeployment(
  pools: readonly PoolForAgents[],
  { observed, settings: { unified, namespace } }: GroupContext,
): GroupDeploymentPlan {
  const group = observedGroup(observed, UNIFIED_GROUP);
  const { deployment } = group;
  if (deployment === undefined) {
    const message = `there is no Deployment ${namespace}/${unified.deploymentName}; install it, or set AGENT_DEPLOYMENT_NAME`;
    return { ok: false, problem: { reason: 'AgentDeploymentMissing', message } };
  }
  if (isBeingDeleted(deployment)) return NOTHING_TO_DO;
  const plan = planUnifiedDeployment(deployment, unified.containerName, { pools, dryRun: unified.dryRun === true });
  if (!plan.ok) return { ok: false, problem: { reason: 'AgentContainerMissing', message: plan.message } };
  if (plan.patch === undefined) return NOTHING_TO_DO;
  const changesPools = isReconfigured(group, pools);
  return { ok: true, actions: [{ kind: 'patch-deployment', group: UNIFIED_GROUP, deployment, patch: plan.patch, changesPools }] };
}

/** The input for a group's Deployment. */
interface GroupToDeploy extends Pick<FittedGroup, 'own' | 'pools'> {
  readonly name: string;
  /** Undefined if the controller does not manage the rights of the group's agents. */
  readonly rights: GroupRightsPlan | undefined;
}

/** Plans a Deployment that the controller owns. */
export function planGroupDeployment(group: GroupToDeploy, context: DeploymentContext): GroupDeploymentPlan {
  const { name, rights } = group;
  const observed = observedGroup(context.observed, name);
  const { deployment, configured } = observed;
  // A pool is configured once the agents may read it. If they lose the right, the pool stays configured, because the right is added again.
  const pools = group.pools.filter(({ key }) => rights === undefined || rights.granted.has(key) || configured.has(key));
  if (deployment === undefined && rights !== undefined && (!rights.isReady || pools.length === 0)) return NOTHING_TO_DO;
  const wanted = toWanted({ ...group, pools }, observed, context);
  if (wanted === undefined) return NOTHING_TO_DO;
  if (deployment === undefined) return { ok: true, actions: [{ kind: 'create-deployment', group: name, deployment: wanted }] };
  return planChange(name, { wanted, deployment, changesPools: isReconfigured(observed, pools) }, context);
}

interface DeploymentChange {
  readonly wanted: KubernetesObject;
  readonly deployment: KubernetesObject;
  /** True if the configured pools change. */
  readonly changesPools: boolean;
}

function planChange(
  group: string,
  { wanted, deployment, changesPools }: DeploymentChange,
  { upgrades }: DeploymentContext,
): GroupDeploymentPlan {
  const plan = planOwnedDeployment(wanted, deployment);
  if (!plan.ok) return { ok: false, problem: { reason: 'AgentSelectorMismatch', message: plan.message } };
  if (plan.patch === undefined || (!changesPools && !upgrades.take(group))) return NOTHING_TO_DO;
  return { ok: true, actions: [{ kind: 'patch-deployment', group, deployment, patch: plan.patch, changesPools }] };
}

/** Undefined for a group that only has pools to release: its Deployment does not change until it has none. */
function toWanted(
  group: GroupToDeploy,
  { deployment }: ObservedGroup,
  { settings: { pods }, groups, observed }: GroupContext,
): KubernetesObject | undefined {
  const { name, own, pools } = group;
  if (pods === undefined || own.length === 0) return undefined;
  const kept = keptAgent(own, deployment, observed) ?? { image: pods.image, securityContext: undefined };
  const placement = groups.get(name)?.placement;
  const resources = resourcesOf(own, deployment);
  const serviceAccountName = pods.serviceAccountName ?? ownAccount(group, deployment);
  return toAgentDeployment({ group: name, placement, resources, pools, ...kept }, { ...pods, serviceAccountName });
}

/**
 * Requests one of each network's resource, so that agents run only where their networks are, and removes former requests. Pools that leave the group
 * request nothing: their owners could keep the agents of all others from running.
 */
function resourcesOf(own: readonly ActivePool[], deployment: KubernetesObject | undefined): ReadonlyMap<string, number> {
  const container = deployment && findContainer(deployment, AGENT_CONTAINER);
  const before = Object.keys(readTexts(container, 'resources', 'limits')).filter(isMarker);
  const resources = new Map(before.map((name) => [name, 0]));
  for (const { placement } of own) {
    const { resource } = placement;
    if (resource !== undefined) resources.set(resource, (resources.get(resource) ?? 0) + 1);
  }
  return resources;
}

/** Agents under another ServiceAccount keep it until the group's own has all of their rights. */
function ownAccount({ name, pools, rights }: GroupToDeploy, deployment: KubernetesObject | undefined): string {
  const isComplete = rights === undefined || (rights.isReady && pools.every(({ key }) => rights.granted.has(key)));
  return (isComplete ? undefined : readText(deployment?.spec, 'template', 'spec', 'serviceAccountName')) ?? name;
}

function isReconfigured({ configured }: ObservedGroup, pools: readonly PoolForAgents[]): boolean {
  return pools.length !== configured.size || !pools.every((pool) => isConfigured(configured.get(pool.key), pool));
}

/** The image of agents that must keep it, for all pools of a group if one of them asks for it. */
interface KeptAgent {
  readonly image: string;
  /** The security context of the container with the image, which may need user 0. Undefined if no container has it. */
  readonly securityContext: unknown;
}

function keptAgent(
  own: readonly ActivePool[],
  deployment: KubernetesObject | undefined,
  { groups }: GroupContext['observed'],
): KeptAgent | undefined {
  const keeping = own.filter(({ holdsImage }) => holdsImage);
  if (keeping.length === 0) return undefined;
  const before = keeping.map(({ recorded: { group } }) => groups.get(group ?? '')?.deployment);
  const containers = [deployment, ...before].flatMap((one) => (one && findContainer(one, AGENT_CONTAINER)) ?? []);
  const recorded = keeping.flatMap(({ recorded: { image } }) => image ?? [])[0];
  const image = recorded ?? readText(deployment && findContainer(deployment, AGENT_CONTAINER), 'image');
  if (image === undefined) return undefined;
  const withImage = containers.find((container) => readText(container, 'image') === image);
  return { image, securityContext: readField(withImage, 'securityContext') };
}
