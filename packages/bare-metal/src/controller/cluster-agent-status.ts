/** The status of a ClusterAgent: whether its agents run, and what a person should correct. */

import type { HostConditionOf } from '@vmdhcp/ippool-api/bare-metal/keys';
import {
  type ConditionState,
  describeProblems,
  type KubernetesObject,
  type MergePatch,
  mergePatchTowards,
  readConditions,
  readField,
  rolloutTrouble,
  withConditions,
} from '@vmdhcp/kube-runtime';
import { describeHostProblem } from '../object/problem.js';
import type { HostAgents } from '../workload/plan-host-agents.js';
import { HOST_AGENT_REMEDIES } from './rollout-remedies.js';

export type ClusterAgentCondition = HostConditionOf<'ClusterAgent'>;
type ReadyCondition = Extract<ClusterAgentCondition, { readonly type: 'Ready' }>;
type Trouble = Extract<ReadyCondition, { readonly status: 'False' }>['reason'];

/** A write that the API server refused. */
export interface HostAgentFailure {
  readonly reason: 'HostAgentsRefused' | 'HostAgentsFailed';
  readonly message: string;
}

export interface ClusterAgentFacts {
  readonly agents: HostAgents;
  /** The problems of its own Secret. */
  readonly secretTexts: readonly string[];
  readonly failure: HostAgentFailure | undefined;
}

/** The wanted status, without times. */
export interface ClusterAgentStatus {
  readonly ready: boolean;
  readonly conditions: readonly [ReadyCondition, ClusterAgentCondition];
}

/** The problems in a condition: as many as fit. */
const MOST_PROBLEMS = { most: 12, longest: 360 } as const;

export function clusterAgentStatus(facts: ClusterAgentFacts): ClusterAgentStatus {
  const ready = readyCondition(facts);
  return { ready: ready.status === 'True', conditions: [ready, validCondition(facts)] };
}

/** Undefined if the status is up to date. @param now - RFC 3339. */
export function planClusterAgentStatus(
  object: KubernetesObject,
  wanted: ClusterAgentStatus,
  now: string,
): MergePatch | undefined {
  const before = readConditions(object.status);
  const states = wanted.conditions as readonly ConditionState[];
  const found = { now, generation: object.metadata.generation };
  const observed = (object.status ?? {}) as Readonly<Record<string, unknown>>;
  const changes = mergePatchTowards({ ready: wanted.ready, conditions: withConditions(before, states, found) }, observed);
  if (changes === undefined) return undefined;
  return { status: { ...changes, conditions: withConditions(before, states, { ...found, isWritten: true }) } };
}

function readyCondition({ agents, failure }: ClusterAgentFacts): ReadyCondition {
  const { refusals, conflict, workload, deployment } = agents;
  if (failure !== undefined) return unready(failure.reason, failure.message);
  if (refusals.length > 0) return unready('HostAgentsRefused', describeProblems(refusals, MOST_PROBLEMS));
  if (conflict !== undefined) return unready('UnderlayShared', conflict);
  if (!workload.isDeployable && deployment === undefined)
    return unready('ClusterAgentInvalid', 'no agent runs; the condition Valid has every problem');
  return rolloutCondition(agents);
}

function rolloutCondition({ deployment, replicas, workload }: HostAgents): ReadyCondition {
  // If the ClusterAgent is invalid, running agents stay as they are.
  const wanted = workload.isDeployable ? replicas : countOf(deployment?.spec, 'replicas');
  if (wanted === 0) return unready('HostAgentsOff', 'no agent runs, because spec.agentYaml.replicas is 0');
  const trouble = rolloutTrouble(deployment, HOST_AGENT_REMEDIES);
  if (trouble !== undefined) return unready('HostAgentsStuck', trouble.message);
  if (deployment === undefined) return unready('HostAgentsStarting', 'the Deployment of the agents does not exist yet');
  const { namespace, name } = deployment.metadata;
  const message = `${countOf(deployment.status, 'readyReplicas')} of ${wanted} agents of Deployment ${namespace}/${name} are ready`;
  if (isComplete(deployment, wanted)) return { type: 'Ready', status: 'True', reason: 'HostAgentsReady', message };
  return unready('HostAgentsStarting', `${message}; if that stays, look at the pods`);
}

function isComplete({ metadata, status }: KubernetesObject, wanted: number): boolean {
  const counts = ['readyReplicas', 'updatedReplicas', 'availableReplicas', 'replicas'].map((name) => countOf(status, name));
  return countOf(status, 'observedGeneration') >= (metadata.generation ?? 0) && counts.every((count) => count === wanted);
}

function validCondition({ agents, secretTexts }: ClusterAgentFacts): ClusterAgentCondition {
  const { workload, conflict, limit } = agents;
  const [first, ...others] = [
    ...workload.problems.map((problem) => ({ reason: 'ClusterAgentInvalid', text: describeHostProblem(problem) }) as const),
    ...(conflict === undefined ? [] : [{ reason: 'UnderlayShared', text: conflict } as const]),
    ...(limit === undefined ? [] : [{ reason: 'OneAgentOnly', text: limit } as const]),
    ...secretTexts.map((text) => ({ reason: 'HostSecretUnusable', text }) as const),
  ];
  if (first === undefined) return { type: 'Valid', status: 'True' };
  const message = describeProblems(
    [first, ...others].map(({ text }) => text),
    MOST_PROBLEMS,
  );
  return { type: 'Valid', status: 'False', reason: first.reason, message };
}

function unready(reason: NonNullable<Trouble>, message: string): ReadyCondition {
  return { type: 'Ready', status: 'False', reason, message };
}

function countOf(value: unknown, name: string): number {
  return Number(readField(value, name) ?? 0);
}
