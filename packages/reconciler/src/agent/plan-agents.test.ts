import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { applyMergePatch } from '../testing/merge-patch.js';
import type { AgentPodSettings } from './agent-deployment.js';
import { formatWithheldPools, readGroupLease } from './group-lease.js';
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
  return planAgents({ pools: of, groups, groupsWithPods: new Set(), legacyPods: new Map(), nowMs: 0 }, settings).actions;
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
    // A pool that comes does not wait for upgrades.
    expect(plan([...all, pool(9_999)], stuck, next)).toHaveLength(1);
  });

  it('what agents log stands in their Lease once, and is taken away when nothing is set', () => {
    const all = pools(1);
    const [[name, group] = ['', undefined]] = [...carriedOut(new Map(), plan(all, new Map()))];
    const seen = (annotations: Readonly<Record<string, string>>) => {
      const lease = readGroupLease({ metadata: { namespace: 'harvester-system', name, annotations } }, true);
      return new Map([[name, { ...(group as ObservedGroup), lease }]]);
    };
    const debug = { ...SETTINGS, log: { level: 'debug' as const, packets: true } };
    const text = '{"level":"debug","packets":true}';
    expect(plan(all, seen({}), debug)).toMatchObject([{ kind: 'set-log', group: name, text }]);
    expect(plan(all, seen({ 'network.harvesterhci.io/agent-log': text }), debug)).toEqual([]);
    expect(plan(all, seen({ 'network.harvesterhci.io/agent-log': text }))).toMatchObject([{ kind: 'set-log', text: undefined }]);
    expect(plan(all, seen({}))).toEqual([]);
  });

  it('a network name longer than any Deployment may have gives a name that it may have', () => {
    const actions = plan([{ ...pool(1), clusterNetwork: `Long.${'n'.repeat(60)}` }], new Map());
    expect(actions[0]).toMatchObject({ group: expect.stringMatching(/^vm-dhcp-agent-long-n+-[0-9a-f]{8}-1$/) as string });
    expect((actions[0] as { readonly group: string }).group.length).toBeLessThanOrEqual(63);
  });
});

describe('a pool that moves from one group to another', () => {
  const OLD = 'vm-dhcp-agent-vlan1-1';
  const NEW = 'default-p0001-agent';
  const moved = { ...pool(1), key: 'default/p0001' };
  const settings = { ...SETTINGS, topology: 'per-pool' as const };
  const WITHHELD = 'network.harvesterhci.io/withheld-pools';

  interface LeaseText {
    readonly withheld?: readonly string[];
    readonly isSeen?: boolean;
    readonly report?: Readonly<Record<string, object>>;
    readonly holder?: string;
  }

  function lease({ withheld = [], isSeen = true, report = {}, holder = 'pod_1' }: LeaseText) {
    const text = formatWithheldPools(withheld);
    const annotations = {
      [WITHHELD]: text,
      [`${WITHHELD}-seen`]: isSeen ? text : 'an older one',
      'network.harvesterhci.io/agent-report': JSON.stringify(report),
    };
    const metadata = { namespace: 'harvester-system', name: OLD, uid: 'l', annotations };
    return readGroupLease({ metadata, spec: { holderIdentity: holder } }, holder === '');
  }

  const ready = lease({ withheld: [moved.key], report: { [moved.key]: { serving: false, reason: 'Withheld' } } });
  const tells = (keys: readonly string[], of: ReturnType<typeof lease>): ObservedGroup => ({
    deployment: rolledOut({ metadata: { namespace: 'harvester-system', name: OLD, uid: 'o' }, spec: { replicas: 2 } }),
    told: new Map(keys.map((key) => [key, { ...moved, key }])),
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

  it.each(['ForeignServer', 'AddressFailed', 'NotLeading', 'Opening'])(
    'is not given away on the word of a leader that has not read what is withheld: %s',
    (reason) => {
      const report = { [moved.key]: { serving: false, reason } };
      const unread = actions(tells([moved.key], lease({ withheld: [moved.key], isSeen: false, report })));
      expect(unread.servedBy.get(moved.key)).toBe(OLD);
      const read = actions(tells([moved.key], lease({ withheld: [moved.key], report })));
      expect(read.servedBy.get(moved.key)).toBeUndefined();
    },
  );

  it('is let go of by a leader that never knew it', () => {
    const plan = actions(tells([moved.key, 'default/other'], lease({ withheld: [moved.key], report: {} })));
    expect(plan.servedBy.get(moved.key)).toBeUndefined();
  });

  it('stays withheld from where it was, for pods that are on their way out and counted nowhere', () => {
    const others = { [moved.key]: { serving: false, reason: 'Withheld' }, 'default/other': { serving: true } };
    const old = tells(['default/other'], lease({ withheld: [moved.key], report: others }));
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
    const ofOld = plan.actions.filter((action) => action.kind === 'withhold' && action.group === OLD);
    expect(ofOld.every((action) => action.kind === 'withhold' && action.poolKeys.includes(moved.key))).toBe(true);
  });

  it('of a group whose Deployment is gone is withheld from the pods that may be left, and its Lease goes after them', () => {
    const gone = (of: ReturnType<typeof lease>): ObservedGroup => ({ deployment: undefined, told: new Map(), lease: of });
    const report = { [moved.key]: { serving: true } };
    const released = gone(lease({ report, holder: '' }));
    const first = actions(released, [OLD]);
    expect(first.servedBy.get(moved.key), 'a pod may take the Lease').toBe(OLD);
    expect(first.actions).toContainEqual(expect.objectContaining({ kind: 'withhold', group: OLD, poolKeys: [moved.key] }));
    expect(first.actions.some(({ kind }) => kind === 'delete-lease')).toBe(false);
    const last = actions(released, []);
    expect(last.servedBy.get(moved.key)).toBeUndefined();
    expect(last.actions.some(({ kind }) => kind === 'delete-lease')).toBe(true);
  });
});
