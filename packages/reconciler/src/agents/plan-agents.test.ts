import {
  AGENT_NETWORK_CONFIGS_VARIABLE,
  AGENT_REPORT_ANNOTATION,
  formatAgentReport,
  formatSuspendedPools,
  SUSPENDED,
  SUSPENDED_POOLS_ANNOTATION,
  SUSPENDED_POOLS_SEEN_ANNOTATION,
} from '@vmdhcp/ippool-api';
import { compareText, type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';
import { applyMergePatch } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { onClusterNetwork } from '../network/placement-fixtures.js';
import type { AgentPodSettings } from './agent-deployment.js';
import type { ActivePool, ObservedGroup } from './agents-observation.js';
import type { AgentAction, AgentsSettings } from './agents-plan.js';
import { configuredPools, findContainer } from './configured-pools.js';
import { MOST_CONFIG_OCTETS } from './fit-agent-configs.js';
import { readGroupLease } from './group-lease.js';
import { planAgents } from './plan-agents.js';
import { toAgentNetworkConfigs } from './pool-for-agents.js';
import { AGENT_TOPOLOGIES, UNIFIED_GROUP } from './topology.js';

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
    placement: onClusterNetwork(`vlan${number % 5}`),
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
  configured: new Map(),
  lease: readGroupLease(undefined, true),
};

const COUNTS = { replicas: 2, updatedReplicas: 2, readyReplicas: 2 };

