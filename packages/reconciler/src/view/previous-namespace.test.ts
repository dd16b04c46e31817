/** Agents of a namespace where they ran before: seen, handed over from, and removed. */
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

function observing(clock: FakeClock, objects: Partial<Record<AgentObjectKind, MemoryResource<KubernetesObject>>>): AgentsView {
  const resources = agentResources({ ...SETTINGS, previousNamespace: 'old' });
  const kinds = Object.keys(resources) as AgentObjectKind[];
  const caches = new SharedCaches({
    open: (resource) =>
      kinds.flatMap((kind) => (resources[kind] === resource ? (objects[kind] ?? []) : []))[0] ?? new MemoryResource(clock),
    clock,
    backOff: { firstMs: 100, mostMs: 30_000, random: () => 0.5 },
  });
  const now = () => '2026-01-01T00:00:00Z';
  return new AgentsView({ namespace: 'new', unified: UNIFIED, caches, resources, clock, now, onChange: () => undefined });
}

describe('AgentsView', () => {
  it('tells groups and pods of the earlier namespace from those of the agents’ own', async () => {
    const clock = new FakeClock();
    const resource = (...objects: readonly KubernetesObject[]) => {
      const made = new MemoryResource<KubernetesObject>(clock);
      for (const object of objects) made.put(object);
      return made;
    };
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

describe('the Deployment of a chart in the earlier namespace', () => {
  it('is known by its name, and tells what its next pods will serve', async () => {
    const clock = new FakeClock();
    const resource = (...objects: readonly KubernetesObject[]) => {
      const made = new MemoryResource<KubernetesObject>(clock);
      for (const object of objects) made.put(object);
      return made;
    };
    const configs = JSON.stringify([
      { ipPoolRef: 'default/net', nadName: 'default/net', interfaceName: 'net1', cidr: '10.0.0.0/24', serverIP: '10.0.0.2' },
    ]);
    const env = [{ name: 'AGENT_NETWORK_CONFIGS', value: configs }];
    const chart: KubernetesObject = {
      kind: 'Deployment',
      metadata: { namespace: 'old', name: UNIFIED.deploymentName, uid: 'chart' },
      spec: { template: { spec: { containers: [{ name: UNIFIED.containerName, env }] } } },
    };
    const observer = observing(clock, {
      previousUnifiedDeployment: resource(chart),
    });
    observer.start();
    await clock.advance(1_000);
    const group = observer.groups().get('old/vm-dhcp-agents');
    expect(group?.deployment?.metadata.name).toBe(UNIFIED.deploymentName);
    expect([...(group?.configured.keys() ?? [])]).toEqual(['default/net']);
    observer.stop();
  });
});

describe('AgentsView, of rights', () => {
  it('knows one that was given before the watch brings it', async () => {
    const clock = new FakeClock();
    const resource = () => new MemoryResource<KubernetesObject>(clock);
    const roles = resource();
    const observer = observing(clock, { roles });
    observer.start();
    await clock.advance(1_000);
    const role = labelled('Role', 'tenant');
    const stored = { ...role, metadata: { ...role.metadata, resourceVersion: '7' } };
    observer.wrote('roles', stored);
    expect(observer.rights().get(GROUP)).toEqual([stored]);
    roles.put(role);
    await clock.advance(1_000);
    expect(observer.rights().get(GROUP)).toHaveLength(1);
    observer.stop();
  });
});

describe('planAgents', () => {
  const pool: ActivePool = {
    key: 'default/net',
    network: 'default/net',
    serverIP: '10.0.0.2',
    cidr: '10.0.0.0/24',
    clusterNetwork: undefined,
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

  it('suspends a pool from its own group while a group of the earlier namespace may serve it, and gives that one no rights', () => {
    const old = { deployment: labelled('Deployment', 'old'), configured: new Map([[pool.key, pool]]), lease: lease('pod_1') };
    const { actions, groupOf, servedBy } = plan(`old/${GROUP}`, old);
    expect(groupOf.get(pool.key)).toBe(GROUP);
    expect(servedBy.get(pool.key)).toBe(`old/${GROUP}`);
    expect(actions).toContainEqual({ kind: 'create-lease', group: GROUP, poolKeys: [pool.key], isGuarded: false });
    const rights = actions.flatMap((action) => ('object' in action ? [action] : []));
    expect(rights.length).toBeGreaterThan(0);
    expect(rights.filter(({ group }) => group !== GROUP)).toEqual([]);
  });

  it('waits for a chart that tells of a pool which its leader does not know yet, and leaves its Deployment alone', () => {
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

  it('takes the pods of a chart for running, as they are not known: their Lease is suspended for before it is believed to be free', () => {
    const chart = { deployment: undefined, configured: new Map(), lease: lease('', 'vm-dhcp-agents') };
    const { actions, servedBy } = plan('old/vm-dhcp-agents', chart);
    expect(servedBy.size, 'nothing is known of what it served').toBe(1);
    expect(actions).toContainEqual(
      expect.objectContaining({ kind: 'suspend', group: 'old/vm-dhcp-agents', poolKeys: [pool.key] }),
    );
    expect(actions.filter(({ kind }) => kind === 'delete-lease')).toEqual([]);
  });
});
