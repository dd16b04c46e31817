import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { applyMergePatch } from '../testing/merge-patch.js';
import type { AgentPodSettings } from './agent-deployment.js';
import { readGroupLease } from './group-lease.js';
import { type ActivePool, type AgentAction, type AgentsSettings, type ObservedGroup, planAgents } from './plan-agents.js';
import { toldPools } from './told-pools.js';
import { AGENT_TOPOLOGIES } from './topology.js';

const SETTINGS: AgentsSettings = {
  namespace: 'harvester-system',
  topology: 'per-network',
  maxPoolsPerAgent: 24,
  maxGroupsUpgrading: 4,
  pods: {
    namespace: 'harvester-system',
    image: 'agent:v1',
    imagePullPolicy: 'IfNotPresent',
    imagePullSecrets: ['registry'],
    serviceAccountName: 'agent',
    priorityClassName: 'system-cluster-critical',
    replicas: 2,
    resources: { cpu: '10m', memory: '96Mi', memoryLimit: '256Mi' },
    leaseSeconds: 2.75,
    dryRun: false,
  },
  unified: { deploymentName: 'chart', containerName: 'agent' },
};

function pool(number: number): ActivePool {
  return {
    key: `default/p${String(number).padStart(4, '0')}`,
    network: `default/net-${number}`,
    serverIP: '10.0.0.2',
    cidr: '10.0.0.0/24',
    clusterNetwork: `vlan${number % 5}`,
    holdsImage: false,
    recorded: { group: undefined, image: undefined },
  };
}

const pools = (count: number) => Array.from({ length: count }, (_, number) => pool(number));
const CHART: ObservedGroup = {
  deployment: {
    metadata: { namespace: 'harvester-system', name: 'chart', uid: 'c' },
    spec: { template: { spec: { containers: [{ name: 'agent' }] } } },
  },
  told: new Map(),
  lease: readGroupLease(undefined, true),
};

const COUNTS = { replicas: 2, updatedReplicas: 2, readyReplicas: 2 };

/** What is observed once the actions were carried out; Leases that nobody leads do without. */
function carriedOut(groups: ReadonlyMap<string, ObservedGroup>, actions: readonly AgentAction[]): Map<string, ObservedGroup> {
  const after = new Map(groups);
  for (const action of actions) {
    if (action.kind !== 'create-deployment' && action.kind !== 'patch-deployment') continue;
    const deployment =
      action.kind === 'create-deployment'
        ? { ...action.deployment, metadata: { ...action.deployment.metadata, uid: 'u' } }
        : nextGeneration(applyMergePatch(action.deployment, action.patch) as KubernetesObject);
    after.set(action.group, { deployment, told: toldPools(deployment, 'agent'), lease: readGroupLease(undefined, true) });
  }
  return after;
}

function nextGeneration({ metadata, ...rest }: KubernetesObject): KubernetesObject {
  return { ...rest, metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 } };
}

function rolledOut(deployment: KubernetesObject | undefined): KubernetesObject {
  return { ...(deployment as KubernetesObject), status: { observedGeneration: deployment?.metadata.generation, ...COUNTS } };
}

function plan(of: readonly ActivePool[], groups: ReadonlyMap<string, ObservedGroup>, settings = SETTINGS) {
  return planAgents({ pools: of, groups, legacyPods: new Map(), nowMs: 0 }, settings).actions;
}

describe('planAgents', () => {
  it.each(AGENT_TOPOLOGIES)('%s: a plan after it was carried out is empty, in whatever order the pools come', (topology) => {
    const settings = { ...SETTINGS, topology };
    const start = new Map(topology === 'unified' ? [['vm-dhcp-agents', CHART] as const] : []);
    const first = plan(pools(1_000), start, settings);
    expect(first).toHaveLength({ unified: 1, 'per-pool': 1_000, 'per-network': 45 }[topology]);
    expect(plan(pools(1_000).toReversed(), carriedOut(start, first), settings)).toEqual([]);
  });

  it('one pool more than 300 changes one Deployment, and so does one less', () => {
    const all = pools(300);
    const groups = carriedOut(new Map(), plan(all, new Map()));
    const more = plan([...all.slice(0, 150), { ...pool(9_999), key: 'default/p0149a' }, ...all.slice(150)], groups);
    expect(more.map(({ kind }) => kind)).toEqual(['patch-deployment']);
    const [less, ...others] = plan(all.slice(1), groups);
    expect(less).toMatchObject({ kind: 'withhold', group: 'vm-dhcp-agent-vlan0-1', poolKeys: ['default/p0000'] });
    expect(others).toEqual([]);
  });

  it('another image goes to a few groups at a time, and no further while those are not ready', () => {
    const all = pools(300);
    const old = carriedOut(new Map(), plan(all, new Map()));
    const ready = new Map([...old].map(([name, group]) => [name, { ...group, deployment: rolledOut(group.deployment) }]));
    const next = { ...SETTINGS, pods: { ...(SETTINGS.pods as AgentPodSettings), image: 'agent:v2' } };
    const first = plan(all, ready, next);
    expect(first.map(({ kind }) => kind)).toEqual(Array(4).fill('patch-deployment'));
    const stuck = carriedOut(ready, first);
    expect(plan(all, stuck, next)).toEqual([]);
    const done = new Map([...stuck].map(([name, group]) => [name, { ...group, deployment: rolledOut(group.deployment) }]));
    expect(plan(all, done, next)).toHaveLength(4);
    // A pool that comes does not wait for upgrades.
    expect(plan([...all, pool(9_999)], stuck, next)).toHaveLength(1);
  });

  it('a network name longer than any Deployment may have gives a name that it may have', () => {
    const actions = plan([{ ...pool(1), clusterNetwork: `Long.${'n'.repeat(60)}` }], new Map());
    expect(actions[0]).toMatchObject({ group: expect.stringMatching(/^vm-dhcp-agent-long-n+-[0-9a-f]{8}-1$/) as string });
    expect((actions[0] as { readonly group: string }).group.length).toBeLessThanOrEqual(63);
  });
});