/** The observation after the actions; Leases without a leader are not observed. */
function carriedOut(groups: ReadonlyMap<string, ObservedGroup>, actions: readonly AgentAction[]): Map<string, ObservedGroup> {
  const after = new Map(groups);
  for (const action of actions) {
    if (action.kind !== 'create-deployment' && action.kind !== 'patch-deployment') continue;
    const deployment =
      action.kind === 'create-deployment'
        ? { ...action.deployment, metadata: { ...action.deployment.metadata, uid: 'u' } }
        : nextGeneration(applyMergePatch(action.deployment, action.patch) as KubernetesObject);
    after.set(action.group, {
      deployment,
      configured: configuredPools(deployment, 'agent'),
      lease: readGroupLease(undefined, true),
    });
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
  return planAgents({ pools: of, groups, groupsWithPods: new Set(), legacyPods: new Map(), nowMs: 0 }, settings).actions;
}

describe('planAgents', () => {
  it.each(AGENT_TOPOLOGIES)('%s: a new plan after it was carried out is empty, whatever the order of pools', (topology) => {
    const settings = { ...SETTINGS, topology };
    const start = new Map(topology === 'unified' ? [['vm-dhcp-agents', CHART] as const] : []);
    const first = plan(pools(1_000), start, settings);
    expect(first).toHaveLength({ unified: 1, 'per-pool': 1_000, 'per-network': 45 }[topology]);
    expect(plan(pools(1_000).toReversed(), carriedOut(start, first), settings)).toEqual([]);
  });

  it('adding a pool to 300, or removing one, changes one Deployment', () => {
    const all = pools(300);
    const groups = carriedOut(new Map(), plan(all, new Map()));
    const more = plan([...all.slice(0, 150), { ...pool(9_999), key: 'default/p0149a' }, ...all.slice(150)], groups);
    expect(more.map(({ kind }) => kind)).toEqual(['patch-deployment']);
    const [less, ...others] = plan(all.slice(1), groups);
    expect(less).toMatchObject({
      kind: 'create-lease',
      group: 'vm-dhcp-agent-vlan0-1',
      poolKeys: ['default/p0000'],
      isGuarded: true,
    });
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
    // A new pool does not wait for upgrades.
    expect(plan([...all, pool(9_999)], stuck, next)).toHaveLength(1);
  });

  it('log settings are written to the Lease once, and removed when nothing is set', () => {
    const all = pools(1);
    const [[name, group] = ['', undefined]] = [...carriedOut(new Map(), plan(all, new Map()))];
    const seen = (annotations: Readonly<Record<string, string>>) => {
      const lease = readGroupLease({ metadata: { namespace: 'harvester-system', name, annotations } }, true);
      return new Map([[name, { ...(group as ObservedGroup), lease }]]);
    };
    const debug = { ...SETTINGS, log: { level: 'debug' as const, packets: true } };
    const text = '{"level":"debug","packets":true}';
    expect(plan(all, seen({}), debug)).toMatchObject([
      { kind: 'set-lease-settings', group: name, annotations: { 'network.harvesterhci.io/agent-log': text } },
    ]);
    expect(plan(all, seen({ 'network.harvesterhci.io/agent-log': text }), debug)).toEqual([]);
    expect(plan(all, seen({ 'network.harvesterhci.io/agent-log': text }))).toMatchObject([
      { kind: 'set-lease-settings', annotations: { 'network.harvesterhci.io/agent-log': null } },
    ]);
    expect(plan(all, seen({}))).toEqual([]);
  });

  it('a network name that is too long for a Deployment gives a valid name', () => {
    const actions = plan([{ ...pool(1), placement: onClusterNetwork(`Long.${'n'.repeat(60)}`) }], new Map());
    expect(actions[0]).toMatchObject({ group: expect.stringMatching(/^vm-dhcp-agent-long-n+-[0-9a-f]{8}-1$/) as string });
    expect((actions[0] as { readonly group: string }).group.length).toBeLessThanOrEqual(63);
  });
});

describe('a pool that moves from one group to another', () => {
  const OLD = 'vm-dhcp-agent-vlan1-1';
  const NEW = 'default-p0001-agent';
  const moved = { ...pool(1), key: 'default/p0001' };
  const settings = { ...SETTINGS, topology: 'per-pool' as const };
  const SUSPENDED = 'network.harvesterhci.io/suspended-pools';

  interface LeaseText {
    readonly suspended?: readonly string[];
    readonly isSeen?: boolean;
    readonly report?: Readonly<Record<string, object>>;
    readonly holder?: string;
  }

  function lease({ suspended = [], isSeen = true, report = {}, holder = 'pod_1' }: LeaseText) {
    const text = formatSuspendedPools(suspended);
    const annotations = {
      [SUSPENDED]: text,
      [`${SUSPENDED}-seen`]: isSeen ? text : 'an older one',
      'network.harvesterhci.io/agent-report': JSON.stringify(report),
    };
    const metadata = { namespace: 'harvester-system', name: OLD, uid: 'l', annotations };
    return readGroupLease({ metadata, spec: { holderIdentity: holder } }, holder === '');
  }

  const ready = lease({ suspended: [moved.key], report: { [moved.key]: { serving: false, reason: 'Suspended' } } });
  const tells = (keys: readonly string[], of: ReturnType<typeof lease>): ObservedGroup => ({
    deployment: rolledOut({ metadata: { namespace: 'harvester-system', name: OLD, uid: 'o' }, spec: { replicas: 2 } }),
    configured: new Map(keys.map((key) => [key, { ...moved, key }])),
    lease: of,
  });
  const actions = (old: ObservedGroup, groupsWithPods: readonly string[] = []) =>
    planAgents(
      {
        pools: [moved],
        groups: new Map([
          [OLD, old],
          [NEW, tells([moved.key], ready)],
        ]),
        groupsWithPods: new Set(groupsWithPods),
        legacyPods: new Map(),
        nowMs: 0,
      },
      settings,
    );

  it.each(['RogueServer', 'AddressFailed', 'NotLeading', 'Opening'])(
    'does not move on the report of a leader that has not read the suspension: %s',
    (reason) => {
      const report = { [moved.key]: { serving: false, reason } };
      const unread = actions(tells([moved.key], lease({ suspended: [moved.key], isSeen: false, report })));
      expect(unread.servedBy.get(moved.key)).toBe(OLD);
      const read = actions(tells([moved.key], lease({ suspended: [moved.key], report })));
      expect(read.servedBy.get(moved.key)).toBeUndefined();
    },
  );

  it('is released by a leader that never knew it', () => {
    const plan = actions(tells([moved.key, 'default/other'], lease({ suspended: [moved.key], report: {} })));
    expect(plan.servedBy.get(moved.key)).toBeUndefined();
  });

  it('stays suspended for its former group, whose terminating pods are not counted', () => {
    const others = { [moved.key]: { serving: false, reason: 'Suspended' }, 'default/other': { serving: true } };
    const old = tells(['default/other'], lease({ suspended: [moved.key], report: others }));
    const other = { ...moved, key: 'default/other', recorded: { group: OLD, image: undefined } };
    const plan = planAgents(
      {
        pools: [moved, other],
        groups: new Map([
          [OLD, old],
          [NEW, tells([moved.key], lease({ report: { [moved.key]: { serving: true } } }))],
        ]),
        groupsWithPods: new Set(),
        legacyPods: new Map(),
        nowMs: 0,
      },
      { ...settings, topology: 'per-network' },
    );
    const ofOld = plan.actions.filter((action) => action.kind === 'suspend' && action.group === OLD);
    expect(ofOld.every((action) => action.kind === 'suspend' && action.poolKeys.includes(moved.key))).toBe(true);
  });

  it('is suspended for leftover pods of a group without a Deployment, whose Lease is deleted after them', () => {
    const gone = (of: ReturnType<typeof lease>): ObservedGroup => ({ deployment: undefined, configured: new Map(), lease: of });
    const report = { [moved.key]: { serving: true } };
    const released = gone(lease({ report, holder: '' }));
    const first = actions(released, [OLD]);
    expect(first.servedBy.get(moved.key), 'a pod may take the Lease').toBe(OLD);
    expect(first.actions).toContainEqual(expect.objectContaining({ kind: 'suspend', group: OLD, poolKeys: [moved.key] }));
    expect(first.actions.some(({ kind }) => kind === 'delete-lease')).toBe(false);
    const last = actions(released, []);
    expect(last.servedBy.get(moved.key)).toBeUndefined();
    expect(last.actions.some(({ kind }) => kind === 'delete-lease')).toBe(true);
  });
});

describe('more pools than one environment string can name', () => {
  const UNIFIED = { ...SETTINGS, topology: 'unified' as const };
  const observe = (of: readonly ActivePool[], groups: ReadonlyMap<string, ObservedGroup>, settings = UNIFIED) =>
    planAgents({ pools: of, groups, groupsWithPods: new Set(), legacyPods: new Map(), nowMs: 0 }, settings);
  const chart = new Map([[UNIFIED_GROUP, CHART]]);
  const configuredIn = (groups: ReadonlyMap<string, ObservedGroup>, name = UNIFIED_GROUP) => [
    ...(groups.get(name)?.configured.keys() ?? []),
  ];
  const aged = (count: number) =>
    pools(count).map((one, index) => ({ ...one, createdAt: `2026-01-${10 + Math.floor(index / 100)}` }));
  const valueIn = (groups: ReadonlyMap<string, ObservedGroup>) =>
    readText(readList(findContainer(groups.get(UNIFIED_GROUP)?.deployment as KubernetesObject, 'agent'), 'env')[0], 'value') ??
    '';

  it('the newest are left out, with the remedy', () => {
    const first = observe(aged(1_000).toReversed(), chart);
    const groups = carriedOut(chart, first.actions);
    expect(Buffer.byteLength(valueIn(groups))).toBeLessThanOrEqual(MOST_CONFIG_OCTETS);
    const configured = configuredIn(groups);
    expect(configured).toEqual(
      pools(1_000)
        .slice(0, configured.length)
        .map(({ key }) => key),
    );
    expect([...first.leftOut.keys()].toSorted(compareText)).toEqual(
      pools(1_000)
        .slice(configured.length)
        .map(({ key }) => key),
    );
    expect(first.leftOut.get('default/p0999')).toEqual({
      reason: 'AgentConfigTooLarge',
      message: `AGENT_NETWORK_CONFIGS of the agents ${UNIFIED_GROUP} has no room for the pool beside ${configured.length} other pools: Linux takes 131072 octets; use --agent-topology per-network`,
    });
  });

  it('a configured pool stays when an older pool comes; when one goes, the oldest pool left out follows', () => {
    const [late, ...others] = aged(1_000).toReversed();
    const all = others.toReversed();
    const before = carriedOut(chart, observe(all, chart).actions);
    const configured = configuredIn(before);
    const older = { ...(late as ActivePool), key: 'default/a-first', createdAt: '2025-01-01' };
    expect(observe([older, ...all], before).actions).toEqual([]);
    const suspended = observe(all.slice(1), before).actions;
    expect(suspended).toMatchObject([{ kind: 'create-lease', poolKeys: ['default/p0000'] }]);
    const lease = {
      metadata: { name: UNIFIED_GROUP, annotations: { [SUSPENDED_POOLS_ANNOTATION]: formatSuspendedPools(['default/p0000']) } },
    };
    const group = before.get(UNIFIED_GROUP) as ObservedGroup;
    const released = new Map([[UNIFIED_GROUP, { ...group, lease: readGroupLease(lease, true) }]]);
    const after = carriedOut(released, observe([older, ...all.slice(1)], released).actions);
    expect(configuredIn(after)).toEqual(['default/a-first', ...configured.slice(1)]);
  });

  it('agents that an earlier version configured with too many pools get fewer, after their Lease suspends the others', () => {
    const all = aged(1_000);
    const container = {
      name: 'agent',
      env: [{ name: AGENT_NETWORK_CONFIGS_VARIABLE, value: JSON.stringify(toAgentNetworkConfigs(all)) }],
    };
    const deployment = { ...(CHART.deployment as KubernetesObject), spec: { template: { spec: { containers: [container] } } } };
    const overfull = new Map([[UNIFIED_GROUP, { ...CHART, deployment, configured: configuredPools(deployment, 'agent') }]]);
    const first = observe(all, overfull);
    const leftOut = [...first.leftOut.keys()];
    expect(first.actions).toMatchObject([{ kind: 'create-lease', poolKeys: leftOut.toSorted(compareText) }]);
    const lease = {
      metadata: { name: UNIFIED_GROUP, annotations: { [SUSPENDED_POOLS_ANNOTATION]: formatSuspendedPools(leftOut) } },
    };
    const suspended = new Map([
      [UNIFIED_GROUP, { ...(overfull.get(UNIFIED_GROUP) as ObservedGroup), lease: readGroupLease(lease, true) }],
    ]);
    const second = observe(all, suspended);
    expect(second.actions.map(({ kind }) => kind)).toEqual(['patch-deployment']);
    const patched = carriedOut(suspended, second.actions);
    expect(Buffer.byteLength(valueIn(patched))).toBeLessThanOrEqual(MOST_CONFIG_OCTETS);
    const settled = new Map([
      [UNIFIED_GROUP, { ...(patched.get(UNIFIED_GROUP) as ObservedGroup), lease: readGroupLease(lease, true) }],
    ]);
    expect(observe(all, settled).actions).toEqual([]);
  });

  it('a switch to a topology without room for all pools ends no service: the others stay where they are, and none is served twice', () => {
    const all = aged(1_000);
    let groups = ledBy(carriedOut(chart, plan(all, chart)));
    expect(servedIn(groups)).toHaveLength(1_000);
    let result = observe(all, groups);
    for (let round = 0; result.actions.length > 0; round++) {
      expect(round).toBeLessThan(20);
      groups = ledBy(carriedOut(groups, result.actions), groups, result.actions);
      const served = servedIn(groups);
      expect(new Set(served).size).toBe(served.length);
      result = observe(all, groups);
    }
    const configured = configuredIn(groups);
    expect(configured.length).toBeLessThan(all.length - 100);
    expect([...result.leftOut.keys()].toSorted(compareText)).toEqual(keysOf(all.slice(configured.length)));
    expect(servedIn(groups).toSorted(compareText)).toEqual(keysOf(all));
    for (const key of result.leftOut.keys()) expect(result.servedBy.get(key)).toMatch(/^vm-dhcp-agent-vlan/);
  });

  const keysOf = (some: readonly ActivePool[]) => some.map(({ key }) => key);
  const servedIn = (groups: ReadonlyMap<string, ObservedGroup>) =>
    [...groups.values()].flatMap(({ lease }) => [...lease.report].flatMap(([key, { serving }]) => (serving ? [key] : [])));

  /** Every Deployment has a leader that serves its configured pools, but for those that its Lease suspends. */
  function ledBy(
    groups: ReadonlyMap<string, ObservedGroup>,
    before: ReadonlyMap<string, ObservedGroup> = new Map(),
    actions: readonly AgentAction[] = [],
  ): Map<string, ObservedGroup> {
    const suspendedNow = new Map(
      actions.flatMap((one) =>
        one.kind === 'suspend' || one.kind === 'create-lease' ? [[one.group, one.poolKeys] as const] : [],
      ),
    );
    const deleted = new Set(actions.flatMap((one) => (one.kind === 'delete-deployment' ? [one.group] : [])));
    const led = [...groups].flatMap(([name, group]) => {
      if (deleted.has(name) || group.deployment === undefined) return [];
      const suspended = new Set(suspendedNow.get(name) ?? before.get(name)?.lease.suspended ?? []);
      const text = formatSuspendedPools(suspended);
      const report = [...group.configured.keys()].map(
        (key) => [key, suspended.has(key) ? { serving: false, reason: SUSPENDED } : { serving: true }] as const,
      );
      const annotations = {
        [SUSPENDED_POOLS_ANNOTATION]: text,
        [SUSPENDED_POOLS_SEEN_ANNOTATION]: text,
        [AGENT_REPORT_ANNOTATION]: formatAgentReport(new Map(report)),
      };
      const lease = { metadata: { name, annotations }, spec: { holderIdentity: `${name}_x` } };
      return [[name, { ...group, deployment: rolledOut(group.deployment), lease: readGroupLease(lease, false) }] as const];
    });
    return new Map(led);
  }
});
