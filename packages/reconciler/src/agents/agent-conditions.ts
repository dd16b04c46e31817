/** The conditions Registered, AgentReady, RogueServer and RouterReady of a pool, with messages that name where to look. */

import {
  type ConditionOf,
  describeReason,
  HOLD_AGENT_UPGRADE_ANNOTATION,
  IPPoolConditionType,
  NETWORK_RESOURCE_ANNOTATION,
  type PoolReport,
  type ReasonAt,
  type RogueServer,
} from '@vmdhcp/ippool-api';
import {
  cutText,
  describeNames,
  isRolledOut,
  type KubernetesObject,
  readList,
  readText,
  rolloutTrouble,
} from '@vmdhcp/kube-runtime';
import { AGENT_ROLLOUT_REMEDIES } from './agent-rollout-remedies.js';
import type { ObservedGroup } from './agents-observation.js';
import type { GroupProblem } from './agents-plan.js';
import { isConfigured } from './configured-pools.js';
import type { PoolForAgents } from './pool-for-agents.js';
import { type ExpectedRouters, routerConditions } from './router-conditions.js';

/** No agent serves the pool because of the pool itself: its condition CacheReady has the cause. */
export const NOT_SERVED = 'NotServed';

/** Why no agent should serve a pool. */
export interface NotToBeServed {
  readonly reason: 'Paused' | typeof NOT_SERVED | 'NetworkMissing' | 'AgentsElsewhere';
  readonly message: string;
}

export interface AgentsOfPool {
  readonly pool: PoolForAgents;
  readonly group: string;
  readonly observed: ObservedGroup;
  /** The group that serves the pool until its own group does. */
  readonly formerGroup: ObservedGroup | undefined;
  readonly problem: GroupProblem | undefined;
  /** The Deployment of the group. */
  readonly pods: readonly KubernetesObject[];
  /** True if the leader has been using an old version of the pool for too long. */
  readonly isLagging: boolean;
  /** Called if the leader reaches no machine: returns whether any have been running on the network for some minutes. */
  readonly hasRunningMachines: () => boolean;
  /** Undefined for a pool without IPv6 addresses. */
  readonly routers: ExpectedRouters | undefined;
}

type Registered = Extract<ConditionOf<'IPPool'>, { readonly type: 'Registered' }>;

const { registered: REGISTERED, agentReady: AGENT_READY, rogueServer: ROGUE_SERVER } = IPPoolConditionType;

export function conditionsWithoutAgents({ reason, message }: NotToBeServed): ConditionOf<'IPPool'>[] {
  return [REGISTERED, AGENT_READY].map((type) => ({ type, status: 'False', reason, message }));
}

/** The conditions of a pool that a pod of an earlier version still serves. */
export function conditionsOfKeptPod({ metadata, status }: KubernetesObject): ConditionOf<'IPPool'>[] {
  const isReady = readList(status, 'conditions').some(
    (condition) => readText(condition, 'type') === 'Ready' && readText(condition, 'status') === 'True',
  );
  const message = `the upgrade of the pool's agents is on hold (${HOLD_AGENT_UPGRADE_ANNOTATION}): pod ${metadata.name} of an earlier version serves it, and is not ready; look at that pod, or remove the annotation`;
  const ready: ConditionOf<'IPPool'> = isReady ? { type: AGENT_READY, status: 'True' } : notReady('PodNotReady', message);
  return [{ type: REGISTERED, status: 'True' }, ready];
}

export function agentConditions(agents: AgentsOfPool): ConditionOf<'IPPool'>[] {
  const registered = toRegistered(agents);
  const { pool, observed, routers } = agents;
  const found = observed.lease.report.get(pool.key)?.routers;
  return [registered, toAgentReady(agents, registered), ...toRogueServer(agents), ...routerConditions(found, pool, routers)];
}

function toRegistered({ pool, group, observed: { deployment, configured }, problem }: AgentsOfPool): Registered {
  if (problem !== undefined) return { type: REGISTERED, status: 'False', ...problem };
  if (deployment !== undefined && isConfigured(configured.get(pool.key), pool)) return { type: REGISTERED, status: 'True' };
  const message = `Deployment ${deployment?.metadata.name ?? group} is about to be configured with the pool; wait`;
  return { type: REGISTERED, status: 'False', reason: 'Pending', message };
}

