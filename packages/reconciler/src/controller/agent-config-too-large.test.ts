import type { ApiResource, KubernetesObject } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { expect, it } from 'vitest';
import { configuredPools } from '../agents/configured-pools.js';
import { memoryApi } from '../fixtures/memory-api-fixtures.js';
import { network, pool } from '../fixtures/object-fixtures.js';
import { ClusterView } from '../view/cluster-view.js';
import type { PoolView } from '../view/pool-views.js';
import { AgentGroupsReconciler } from './agent-groups-reconciler.js';
import { createAgentsContext } from './agents-context.js';

/** Names of the maximum length: 198 pools fit. */
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

it('if one environment string cannot name all pools, the newest are left out, and their conditions name the remedy', async () => {
  const clock = new FakeClock();
  const chart = new MemoryResource<KubernetesObject>(clock);
  const spec = { replicas: 2, template: { spec: { containers: [{ name: 'agent', image: 'chart:v1' }] } } };
  chart.put({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { ...AGENTS, uid: 'chart', generation: 1 }, spec });
  const labelled = new MemoryResource<KubernetesObject>(clock);
  const deployments = ({ labelSelector }: ApiResource) => (labelSelector === undefined ? chart : labelled);
  const enqueued: string[] = [];
  const context = createAgentsContext({
    settings: {
      namespace: AGENTS.namespace,
      topology: 'unified',
      maxPoolsPerAgent: 24,
      maxGroupsUpgrading: 4,
      pods: undefined,
      unified: { deploymentName: AGENTS.name, containerName: 'agent' },
    },
    ...viewOfPools(),
    ...memoryApi({ deployments }, clock),
    onlyNamespace: undefined,
    clock,
    now: () => '2026-01-01T01:00:00Z',
    onAction: undefined,
    onChange: () => undefined,
    onError: (_, error) => expect.unreachable(String(error)),
    enqueue: { agentGroups: () => undefined, ipPools: (key) => enqueued.push(key) },
  });
  const { observed, pools, view } = context;
  const reconciler = new AgentGroupsReconciler(context);
  observed.start();
  await clock.advance(100);
  // The first reconcile creates the Lease; the next changes are gathered for the second one.
  for (let round = 0; round < 3; round++) {
    const reconciling = reconciler.reconcile();
    await clock.advance(1_000);
    await reconciling;
  }
  expect(new Set(enqueued).size).toBe(NAMES.length);
  const deployment = chart.objects.get(`${AGENTS.namespace}/${AGENTS.name}`) as KubernetesObject;
  expect([...configuredPools(deployment, 'agent').keys()]).toEqual(NAMES.slice(0, 198).map((name) => `default/${name}`));
  const ofPool = (name = '') => pools.ofPool(view.pool(`default/${name}`) as PoolView);
  const { conditions, deploymentRef } = ofPool(NAMES.at(-1));
  const message =
    'AGENT_NETWORK_CONFIGS of the agents vm-dhcp-agents has no room for the pool beside 198 other pools: Linux takes 131072 octets; use --agent-topology per-network';
  expect(conditions.slice(0, 2)).toEqual([
    { type: 'Registered', status: 'False', reason: 'AgentConfigTooLarge', message },
    { type: 'AgentReady', status: 'False', reason: 'AgentConfigTooLarge', message },
  ]);
  expect(deploymentRef).toBeNull();
  expect(ofPool(NAMES[197])).toMatchObject({
    conditions: [{ type: 'Registered', status: 'True' }, { type: 'AgentReady' }],
    deploymentRef: { name: AGENTS.name },
  });
  reconciler.stop();
  observed.stop();
});
