/** Agents of a previous namespace are seen, hand over their pools, and are removed. */
import {
  AGENT_GROUP_LABEL,
  AGENT_LABEL,
  AGENT_LABEL_VALUE,
  formatSuspendedPools,
  IPPOOL_NAME_LABEL,
  IPPOOL_NAMESPACE_LABEL,
} from '@vmdhcp/ippool-api';
import { type KubernetesObject, SharedCaches } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import type { ActivePool, ObservedGroup } from '../agents/agents-observation.js';
import type { AgentsSettings } from '../agents/agents-plan.js';
import { readGroupLease } from '../agents/group-lease.js';
import { planAgents } from '../agents/plan-agents.js';
import { onClusterNetwork } from '../network/placement-fixtures.js';
import { type AgentObjectKind, agentResources } from './agent-resources.js';
import { AgentsView } from './agents-view.js';

const GROUP = 'vm-dhcp-agent-1';
const UNIFIED = { deploymentName: 'chart', containerName: 'agent' };

function labelled(kind: string, namespace: string, name = GROUP): KubernetesObject {
  const labels = { [AGENT_LABEL]: AGENT_LABEL_VALUE, [AGENT_GROUP_LABEL]: GROUP };
  return { apiVersion: 'v1', kind, metadata: { namespace, name, uid: `${kind}-${namespace}`, labels } };
}

const SETTINGS: AgentsSettings = {
  namespace: 'new',
  topology: 'per-network',
  maxPoolsPerAgent: 24,
  maxGroupsUpgrading: 4,
  groupRights: true,
  pods: undefined,
  unified: UNIFIED,
};

function resourceOf(clock: FakeClock, ...objects: readonly KubernetesObject[]): MemoryResource<KubernetesObject> {
  const made = new MemoryResource<KubernetesObject>(clock);
  for (const object of objects) made.put(object);
  return made;
}

/** @param changes - groups that change, and the pools that they name, are added to it. */
function observing(
  clock: FakeClock,
  objects: Partial<Record<AgentObjectKind, MemoryResource<KubernetesObject>>>,
  changes: string[] = [],
): AgentsView {
  const resources = agentResources({ ...SETTINGS, previousNamespace: 'old' });
  const kinds = Object.keys(resources) as AgentObjectKind[];
  const caches = new SharedCaches({
    open: (resource) =>
      kinds.flatMap((kind) => (resources[kind] === resource ? (objects[kind] ?? []) : []))[0] ?? new MemoryResource(clock),
    clock,
    backOff: { firstMs: 100, mostMs: 30_000, random: () => 0.5 },
  });
  const [now, ignore] = [() => '2026-01-01T00:00:00Z', () => undefined];
  const settings = { namespace: 'new', unified: UNIFIED, caches, resources, clock, now, onError: ignore };
  return new AgentsView({
    ...settings,
    onChange: (change) => change && changes.push(`${change.group}: ${[...change.pools].join()}`),
  });
}

describe('AgentsView', () => {
  it('distinguishes groups and pods of the previous namespace from those of the current one', async () => {
    const clock = new FakeClock();
    const resource = (...objects: readonly KubernetesObject[]) => resourceOf(clock, ...objects);
    const labels = { [AGENT_LABEL]: 'agent', [IPPOOL_NAMESPACE_LABEL]: 'default', [IPPOOL_NAME_LABEL]: 'net' };
    const upstream: KubernetesObject = {
      kind: 'Pod',
      metadata: { namespace: 'old', name: 'default-net-agent', uid: 'u', labels },
    };
    const observer = observing(clock, {
      deployments: resource(labelled('Deployment', 'new')),
      previousDeployments: resource(labelled('Deployment', 'old')),
      previousLeases: resource(labelled('Lease', 'old'), labelled('Lease', 'old', 'another')),
      previousPods: resource(labelled('Pod', 'old', `${GROUP}-x`), upstream),
    });
    observer.start();
    await clock.advance(1_000);
    expect(observer.synced).toBe(true);
    expect([...observer.groups().keys()]).toEqual([GROUP, `old/${GROUP}`, 'old/another']);
    expect(observer.groups().get(`old/${GROUP}`)).toMatchObject({
      deployment: { metadata: { namespace: 'old' } },
      lease: { object: { metadata: { namespace: 'old' } } },
    });
    expect(observer.group(`old/${GROUP}`).lease.object?.metadata.namespace).toBe('old');
    expect(observer.group(GROUP).lease.object).toBeUndefined();
    expect([...observer.groupsWithPods()]).toEqual([`old/${GROUP}`]);
    expect([...observer.legacyPods()]).toMatchObject([['default/net', [{ metadata: { namespace: 'old' } }]]]);
    observer.deleted('deployments', labelled('Deployment', 'old'), undefined);
    expect(observer.groups().get(`old/${GROUP}`)?.deployment?.metadata.deletionTimestamp).toBeDefined();
    expect(observer.groups().get(GROUP)?.deployment?.metadata.deletionTimestamp).toBeUndefined();
    observer.stop();
  });
});

