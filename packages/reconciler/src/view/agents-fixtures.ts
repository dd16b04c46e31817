/** In-memory agents for the view. */
import {
  AGENT_GROUP_LABEL,
  AGENT_LABEL,
  AGENT_LABEL_VALUE,
  AGENT_NETWORK_CONFIGS_VARIABLE,
  AGENT_REPORT_ANNOTATION,
  formatAgentReport,
  IPPOOL_NAME_LABEL,
  IPPOOL_NAMESPACE_LABEL,
  type PoolReport,
} from '@vmdhcp/ippool-api';
import { type ApiResource, type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import type { AgentsSettings } from '../agents/agents-plan.js';
import { createAgentsContext } from '../controller/agents-context.js';
import { memoryApi } from '../fixtures/memory-api-fixtures.js';
import { network, pool } from '../fixtures/object-fixtures.js';
import type { AgentObjectKind } from './agent-resources.js';
import type { AgentsChange } from './agents-view.js';
import { ClusterView } from './cluster-view.js';

export const NAMESPACE = 'agents';
export const GROUP = 'vm-dhcp-agent-vlan-1';
const LABELS = { [AGENT_LABEL]: AGENT_LABEL_VALUE };

export const SETTINGS: AgentsSettings = {
  namespace: NAMESPACE,
  topology: 'per-network',
  maxPoolsPerAgent: 24,
  maxGroupsUpgrading: 4,
  pods: undefined,
  unified: { deploymentName: 'chart', containerName: 'agent' },
};

/** A Deployment of a group that is configured for these pools. */
export function deployment(pools: readonly string[], name = GROUP): KubernetesObject {
  const configs = pools.map((ipPoolRef) => ({
    ipPoolRef,
    nadName: ipPoolRef.replace('/', '/net-'),
    serverIP: '10.0.0.2',
    cidr: '10.0.0.0/24',
  }));
  const env = [{ name: AGENT_NETWORK_CONFIGS_VARIABLE, value: JSON.stringify(configs) }];
  return {
    kind: 'Deployment',
    metadata: { namespace: NAMESPACE, name, uid: name, labels: { ...LABELS, [AGENT_GROUP_LABEL]: name } },
    spec: { template: { spec: { containers: [{ name: 'agent', image: 'agent:v1', env }] } } },
  };
}

/** The Lease of a group whose leader reports these pools. */
export function lease(
  report: Readonly<Record<string, PoolReport>>,
  more: { renewTime?: string; name?: string } = {},
): KubernetesObject {
  const { renewTime = 't1', name = GROUP } = more;
  const annotations = { [AGENT_REPORT_ANNOTATION]: formatAgentReport(new Map(Object.entries(report))) };
  return {
    kind: 'Lease',
    metadata: { namespace: NAMESPACE, name, uid: `lease-${name}`, labels: LABELS, annotations },
    spec: { holderIdentity: `${name}-pod_1`, leaseDurationSeconds: 3, renewTime },
  };
}

/** The bare pod of an earlier version that serves a pool. */
export function legacyPod(poolName: string): KubernetesObject {
  const labels = { ...LABELS, [IPPOOL_NAMESPACE_LABEL]: 'default', [IPPOOL_NAME_LABEL]: poolName };
  return { kind: 'Pod', metadata: { namespace: NAMESPACE, name: `default-${poolName}-agent`, uid: poolName, labels } };
}

/** Pools `default/pool-1` and so on, each on its own network, and the observation of their agents. */
export function observing(names: readonly string[] = ['pool-1'], settings: Partial<AgentsSettings> = {}, onlyNamespace?: string) {
  const clock = new FakeClock();
  const resource = () => new MemoryResource<KubernetesObject>(clock);
  const [deployments, leases, pods, chart] = [resource(), resource(), resource(), resource()];
  const networks = new Map(names.map((name) => [`default/net-${name}`, network(`net-${name}`)]));
  const ipPools = new Map(names.map((name) => [`default/${name}`, pool(name, { network: `default/net-${name}` })]));
  const view = new ClusterView({ virtualMachines: new Map(), networks, ipPools, networkConfigs: new Map() });
  for (const key of ipPools.keys()) view.notePool(key);
  const changes: (AgentsChange | undefined)[] = [];
  const failed: AgentObjectKind[] = [];
  const context = createAgentsContext({
    settings: { ...SETTINGS, ...settings },
    view,
    networks,
    ...memoryApi(
      { deployments: ({ labelSelector }: ApiResource) => (labelSelector === undefined ? chart : deployments), leases, pods },
      clock,
    ),
    onlyNamespace,
    clock,
    now: () => '2026-01-01T00:00:00Z',
    onAction: undefined,
    onChange: (change) => changes.push(change),
    onError: (kind) => failed.push(kind),
    enqueue: { agentGroups: () => undefined, ipPools: () => undefined },
  });
  /** Replaces a pool; its version is seen at once. */
  const putPool = (object: KubernetesObject) => {
    ipPools.set(keyOf(object), object);
    view.notePool(keyOf(object));
  };
  const started = async () => {
    context.observed.start();
    await clock.advance(10);
    changes.length = 0;
  };
  return { clock, context, chart, deployments, leases, pods, changes, failed, putPool, started };
}
