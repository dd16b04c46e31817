/**
 * Decides which agents open which UDP port. Two processes of one node cannot open the same one: the older WolConfig gets a port
 * first. A younger one shares it if the older one covers its nodes and has the same listening settings: packets are decided by
 * all WolConfigs, whichever agent received them. One that is not covered, and may have agents on the same node, does not get that
 * port.
 */
import { compareByAge } from '@vmdhcp/kube-runtime';
import { coversNodes, mayShareNodes } from './agent-placement.js';
import type { ReadWolConfig, WakeAgentSpec } from './read-wol-config.js';

/** A UDP port that two WolConfigs want in ways that exclude each other. */
export interface PortConflict {
  readonly port: number;
  /** The WolConfig whose agents open the port. */
  readonly other: string;
  /** `nodes`: the other one may have agents on only some of its nodes. `settings`: it listens in another way. */
  readonly because: 'nodes' | 'settings';
}

/** What one WolConfig listens to. */
export interface ConfigListening {
  /** UDP ports that its own agents open. If empty, it has no agents. */
  readonly ports: readonly number[];
  /** True if its own agents receive frames. */
  readonly hasFrames: boolean;
  /** UDP ports that the agents of an older WolConfig, by name, also open for it. */
  readonly shared: ReadonlyMap<number, string>;
  /** UDP ports that no agent opens for it. */
  readonly conflicts: readonly PortConflict[];
}

/** What each WolConfig listens to, by name. The order of the input does not matter. */
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

/** True if agents of `one` receive everything that those of `other` would, and check the same password. */
function listensLike(one: WakeAgentSpec, other: WakeAgentSpec): boolean {
  return textOf(one) === textOf(other) && (one.isPromiscuous || !other.isPromiscuous) && (one.hasFrames || !other.hasFrames);
}

/** The settings that have to be equal. */
function textOf({ interfaces, passwordSecret }: WakeAgentSpec): string {
  return JSON.stringify([interfaces.toSorted(), passwordSecret?.name, passwordSecret?.key]);
}

/** Says what is wrong, and what to do next. */
export function describePortConflict({ port, other, because }: PortConflict): string {
  const remedy = 'choose another UDP port';
  return because === 'nodes'
    ? `UDP port ${port} is opened by the agents of WolConfig ${other}, which is older, on nodes that may be the same; ${remedy}, or a nodeSelector that begins with all labels of the other one, or that wants another value of one of them`
    : `UDP port ${port} is opened by the agents of WolConfig ${other}, which is older, with another password or other interfaces, frames or promiscuous mode; ${remedy}, or the same settings`;
}
