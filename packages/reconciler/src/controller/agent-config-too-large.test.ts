import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { expect, it } from 'vitest';
import { configuredPools } from '../agents/configured-pools.js';
import { network, pool } from '../fixtures/object-fixtures.js';
import { ClusterView, type PoolView } from '../view/cluster-view.js';
import { AgentGroupsReconciler } from './agent-groups-reconciler.js';

/** Names of the greatest length: 198 pools fit. */
const NAMES = Array.from({ length: 200 }, (_, index) => `${'p'.repeat(249)}-${String(index).padStart(3, '0')}`);
const AGENTS = { namespace: 'harvester-system', name: 'agent' };

function viewOfPools(): { readonly view: ClusterView; readonly networks: ReadonlyMap<string, KubernetesObject> } {
  const networks = new Map(NAMES.map((_, index) => [`default/net-${index}`, network(`net-${index}`)]));
  const pools = NAMES.map((name, index): [string, KubernetesObject] => {
    const { metadata, ...one } = pool(name, { network: `default/net-${index}` });
    const creationTimestamp = new Date(1_767_225_600_000 + index * 1_000).toISOString();
    return [`default/${name}`, { ...one, metadata: { ...metadata, uid: name, generation: 1, creationTimestamp } }];
  });
  const ipPools = new Map(pools);
  const view = new ClusterView({ virtualMachines: new Map(), networks, ipPools, networkConfigs: new Map() });
  for (const key of ipPools.keys()) view.notePool(key);
  return { view, networks };
}

it('of more pools than one environment string can name the newest are left out, and their conditions have the remedy', async () => {
  const clock = new FakeClock();
  const deployments = new MemoryResource<KubernetesObject>(clock);
  const spec = { replicas: 2, template: { spec: { containers: [{ name: 'agent', image: 'chart:v1' }] } } };
  deployments.put({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { ...AGENTS, uid: 'chart', generation: 1 }, spec });
  const { view, networks } = viewOfPools();
  const agents = new AgentGroupsReconciler({
    namespace: AGENTS.namespace,
    topology: 'unified',
    maxPoolsPerAgent: 24,
    maxGroupsUpgrading: 4,
    pods: undefined,
    unified: { deploymentName: AGENTS.name, containerName: 'agent' },
    clients: {
      deployments: new MemoryResource<KubernetesObject>(clock),
      unifiedDeployment: deployments,
      leases: new MemoryResource<KubernetesObject>(clock),
      pods: new MemoryResource<KubernetesObject>(clock),
    },
    clock,
    now: () => '2026-01-01T01:00:00Z',
    random: () => 0.5,
    cluster: () => ({ view, networks, isKnown: true }),
    onChange: () => undefined,
  });
  agents.start();
  agents.lead();
  await clock.advance(2_000);
  const deployment = deployments.objects.get(`${AGENTS.namespace}/${AGENTS.name}`) as KubernetesObject;
  const configured = [...configuredPools(deployment, 'agent').keys()];
  expect(configured).toEqual(NAMES.slice(0, 198).map((name) => `default/${name}`));
  const ofPool = (name = '') => agents.ofPool(view.pool(`default/${name}`) as PoolView);
  const { conditions, deploymentRef } = ofPool(NAMES.at(-1));
  const message =
    'AGENT_NETWORK_CONFIGS of the agents vm-dhcp-agents has no room for the pool beside 198 others: Linux takes 131072 octets; use --agent-topology per-network';
  expect(conditions.slice(0, 2)).toEqual([
    { type: 'Registered', status: 'False', reason: 'AgentConfigTooLarge', message },
    { type: 'AgentReady', status: 'False', reason: 'AgentConfigTooLarge', message },
  ]);
  expect(deploymentRef).toBeNull();
  expect(ofPool(NAMES[197])).toMatchObject({
    conditions: [{ type: 'Registered', status: 'True' }, { type: 'AgentReady' }],
    deploymentRef: { name: AGENTS.name },
  });
  const stopped = agents.stop();
  await clock.advance(1_000);
  await stopped;
});