describe('the Deployment of a chart in the previous namespace', () => {
  const NAME = 'old/vm-dhcp-agents';
  const configs = JSON.stringify([
    { ipPoolRef: 'default/net', nadName: 'default/net', interfaceName: 'net1', cidr: '10.0.0.0/24', serverIP: '10.0.0.2' },
  ]);
  const env = [{ name: 'AGENT_NETWORK_CONFIGS', value: configs }];
  const chart: KubernetesObject = {
    kind: 'Deployment',
    metadata: { namespace: 'old', name: UNIFIED.deploymentName, uid: 'chart' },
    spec: { template: { spec: { containers: [{ name: UNIFIED.containerName, env }] } } },
  };

  it('is known by its name, and says what its next pods will serve', async () => {
    const clock = new FakeClock();
    const observer = observing(clock, { previousUnifiedDeployment: resourceOf(clock, chart) });
    observer.start();
    await clock.advance(1_000);
    const group = observer.groups().get(NAME);
    expect(group?.deployment?.metadata.name).toBe(UNIFIED.deploymentName);
    expect([...(group?.configured.keys() ?? [])]).toEqual(['default/net']);
    expect(observer.group(NAME)).toEqual(group);
    expect(observer.groupsNaming('default/net')).toEqual([NAME]);
    observer.stop();
  });

  it('is not that of the groups beside it, nor is a Deployment that only has the name of a group', async () => {
    const clock = new FakeClock();
    const observer = observing(clock, {
      previousUnifiedDeployment: resourceOf(clock, chart),
      previousDeployments: resourceOf(clock, labelled('Deployment', 'old'), labelled('Deployment', 'old', 'named')),
    });
    observer.start();
    await clock.advance(1_000);
    expect([...observer.groups().keys()]).toEqual([`old/${GROUP}`, NAME]);
    expect(observer.group(`old/${GROUP}`).deployment?.metadata.name).toBe(GROUP);
    expect(observer.group('old/named').deployment).toBeUndefined();
    expect(observer.group('vm-dhcp-agents').deployment).toBeUndefined();
    observer.stop();
  });

  it('changes the group of its own namespace, as do Deployments and Leases there', async () => {
    const clock = new FakeClock();
    const changes: string[] = [];
    const [charts, deployments, leases, own] = [1, 2, 3, 4].map(() => resourceOf(clock));
    const observer = observing(
      clock,
      {
        previousUnifiedDeployment: charts as MemoryResource,
        previousDeployments: deployments as MemoryResource,
        previousLeases: leases as MemoryResource,
        deployments: own as MemoryResource,
      },
      changes,
    );
    observer.start();
    await clock.advance(1_000);
    charts?.put(chart);
    deployments?.put(labelled('Deployment', 'old'));
    leases?.put(labelled('Lease', 'old'));
    own?.put(labelled('Deployment', 'new'));
    expect(changes).toEqual([`${NAME}: default/net`, `old/${GROUP}: `, `old/${GROUP}: `, `${GROUP}: `]);
    observer.stop();
  });
});

describe('the rights in AgentsView', () => {
  /** As the server answers the write of it. */
  const stored = (version: string): KubernetesObject => {
    const right = labelled('Role', 'tenant');
    return { ...right, metadata: { ...right.metadata, resourceVersion: version } };
  };
  async function observingRoles() {
    const clock = new FakeClock();
    const roles = resourceOf(clock);
    const changes: string[] = [];
    const observer = observing(clock, { roles }, changes);
    observer.start();
    await clock.advance(1_000);
    return { clock, roles, observer, changes };
  }

  it('include a right that was granted before the watch delivers it', async () => {
    const { clock, roles, observer, changes } = await observingRoles();
    const role = stored('7');
    observer.wrote('roles', role);
    expect(observer.rights().get(GROUP)).toEqual([role]);
    expect(observer.rightsOf(GROUP)).toEqual([role]);
    expect([observer.rightsOf('another'), observer.podsOf(GROUP)]).toEqual([[], []]);
    expect(changes, 'it names no pools').toEqual([`${GROUP}: `]);
    roles.put(labelled('Role', 'tenant'));
    await clock.advance(1_000);
    expect(observer.rights().get(GROUP)).toHaveLength(1);
    observer.stop();
  });

  it('exclude a granted right that the watch no longer has: it was removed again', async () => {
    const { clock, roles, observer } = await observingRoles();
    observer.wrote('roles', stored('1'));
    expect(observer.rights().get(GROUP)).toHaveLength(1);
    roles.put(labelled('Role', 'elsewhere'));
    await clock.advance(1_000);
    expect(observer.rights().get(GROUP)).toMatchObject([{ metadata: { namespace: 'elsewhere' } }]);
    observer.stop();
  });

  it('include rights without a group label, which belong to no group', async () => {
    const { observer } = await observingRoles();
    observer.wrote('roles', { kind: 'Role', metadata: { namespace: 'tenant', name: 'bare', resourceVersion: '7' } });
    expect([...observer.rights().keys()]).toEqual(['']);
    expect(observer.rightsOf(GROUP)).toEqual([]);
    observer.stop();
  });
});

