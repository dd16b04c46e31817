/** Plans all DaemonSets of agents that receive magic packets, from all WolConfigs and the existing DaemonSets, as a value. */
import { WOL_GROUP } from '@vmdhcp/ippool-api';
import {
  chooseHttpPorts,
  compareByAge,
  isBeingDeleted,
  isOwnedBy,
  isOwnedByKind,
  type KubernetesObject,
  type OwnedObjectPlan,
  type OwnedObjectWrite,
  orderedWrites,
  planOwnedObject,
  planSurplus,
  runningImageOf,
  toOwnerReference,
} from '@vmdhcp/kube-runtime';
import type { ReadWolConfig } from '../config/read-wol-config.js';
import { type ConfigListening, sharePorts } from '../config/share-ports.js';
import { fitToObserved } from './fit-to-observed.js';
import { toWakeAgentDaemonSet, WAKE_HTTP_PORTS, type WakeDaemonSetSettings, wakeAgentName } from './wake-agent-daemon-set.js';

/** The WolConfigs, and the DaemonSets that exist. */
export interface WakeAgentsObservation {
  /** WolConfigs in use: without problems, and not being deleted. */
  readonly configs: readonly ReadWolConfig[];
  /** The DaemonSets in the namespace of the agents that have the label of wake agents. */
  readonly daemonSets: readonly KubernetesObject[];
}

/** The agents of one WolConfig: its own ones, or the first of those that listen for it, and the others. */
export interface ConfigAgents extends AgentsOfPorts {
  readonly listening: ConfigListening;
  /** Further agents that listen for it: those of other WolConfigs. */
  readonly others: readonly AgentsOfPorts[];
}

/** The agents that listen on some ports of a WolConfig. */
export interface AgentsOfPorts {
  /** The DaemonSet, of its own or of another WolConfig; undefined if there is none. */
  readonly daemonSetName: string | undefined;
  /** As observed; undefined if it does not exist yet. */
  readonly daemonSet: KubernetesObject | undefined;
  /** Why its DaemonSet cannot be in the wanted state, and what to do; undefined if it can. */
  readonly refusal: string | undefined;
}

/** What has to be written so that each WolConfig has its agents, and their state. */
export interface WakeAgentsPlan {
  /** In this order: deletions free ports first. */
  readonly writes: readonly OwnedObjectWrite[];
  /** By the name of each WolConfig. */
  readonly agents: ReadonlyMap<string, ConfigAgents>;
}

const NO_AGENTS: AgentsOfPorts = { daemonSetName: undefined, daemonSet: undefined, refusal: undefined };
const OWNER = { group: WOL_GROUP, kind: 'WolConfig' };

/** The plan for all DaemonSets at once. After it is carried out, planning again writes nothing. */
export function planWakeAgents({ configs, daemonSets }: WakeAgentsObservation, settings: WakeDaemonSetSettings): WakeAgentsPlan {
  const byName = new Map(daemonSets.map((daemonSet) => [daemonSet.metadata.name, daemonSet]));
  const listening = sharePorts(configs);
  const withAgents = configs
    .toSorted((one, other) => compareByAge(one.object, other.object))
    .filter(({ name }) => (listening.get(name)?.ports.length ?? 0) > 0);
  const own = new Map(withAgents.map(({ name }) => [name, byName.get(wakeAgentName(name))]));
  const httpPorts = chooseHttpPorts(own, daemonSets, WAKE_HTTP_PORTS);
  const plans = new Map(
    withAgents.map((config) => {
      const parts = {
        config,
        listening: listening.get(config.name) as ConfigListening,
        httpPort: httpPorts.get(config.name) as number,
      };
      return [config.name, planDaemonSet(parts, own.get(config.name), settings)];
    }),
  );
  const wanted = new Set(withAgents.map(({ name }) => wakeAgentName(name)));
  // DaemonSets of WolConfigs that are gone, are not used, or need none.
  const surplus = daemonSets.filter((one) => !wanted.has(one.metadata.name) && isOwnedByKind(one, OWNER));
  return {
    writes: orderedWrites([...planSurplus(surplus), ...plans.values()]),
    agents: new Map(
      configs.map(({ name }) => {
        const one = listening.get(name) as ConfigListening;
        const hosts = new Set([...(one.ports.length > 0 ? [name] : []), ...one.shared.values()]);
        const [first = NO_AGENTS, ...others] = [...hosts].map((host): AgentsOfPorts => {
          const [daemonSetName, plan] = [wakeAgentName(host), plans.get(host)];
          const refusal = plan?.kind === 'refuse' ? plan.message : undefined;
          return { daemonSetName, daemonSet: byName.get(daemonSetName), refusal };
        });
        return [name, { listening: one, ...first, others }];
      }),
    ),
  };
}

type Parts = Omit<Parameters<typeof toWakeAgentDaemonSet>[0], 'kept'>;

function planDaemonSet(parts: Parts, observed: KubernetesObject | undefined, settings: WakeDaemonSetSettings): OwnedObjectPlan {
  const ownership = { owner: toOwnerReference(parts.config.object) };
  if (observed === undefined) return planOwnedObject(toWakeAgentDaemonSet(parts, settings), undefined, ownership);
  if (isBeingDeleted(observed)) return { kind: 'nothing' };
  const isOwn = isOwnedBy(observed, ownership);
  // A leftover of a deleted WolConfig with the same name: its successor has its own agents.
  if (!isOwn && isOwnedByKind(observed, OWNER)) return { kind: 'delete', object: observed, isReplaced: true };
  const wanted = toWakeAgentDaemonSet(
    { ...parts, kept: parts.config.agent.holdsImage ? runningImageOf(observed) : undefined },
    settings,
  );
  const plan = planOwnedObject(fitToObserved(wanted, observed), observed, ownership);
  if (plan.kind !== 'refuse' || !isOwn) return plan;
  // A selector of the predecessor. Agents have no state, so recreating them loses nothing; agents to keep cannot be recreated.
  return parts.config.agent.holdsImage ? { kind: 'nothing' } : { kind: 'delete', object: observed, isReplaced: true };
}
