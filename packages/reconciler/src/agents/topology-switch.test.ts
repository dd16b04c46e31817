import { randomFrom } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { AgentsInSteps } from './agents-in-steps-fixtures.js';
import type { ActivePool } from './agents-observation.js';
import type { AgentsSettings } from './agents-plan.js';
import { AGENT_TOPOLOGIES, type AgentTopology } from './topology.js';

const SETTINGS: AgentsSettings = {
  namespace: 'harvester-system',
  topology: 'per-network',
  maxPoolsPerAgent: 24,
  maxGroupsUpgrading: 4,
  pods: {
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
  },
  unified: { deploymentName: 'chart', containerName: 'agent' },
};

const pools = (count: number): ActivePool[] =>
  Array.from({ length: count }, (_, number) => ({
    key: `default/p${number}`,
    network: `default/net-${number}`,
    serverIP: '10.0.0.2',
    cidr: '10.0.0.0/24',
    clusterNetwork: `vlan${number % 2}`,
    holdsImage: false,
    recorded: { group: undefined, image: undefined },
  }));

const SWITCHES: readonly (readonly [AgentTopology, AgentTopology])[] = AGENT_TOPOLOGIES.flatMap((from) =>
  AGENT_TOPOLOGIES.filter((to) => to !== from).map((to) => [from, to] as const),
);
const SEEDS = Number(process.env['VMDHCP_SWITCH_SEEDS'] ?? 5);
const STEPS = 600;

function begin(from: AgentTopology, count: number, seed: number, more: Partial<AgentsSettings> = {}): AgentsInSteps {
  const story = new AgentsInSteps(pools(count), { ...SETTINGS, ...more, topology: from }, randomFrom(seed));
  story.settle();
  expect(story.servedBy().size, `seed ${seed}: served at first`).toBe(count);
  return story;
}

describe('a switch of the topology, in steps that come in any order', () => {
  it.each(SWITCHES.flatMap(([from, to]) => [3, 10].map((count) => [from, to, count] as const)))(
    'from %s to %s: each of %i pools is interrupted once at most, and never served by two',
    (from, to, count) => {
      for (let seed = 0; seed < SEEDS; seed++) {
        const story = begin(from, count, seed);
        story.control({ topology: to });
        for (let step = 0; step < STEPS; step++) story.step();
        story.settle();
        expect(story.servedBy().size, `seed ${seed}: served in the end`).toBe(count);
        expect([...story.servedTwice], `seed ${seed}`).toEqual([]);
        expect(Math.max(...story.interruptions.values()), `seed ${seed}: ${JSON.stringify([...story.interruptions])}`).toBe(1);
      }
    },
  );

  it('one after the other, also before the last one is over, while agents die and freeze: never served by two, and served in the end', () => {
    for (let seed = 0; seed < 2 * SEEDS; seed++) {
      const random = randomFrom(1_000 + seed);
      const story = begin('per-network', 6, seed);
      for (let turn = 0; turn < 6; turn++) {
        story.control({ topology: AGENT_TOPOLOGIES[random(3)] ?? 'unified' });
        const steps = random(STEPS);
        for (let step = 0; step < steps; step++) story.step(true);
      }
      story.settle();
      expect([...story.servedTwice], `seed ${seed}`).toEqual([]);
      expect(story.servedBy().size, `seed ${seed}: served in the end`).toBe(6);
    }
  });

  it.each([false, true])(
    'with rights of their own, while Leases are deleted by hand; agents die and freeze: %s',
    { timeout: 60_000 },
    (fails) => {
      const { serviceAccountName: _, ...pods } = SETTINGS.pods ?? raise();
      for (let seed = 0; seed < 4 * SEEDS; seed++) {
        const random = randomFrom(7_000 + seed);
        const next = () => AGENT_TOPOLOGIES[random(3)] ?? 'unified';
        const story = begin(next(), 5, seed, { groupRights: true, pods });
        for (let turn = 0; turn < 4; turn++) {
          story.control({ topology: next() });
          const steps = random(400);
          for (let step = 0; step < steps; step++) {
            story.step(fails);
            if (random(120) === 0) story.deleteLease();
          }
        }
        story.settle();
        story.settle();
        expect([...story.servedTwice], `seed ${seed}`).toEqual([]);
        expect(story.servedBy().size, `seed ${seed}: served in the end`).toBe(5);
        story.writes = [];
        story.settle();
        expect(story.writes, `seed ${seed}: written when all is done`).toEqual([]);
      }
    },
  );
});

function raise(): never {
  throw new Error('the settings have no pods');
}
