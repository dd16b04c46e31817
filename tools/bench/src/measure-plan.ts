import { type AgentsObservation, type AgentsSettings, type AgentTopology, planAgents } from '@vmdhcp/reconciler';

const ROUNDS = 20;
const UNIFIED = { deploymentName: 'chart', containerName: 'agent' };

type ActivePool = AgentsObservation['pools'][number];
type ObservedGroup = AgentsObservation['groups'] extends ReadonlyMap<string, infer Group> ? Group : never;

/** How long a plan of the agents of so many pools takes: one that has nothing to do, and one that has. */
export function measurePlan(
  topology: AgentTopology,
  count: number,
): { readonly durationsMs: readonly number[]; readonly actions: number } {
  const pools = Array.from({ length: count }, (_, number) => toPool(number));
  const settings = toSettings(topology);
  let groups: ReadonlyMap<string, ObservedGroup> = new Map([['vm-dhcp-agents', chartGroup()]]);
  const observe = (): AgentsObservation => ({
    pools,
    groups,
    groupsWithPods: new Set(),
    legacyPods: new Map(),
    nowMs: 0,
  });
  const first = planAgents(observe(), settings);
  groups = new Map(
    first.actions.flatMap((action) => {
      if (action.kind === 'create-deployment') return [[action.group, toGroup(action.deployment, pools, first.groupOf)] as const];
      if (action.kind !== 'patch-deployment') return [];
      const { template } = action.patch['spec'] as { readonly template: object };
      const deployment = { ...action.deployment, spec: { ...(action.deployment.spec as object), template } };
      return [[action.group, toGroup(deployment, pools, first.groupOf)] as const];
    }),
  );
  let actions = 0;
  const durationsMs = Array.from({ length: ROUNDS }, () => {
    const begunAtMs = performance.now();
    actions += planAgents(observe(), settings).actions.length;
    return performance.now() - begunAtMs;
  });
  return { durationsMs, actions };
}

function toGroup(
  deployment: NonNullable<ObservedGroup['deployment']>,
  pools: readonly ActivePool[],
  groupOf: ReadonlyMap<string, string>,
): ObservedGroup {
  const name = deployment.metadata.name === UNIFIED.deploymentName ? 'vm-dhcp-agents' : deployment.metadata.name;
  const configured = pools.filter(({ key }) => groupOf.get(key) === name);
  return { ...chartGroup(), deployment, configured: new Map(configured.map((pool) => [pool.key, pool])) };
}

function chartGroup(): ObservedGroup {
  return {
    deployment: {
      metadata: { namespace: 'agents', name: UNIFIED.deploymentName, uid: 'u' },
      spec: { template: { spec: { containers: [{ name: UNIFIED.containerName }] } } },
    },
    configured: new Map(),
    lease: {
      object: undefined,
      isLive: false,
      leader: '',
      report: new Map(),
      known: new Set(),
      suspended: new Set(),
      seen: new Set(),
    },
  };
}

function toPool(number: number): ActivePool {
  return {
    key: `default/pool-${number}`,
    network: `default/net-${number}`,
    serverIP: '10.0.0.2',
    cidr: '10.0.0.0/24',
    placement: { clusterNetwork: `vlan${number % 7}`, resource: undefined, nodeSelector: {}, link: undefined },
    holdsImage: false,
    recorded: { group: undefined, image: undefined },
  };
}

function toSettings(topology: AgentTopology): AgentsSettings {
  return {
    namespace: 'agents',
    topology,
    maxPoolsPerAgent: 24,
    maxGroupsUpgrading: 4,
    unified: UNIFIED,
    pods: {
      namespace: 'agents',
      image: 'vmdhcp-agent:v1',
      imagePullPolicy: 'IfNotPresent',
      imagePullSecrets: [],
      serviceAccountName: 'agent',
      priorityClassName: 'system-cluster-critical',
      replicas: 2,
      resources: { cpu: '10m', memory: '96Mi', memoryLimit: '256Mi' },
      leaseSeconds: 2.75,
      dryRun: false,
    },
  };
}
