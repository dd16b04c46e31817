/** The status of a WolConfig: what it manages, its agents, and what a person should correct. */
import type { ConditionOf } from '@vmdhcp/ippool-api';
import {
  type ConditionState,
  describeNames,
  describeProblems,
  type KubernetesObject,
  type MergePatch,
  mergePatchTowards,
  readConditions,
  readField,
  withConditions,
} from '@vmdhcp/kube-runtime';
import type { AgentsOfPorts, ConfigAgents } from '../agents/plan-wake-agents.js';
import type { ReadWolConfig } from '../config/read-wol-config.js';
import { describePortConflict } from '../config/share-ports.js';
import { describeWolConfigProblem, type WolConfigProblem } from '../config/wol-config-problem.js';
import type { DuplicateAddress } from '../machine/wakeable.js';

type WolCondition = ConditionOf<'WolConfig'>;

/** What is known about a WolConfig without problems. */
export interface WolConfigFacts {
  readonly config: ReadWolConfig;
  readonly managed: number;
  readonly duplicates: readonly DuplicateAddress[];
  readonly missing: readonly string[];
  readonly agents: ConfigAgents;
  /** Why its DaemonSet could not be written; undefined if nothing failed. */
  readonly failure: { readonly reason: 'AgentsRefused' | 'AgentFailed'; readonly message: string } | undefined;
}

/** The wanted status, without times. */
export interface WantedStatus {
  readonly managedVMs: number;
  readonly agentStatus: Readonly<Record<string, unknown>> | undefined;
  readonly conditions: readonly WolCondition[];
}

/** `problems` in a condition: as many as fit. */
const MOST_PROBLEMS = { most: 12, longest: 240 } as const;

/** The status of a WolConfig with problems: it is not used at all. */
export function invalidStatus(problems: readonly WolConfigProblem[]): WantedStatus {
  const message = describeProblems(problems.map(describeWolConfigProblem), MOST_PROBLEMS);
  return {
    managedVMs: 0,
    agentStatus: undefined,
    conditions: [
      { type: 'Ready', status: 'False', reason: 'InvalidConfig', message },
      {
        type: 'MappingsResolved',
        status: 'Unknown',
        reason: 'InvalidConfig',
        message: 'the WolConfig is not used; the condition Ready has every problem',
      },
    ],
  };
}

export function wolConfigStatus(facts: WolConfigFacts): WantedStatus {
  return {
    managedVMs: facts.managed,
    agentStatus: agentStatusOf(facts.agents),
    conditions: [readyCondition(facts), mappingsCondition(facts)],
  };
}

/** Undefined if the status is up to date. @param now - RFC 3339. */
export function planWolConfigStatus(object: KubernetesObject, wanted: WantedStatus, now: string): MergePatch | undefined {
  const before = readConditions(object.status);
  const states = wanted.conditions as readonly ConditionState[];
  const found = { now, generation: object.metadata.generation };
  const agentStatus = wanted.agentStatus ?? (readField(object.status, 'agentStatus') == null ? undefined : null);
  const counts = { managedVMs: wanted.managedVMs, ...(agentStatus !== undefined && { agentStatus }) };
  const observed = (object.status ?? {}) as Readonly<Record<string, unknown>>;
  const changes = mergePatchTowards({ ...counts, conditions: withConditions(before, states, found) }, observed);
  if (changes === undefined) return undefined;
  const conditions = withConditions(before, states, { ...found, isWritten: true });
  return { status: { ...changes, conditions, lastSync: now } };
}

function readyCondition({ agents, failure }: WolConfigFacts): WolCondition {
  const type = 'Ready';
  const { conflicts } = agents.listening;
  if (failure !== undefined) return { type, status: 'False', ...failure };
  const refused = [agents, ...agents.others].find(({ refusal }) => refusal !== undefined);
  if (refused?.refusal !== undefined) return { type, status: 'False', reason: 'AgentsRefused', message: refused.refusal };
  if (conflicts.length > 0) {
    const message = describeProblems(conflicts.map(describePortConflict), { most: 10, longest: 480 });
    return { type, status: 'False', reason: 'PortConflict', message };
  }
  const rollouts = [agents, ...agents.others].map(rolloutCondition);
  const worst = rollouts.find(({ status }) => status === 'False') ?? rollouts.find(({ status }) => status === 'Unknown');
  return worst ?? (rollouts[0] as WolCondition);
}

function rolloutCondition({ daemonSet, daemonSetName }: AgentsOfPorts): WolCondition {
  const type = 'Ready';
  const numberOf = (name: string) => Number(readField(daemonSet?.status, name) ?? 0);
  const isSeen = numberOf('observedGeneration') >= (daemonSet?.metadata.generation ?? 0);
  if (daemonSet === undefined || !isSeen || daemonSet.status === undefined)
    return { type, status: 'Unknown', reason: 'Configured', message: `the agents of DaemonSet ${daemonSetName} are starting` };
  const [desired, ready] = [numberOf('desiredNumberScheduled'), numberOf('numberReady')];
  if (desired === 0) {
    const message = `no node accepts an agent of DaemonSet ${daemonSetName}; correct spec.agent.nodeSelector or spec.agent.tolerations`;
    return { type, status: 'False', reason: 'AgentFailed', message };
  }
  if (ready === 0) {
    const message = `no agent of DaemonSet ${daemonSetName} is ready on ${desired} nodes; if that stays, look at its pods`;
    return { type, status: 'Unknown', reason: 'Configured', message };
  }
  return { type, status: 'True', reason: 'MappingUpdated', message: 'VM mapping refreshed successfully' };
}

function mappingsCondition({ config, duplicates, missing }: WolConfigFacts): WolCondition {
  const type = 'MappingsResolved';
  const [first, ...others] = [
    ...(config.ignoredMappings.length === 0
      ? []
      : [{ reason: 'MappingIgnored', message: describeProblems(config.ignoredMappings) } as const]),
    ...(missing.length === 0 ? [] : [{ reason: 'MachineMissing', message: describeMissing(missing) } as const]),
    ...(duplicates.length === 0 ? [] : [{ reason: 'AddressAmbiguous', message: describeDuplicates(duplicates) } as const]),
  ];
  if (first === undefined) return { type, status: 'True' };
  const message = [first, ...others].map((note) => note.message).join('; ');
  return { type, status: 'False', reason: first.reason, message };
}

function describeMissing(missing: readonly string[]): string {
  return `mappings name virtual machines that do not exist: ${describeNames(missing)}; create them, or correct the mappings`;
}

function describeDuplicates(duplicates: readonly DuplicateAddress[]): string {
  const texts = duplicates.map(({ macAddress, machines }) => `${macAddress} of ${describeNames(machines)}`);
  return `these MAC addresses lead to more than one virtual machine, and wake none: ${describeProblems(texts)}; change the addresses, what the WolConfigs allow, or map each address to one machine in explicitMappings`;
}

function agentStatusOf(agents: ConfigAgents): Readonly<Record<string, unknown>> | undefined {
  if (agents.daemonSetName === undefined) return undefined;
  const numberOf = (name: string) => Number(readField(agents.daemonSet?.status, name) ?? 0);
  return {
    daemonSetName: agents.daemonSetName,
    desiredNumberScheduled: numberOf('desiredNumberScheduled'),
    numberReady: numberOf('numberReady'),
    numberAvailable: numberOf('numberAvailable'),
  };
}
