/**
 * Which agents open which UDP port. Two processes of one node cannot both open one: the older WolConfig has a port first. A younger one whose nodes
 * and listening settings the older one covers shares it: packets are decided by all WolConfigs, whichever agent received them. One that is not covered,
 * and may have agents on the same node, goes without that port.
 */
import { compareByAge } from '@vmdhcp/kube-runtime';
import { coversNodes, mayShareNodes } from './agent-placement.js';
import type { ReadWolConfig, WakeAgentSpec } from './read-wol-config.js';

export interface PortConflict {
  readonly port: number;
  /** The WolConfig whose agents open the port. */
  readonly other: string;
  /** `nodes`: the other one may have agents on some of its nodes, and not on all. `settings`: it listens in another way. */
  readonly because: 'nodes' | 'settings';
}

/** What one WolConfig listens to. */
export interface ConfigListening {
  /** UDP ports that agents of its own open. None: it has no agents of its own. */
  readonly ports: readonly number[];
  /** True: agents of its own receive frames. */
  readonly hasFrames: boolean;
  /** UDP ports that the agents of an older WolConfig, by name, open for it too. */
  readonly shared: ReadonlyMap<number, string>;
  /** UDP ports that no agent opens for it. */
  readonly conflicts: readonly PortConflict[];
}

/** What each WolConfig listens to, by its name. Their order makes no difference. */
export function sharePorts(configs: readonly ReadWolConfig[]): ReadonlyMap<string, ConfigListening> {
  const listening = new Map<string, ConfigListening>();
  const openers = new Map<number, ReadWolConfig[]>();
  for (const config of configs.toSorted((one, other) => compareByAge(one.object, other.object))) {
    const one = listeningOf(config, openers);
    listening.set(config.name, one);
    for (const port of one.ports) openers.set(port, [...(openers.get(port) ?? []), config]);
  }
  return listening;
}

function listeningOf(config: ReadWolConfig, openers: ReadonlyMap<number, readonly ReadWolConfig[]>): ConfigListening {
  const [ports, shared, conflicts] = [[] as number[], new Map<number, string>(), [] as PortConflict[]];
  for (const port of config.ports) {
    const near = (openers.get(port) ?? []).filter(({ agent }) => mayShareNodes(agent, config.agent));
    const covering = near.find(({ agent }) => coversNodes(agent, config.agent));
    const other = covering ?? near[0];
    if (other === undefined) ports.push(port);
    else if (covering === undefined) conflicts.push({ port, other: other.name, because: 'nodes' });
    else if (listensLike(covering.agent, config.agent)) shared.set(port, covering.name);
    else conflicts.push({ port, other: covering.name, because: 'settings' });
  }
  // Agents that share a port receive its frames too.
  const hasFrames = config.agent.hasFrames && ports.length > 0 && shared.size === 0;
  return { ports, hasFrames, shared, conflicts };
}

/** True if agents of `one` hear what those of `other` would hear, and ask for the same password. */
function listensLike(one: WakeAgentSpec, other: WakeAgentSpec): boolean {
  return textOf(one) === textOf(other) && (one.isPromiscuous || !other.isPromiscuous) && (one.hasFrames || !other.hasFrames);
}

/** The settings that have to be the same. */
function textOf({ interfaces, passwordSecret }: WakeAgentSpec): string {
  return JSON.stringify([interfaces.toSorted(), passwordSecret?.name, passwordSecret?.key]);
}

/** What is wrong, and what to do next. */
export function describePortConflict({ port, other, because }: PortConflict): string {
  const remedy = 'choose another UDP port';
  return because === 'nodes'
    ? `UDP port ${port} is opened by the agents of WolConfig ${other}, which is older, on nodes that may be the same; ${remedy}, or a nodeSelector that begins with all labels of the other one, or that wants another value of one of them`
    : `UDP port ${port} is opened by the agents of WolConfig ${other}, which is older, with another password or other interfaces, frames or promiscuous mode; ${remedy}, or the same settings`;
}