describe('planAgents', () => {
  const pool: ActivePool = {
    key: 'default/net',
    network: 'default/net',
    serverIP: '10.0.0.2',
    cidr: '10.0.0.0/24',
    placement: onClusterNetwork(undefined),
    holdsImage: false,
    recorded: { group: GROUP, image: undefined },
  };
  const report = JSON.stringify({ [pool.key]: { serving: true } });
  const lease = (holderIdentity: string, name = GROUP) => {
    const annotations = { 'network.harvesterhci.io/agent-report': report };
    return readGroupLease({ metadata: { namespace: 'old', name, annotations }, spec: { holderIdentity } }, holderIdentity === '');
  };
  const plan = (name: string, group: ObservedGroup, groupsWithPods: readonly string[] = []) =>
    planAgents(
      {
        pools: [pool],
        groups: new Map([[name, group]]),
        groupsWithPods: new Set(groupsWithPods),
        legacyPods: new Map(),
        nowMs: 0,
      },
      SETTINGS,
    );

  it('suspends a pool for its current group while a group of the previous namespace may serve it, and gives that group no rights', () => {
    const old = { deployment: labelled('Deployment', 'old'), configured: new Map([[pool.key, pool]]), lease: lease('pod_1') };
    const { actions, groupOf, servedBy } = plan(`old/${GROUP}`, old);
    expect(groupOf.get(pool.key)).toBe(GROUP);
    expect(servedBy.get(pool.key)).toBe(`old/${GROUP}`);
    expect(actions).toContainEqual({ kind: 'create-lease', group: GROUP, poolKeys: [pool.key], isGuarded: false });
    const rights = actions.flatMap((action) => ('object' in action ? [action] : []));
    expect(rights.length).toBeGreaterThan(0);
    expect(rights.filter(({ group }) => group !== GROUP)).toEqual([]);
  });

  it('waits for a chart with a pool that its leader does not know yet, and leaves its Deployment alone', () => {
    const name = 'old/vm-dhcp-agents';
    const deployment: KubernetesObject = { metadata: { namespace: 'old', name: UNIFIED.deploymentName, uid: 'chart' } };
    const leading = (seen: string) => {
      const annotations = {
        'network.harvesterhci.io/agent-report': '{}',
        'network.harvesterhci.io/suspended-pools': seen,
        'network.harvesterhci.io/suspended-pools-seen': seen,
      };
      const metadata = { namespace: 'old', name: 'vm-dhcp-agents', annotations };
      return readGroupLease({ metadata, spec: { holderIdentity: 'chart_1' } }, false);
    };
    const configured = new Map([[pool.key, pool]]);
    const before = plan(name, { deployment, configured, lease: leading(formatSuspendedPools([])) });
    expect(before.servedBy.get(pool.key)).toBe(name);
    const after = plan(name, { deployment, configured, lease: leading(formatSuspendedPools([pool.key])) });
    expect(after.servedBy.size).toBe(0);
    for (const { actions } of [before, after])
      expect(actions.filter(({ kind }) => kind === 'delete-deployment' || kind === 'patch-deployment')).toEqual([]);
  });

  it('assumes that pods of a chart run, because they are not known: the pool is suspended until their Lease has expired', () => {
    const chart = { deployment: undefined, configured: new Map(), lease: lease('', 'vm-dhcp-agents') };
    const { actions, servedBy } = plan('old/vm-dhcp-agents', chart);
    expect(servedBy.size, 'nothing is known of what it served').toBe(1);
    expect(actions).toContainEqual(
      expect.objectContaining({ kind: 'suspend', group: 'old/vm-dhcp-agents', poolKeys: [pool.key] }),
    );
    expect(actions.filter(({ kind }) => kind === 'delete-lease')).toEqual([]);
  });
});
