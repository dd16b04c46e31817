/** Stories of pools that move between topologies, in steps that a seed orders. Each returns the violations; empty if all is well. */
import { randomFrom } from '@vmdhcp/kube-runtime/testing';
import { onClusterNetwork } from '../network/placement-fixtures.js';
import { AgentsInSteps } from './agents-in-steps-fixtures.js';
import type { ActivePool } from './agents-observation.js';
import type { AgentsSettings } from './agents-plan.js';
import { AGENT_TOPOLOGIES, type AgentTopology } from './topology.js';

export interface TopologyFault {
  readonly kind: 'double-owner' | 'unanswered' | 'other';
  readonly message: string;
}

const PODS: NonNullable<AgentsSettings['pods']> = {
  namespace: 'harvester-system',
  image: 'agent:v1',
  imagePullPolicy: 'IfNotPresent',
  imagePullSecrets: [],
  serviceAccountName: 'agent',
  priorityClassName: undefined,
  replicas: 2,
  resources: { cpu: '10m', memory: '96Mi', memoryLimit: '256Mi' },
  leaseSeconds: 2.75,
  dryRun: false,
};

const SETTINGS: AgentsSettings = {
  namespace: 'harvester-system',
  topology: 'per-network',
  maxPoolsPerAgent: 24,
  maxGroupsUpgrading: 4,
  pods: PODS,
  unified: { deploymentName: 'chart', containerName: 'agent' },
};

const STEPS = 600;

export type TopologySwitch = readonly [from: AgentTopology, to: AgentTopology];

/** Every topology to every other one. */
export const TOPOLOGY_SWITCHES: readonly TopologySwitch[] = AGENT_TOPOLOGIES.flatMap((from) =>
  AGENT_TOPOLOGIES.filter((to) => to !== from).map((to) => [from, to] as const),
);

/** One switch of healthy agents: each of `count` pools is interrupted at most once. */
export function playTopologySwitch([from, to]: TopologySwitch, count: number, seed: number): TopologyFault[] {
  const story = begin({ topology: from }, count, seed);
  story.control({ topology: to });
  for (let step = 0; step < STEPS; step++) story.step();
  story.settle();
  const interruptions = [...story.interruptions].filter(([, times]) => times > 1);
  return [
    ...faultsOf(story, count),
    ...interruptions.map(
      ([key, times]): TopologyFault => ({ kind: 'unanswered', message: `${key} was interrupted ${times} times` }),
    ),
    ...(story.interruptions.size === count ? [] : [other(`${story.interruptions.size} of ${count} pools moved`)]),
  ];
}

/** Six switches, sometimes before the previous one is over, while agents die and freeze. */
export function playTopologySwitches(seed: number): TopologyFault[] {
  const random = randomFrom(1_000 + seed);
  const story = begin({ topology: 'per-network' }, 6, seed);
  for (let turn = 0; turn < 6; turn++) {
    story.control({ topology: AGENT_TOPOLOGIES[random(3)] ?? 'unified' });
    const steps = random(STEPS);
    for (let step = 0; step < steps; step++) story.step(true);
  }
  story.settle();
  return faultsOf(story, 6);
}

/**
 * Four switches of agents with separate rights, while Leases are deleted by hand.
 * @param crashes - true if agents also die and freeze.
 */
export function playGroupRightsSwitches(seed: number, crashes: boolean): TopologyFault[] {
  const { serviceAccountName: _, ...pods } = PODS;
  const random = randomFrom(7_000 + seed);
  const next = () => AGENT_TOPOLOGIES[random(3)] ?? 'unified';
  const story = begin({ topology: next(), groupRights: true, pods }, 5, seed);
  for (let turn = 0; turn < 4; turn++) {
    story.control({ topology: next() });
    const steps = random(400);
    for (let step = 0; step < steps; step++) {
      story.step(crashes);
      if (random(120) === 0) story.deleteLease();
    }
  }
  story.settle();
  story.settle();
  const faults = faultsOf(story, 5);
  story.writes = [];
  story.settle();
  return story.writes.length === 0 ? faults : [...faults, other(`written when all is done: ${story.writes.join(', ')}`)];
}

/** The stories in turn. */
export function playTopologyStory(seed: number): TopologyFault[] {
  const topologies = TOPOLOGY_SWITCHES[Math.floor(seed / 3) % TOPOLOGY_SWITCHES.length] ?? ['per-network', 'per-pool'];
  if (seed % 3 === 0) return playTopologySwitch(topologies, seed % 2 === 0 ? 3 : 10, seed);
  return seed % 3 === 1 ? playTopologySwitches(seed) : playGroupRightsSwitches(seed, seed % 2 === 0);
}

function begin(settings: Partial<AgentsSettings>, count: number, seed: number): AgentsInSteps {
  const story = new AgentsInSteps(pools(count), { ...SETTINGS, ...settings }, randomFrom(seed));
  story.settle();
  if (story.servedBy().size !== count) throw new Error(`${story.servedBy().size} of ${count} pools are served at first`);
  return story;
}

function pools(count: number): ActivePool[] {
  return Array.from({ length: count }, (_, number) => ({
    key: `default/p${number}`,
    network: `default/net-${number}`,
    serverIP: '10.0.0.2',
    cidr: '10.0.0.0/24',
    placement: onClusterNetwork(`vlan${number % 2}`),
    holdsImage: false,
    recorded: { group: undefined, image: undefined },
  }));
}

function faultsOf(story: AgentsInSteps, count: number): TopologyFault[] {
  const served = story.servedBy().size;
  return [
    ...[...story.servedTwice].map((key): TopologyFault => ({ kind: 'double-owner', message: `two pods served ${key}` })),
    ...(served === count ? [] : [{ kind: 'unanswered' as const, message: `${served} of ${count} pools are served in the end` }]),
  ];
}

function other(message: string): TopologyFault {
  return { kind: 'other', message };
}