function toAgentReady(agents: AgentsOfPool, registered: Registered): ConditionOf<'IPPool'> {
  const { pool, observed, formerGroup, isLagging } = agents;
  const server = [observed, formerGroup].find((group) => group?.lease.report.get(pool.key)?.serving === true);
  if (server !== undefined) return isLagging ? lagging(observed) : (silent(agents, server) ?? servedThough(observed));
  if (registered.status !== 'True') return { ...registered, type: AGENT_READY };
  const report = observed.lease.report.get(pool.key);
  if (report !== undefined) return reported(report);
  return newPodsTrouble(agents) ?? (observed.lease.isLive ? notKnownYet(observed) : withoutLeader(agents));
}

/** A report without room has no message: then use the general meaning from the table. */
function reported({ reason, message }: PoolReport): ConditionOf<'IPPool'> {
  const known = reason ?? 'NotServing';
  return notReady(known, message ?? describeReason(known));
}

/** What keeps new pods from serving: existing pods say most, unless pods cannot even be created. */
function newPodsTrouble({ pods, observed: { deployment } }: AgentsOfPool): ConditionOf<'IPPool'> | undefined {
  const rollout = rolloutTrouble(deployment, AGENT_ROLLOUT_REMEDIES);
  const ofPods = podTrouble(pods, deployment);
  if (rollout === undefined || (rollout.reason === 'RolloutStuck' && ofPods !== undefined)) return ofPods;
  return notReady(rollout.reason, rollout.message);
}

/** The pool is served, but report what keeps its new agents from starting. */
function servedThough({ deployment }: ObservedGroup): ConditionOf<'IPPool'> {
  const trouble = rolloutTrouble(deployment, AGENT_ROLLOUT_REMEDIES);
  if (trouble === undefined) return { type: AGENT_READY, status: 'True' };
  return { type: AGENT_READY, status: 'True', ...trouble, message: `served by the agents that are there; ${trouble.message}` };
}

function notReady(reason: ReasonAt<'IPPool AgentReady=False'>, message: string): ConditionOf<'IPPool'> {
  return { type: AGENT_READY, status: 'False', reason, message };
}

/** Undefined if the leader reaches machines of the network, or none run. */
function silent({ pool, hasRunningMachines }: AgentsOfPool, { lease }: ObservedGroup): ConditionOf<'IPPool'> | undefined {
  if (lease.report.get(pool.key)?.silentMinutes === undefined || !hasRunningMachines()) return undefined;
  const message = `pod ${lease.leader} serves the pool and reaches none of the virtual machines that run on network ${pool.network}: on its node, check that the bridge of the network is there with its uplink, that the trunk has the VLAN, and that no MAC spoof check drops frames of agents`;
  return notReady('NetworkSilent', message);
}

function lagging({ lease }: ObservedGroup): ConditionOf<'IPPool'> {
  const message = `the leader of the agents (${lease.leader}) receives no changes of the pool; look at its log and its connection to the API server`;
  return notReady('Lagging', message);
}

function notKnownYet({ lease }: ObservedGroup): ConditionOf<'IPPool'> {
  const message = `the leader of the agents (${lease.leader}) does not know the pool yet; wait for its successor, which is being rolled out`;
  return notReady('RollingOut', message);
}

function withoutLeader({ group, observed: { deployment } }: AgentsOfPool): ConditionOf<'IPPool'> {
  const name = `${deployment?.metadata.namespace}/${deployment?.metadata.name}`;
  if (!isRolledOut(deployment))
    return notReady('RollingOut', `Deployment ${name} is being rolled out, and no agent is leader yet; wait`);
  return notReady('NotLeading', `no agent is leader: the Lease ${group} is not renewed; look at the pods of Deployment ${name}`);
}

/** The maximum octets of the kubelet's or scheduler's text, so that the remedy after it is not cut off. */
const MOST_WORDS_OCTETS = 512;
const IMAGE_REASONS = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull', 'RegistryUnavailable'];

