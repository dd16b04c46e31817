/** The pools that the agents of a group are configured to serve: those that fit into one environment string. */
import { AGENT_NETWORK_CONFIGS_VARIABLE } from '@vmdhcp/ippool-api';
import { compareText, describeCount } from '@vmdhcp/kube-runtime';
import { type ActivePool, observedGroup } from './agents-observation.js';
import type { GroupProblem } from './agents-plan.js';
import { fitAgentConfigs, MOST_ENVIRONMENT_STRING_OCTETS } from './fit-agent-configs.js';
import type { GroupContext } from './group-context.js';
import type { PoolForAgents } from './pool-for-agents.js';

export interface FittedGroup {
  /** Pools that the group should serve. */
  readonly own: readonly ActivePool[];
  /** The same, and pools that it has not released. */
  readonly pools: readonly PoolForAgents[];
  /** Pools of the group that do not fit, by key. */
  readonly leftOut: ReadonlyMap<string, GroupProblem>;
}

/** Keeps configured pools and pools that the group has not released; then adds the others by age. */
export function fitGroup(name: string, context: GroupContext): FittedGroup {
  const { observed, pools, groups, groupOf } = context;
  const { configured } = observedGroup(observed, name);
  const own = (groups.get(name)?.poolKeys ?? []).flatMap((key) => pools.get(key) ?? []).toSorted(byAge);
  const ordered = [
    ...leavingPools(name, context),
    ...own.filter(({ key }) => configured.has(key)),
    ...own.filter(({ key }) => !configured.has(key)),
  ];
  const { fitting, leftOut } = fitAgentConfigs<PoolForAgents>(ordered);
  const problem = tooLarge(name, fitting.length, context);
  const kept = new Set(fitting);
  return {
    own: own.filter((pool) => kept.has(pool)),
    pools: fitting,
    leftOut: new Map(leftOut.flatMap(({ key }) => (groupOf.get(key) === name ? [[key, problem] as const] : []))),
  };
}

/**
 * Configured pools of other groups. As long as the group must release one of them, its template keeps the released ones too, which are suspended for
 * it: each change of the template replaces its pods, and interrupts their service.
 */
function leavingPools(name: string, { observed, groupOf, handover }: GroupContext): PoolForAgents[] {
  // Only configured pools stay: pools of a pod with an earlier template are suspended for it, and disappear with it.
  const others = [...observedGroup(observed, name).configured].filter(([key]) => (groupOf.get(key) ?? name) !== name);
  const isDraining = others.some(([key]) => handover.formerGroupsOf(key).includes(name));
  return isDraining ? others.map(([, pool]) => pool) : [];
}

function tooLarge(group: string, others: number, { settings }: GroupContext): GroupProblem {
  const remedy = settings.topology === 'unified' ? 'use --agent-topology per-network' : 'set a smaller --max-pools-per-agent';
  const message = `${AGENT_NETWORK_CONFIGS_VARIABLE} of the agents ${group} has no room for the pool beside ${describeCount(others, 'other pool')}: Linux takes ${MOST_ENVIRONMENT_STRING_OCTETS} octets; ${remedy}`;
  return { reason: 'AgentConfigTooLarge', message };
}

function byAge(one: ActivePool, other: ActivePool): number {
  return compareText(one.createdAt ?? '', other.createdAt ?? '') || compareText(one.key, other.key);
}