/** What keeps pods from running, newest pods first. */
function podTrouble(
  pods: readonly KubernetesObject[],
  deployment: KubernetesObject | undefined,
): ConditionOf<'IPPool'> | undefined {
  for (const pod of pods) {
    const trouble = schedulingTrouble(pod, deployment) ?? containerTrouble(pod);
    if (trouble !== undefined) return trouble;
  }
  return undefined;
}

function schedulingTrouble(
  { metadata, status }: KubernetesObject,
  deployment: KubernetesObject | undefined,
): ConditionOf<'IPPool'> | undefined {
  const unscheduled = readList(status, 'conditions').find(
    (condition) => readText(condition, 'type') === 'PodScheduled' && readText(condition, 'status') === 'False',
  );
  if (unscheduled === undefined) return undefined;
  const reported = readText(unscheduled, 'message') ?? '';
  const missing = /node affinity|node selector/i.test(reported) ? requiredNodeLabels(deployment) : [];
  const remedies = [
    ...missing.map((label) => `agents run on nodes with the label ${label}: kubectl label node NODE ${label}`),
    ...[...reported.matchAll(/Insufficient ([^\s/,]+\/[^\s,]+?)(?=[.,]?(?:\s|$))/g)].map(([, resource = '']) =>
      remedyForResource(resource),
    ),
  ];
  const message = `no node takes pod ${metadata.name}: ${cutText(reported, MOST_WORDS_OCTETS)}`;
  return notReady('NotScheduled', [message, ...remedies].join('; '));
}

/** If no node has enough of a resource that marks nodes with a bridge. */
function remedyForResource(resource: string): string {
  const bridge = resource.slice(resource.indexOf('/') + 1);
  return `agents run on nodes that have ${resource}, as the network asks (${NETWORK_RESOURCE_ANNOTATION}): create the bridge ${bridge} on a node, and bridge-marker adds the resource, or correct the annotation of the NetworkAttachmentDefinition`;
}

/** `key=value` of each label that a node must have. */
function requiredNodeLabels(deployment: KubernetesObject | undefined): string[] {
  const path = ['template', 'spec', 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution'];
  return readList(deployment?.spec, ...path, 'nodeSelectorTerms').flatMap((term) =>
    readList(term, 'matchExpressions').flatMap((expression) => {
      const [value] = readList(expression, 'values');
      const key = readText(expression, 'key');
      return key === undefined || readText(expression, 'operator') !== 'In' ? [] : [`${key}=${String(value)}`];
    }),
  );
}

function containerTrouble({ metadata, status }: KubernetesObject): ConditionOf<'IPPool'> | undefined {
  for (const container of readList(status, 'containerStatuses')) {
    const reason = readText(container, 'state', 'waiting', 'reason') ?? '';
    const problem = `pod ${metadata.name}: ${cutText(readText(container, 'state', 'waiting', 'message') ?? reason, MOST_WORDS_OCTETS)}`;
    if (IMAGE_REASONS.includes(reason))
      return notReady('ImagePull', `${problem}; correct the image (--image) or its pull Secret`);
    if (reason === 'CrashLoopBackOff') return notReady('CrashLooping', `${problem}; look at its log (kubectl logs --previous)`);
  }
  return undefined;
}

function toRogueServer({ pool, observed: { lease } }: AgentsOfPool): ConditionOf<'IPPool'>[] {
  const servers = lease.report.get(pool.key)?.rogueServers;
  if (servers === undefined) return [];
  if (servers.length === 0) return [{ type: ROGUE_SERVER, status: 'False' }];
  return [{ type: ROGUE_SERVER, status: 'True', reason: 'RogueServer', message: describeRogueServers(pool, servers) }];
}

function describeRogueServers({ network }: PoolForAgents, servers: readonly RogueServer[]): string {
  const names = servers.map(({ address, macAddress }) => `${address} (${macAddress})`);
  return `another DHCP server answers on network ${network}: ${describeNames(names)}; switch it off there, or delete this pool`;
}
