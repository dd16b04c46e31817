import type { ListedKind } from '@vmdhcp/explain/observe';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type KubernetesObject, readConditions, readField, readText } from '@vmdhcp/kube-runtime';

export interface PoolRow {
  readonly namespace: string;
  readonly name: string;
  readonly network: string;
  readonly cidr: string;
  readonly start: string;
  readonly end: string;
  readonly serverAddress: string;
  readonly used: number;
  readonly free: number;
  readonly quarantined: number;
  /** The status of its condition AgentReady. */
  readonly served: string;
  readonly reason: string;
  readonly agents: string;
  readonly leader: string;
  readonly rogueServer: string;
}

function toRow(pool: KubernetesObject): PoolRow {
  const { metadata, spec, status } = pool;
  const ofConfig = (...path: readonly string[]) => readText(spec, 'ipv4Config', ...path) ?? '';
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    network: poolNetworkOf(pool),
    cidr: ofConfig('cidr'),
    start: ofConfig('pool', 'start'),
    end: ofConfig('pool', 'end'),
    serverAddress: ofConfig('serverIP'),
    used: countIn(status, 'used'),
    free: countIn(status, 'available'),
    quarantined: Object.keys(readField(status, 'ipv4', 'quarantined') ?? {}).length,
    ...serviceOf(status),
  };
}

function serviceOf(status: unknown): Pick<PoolRow, 'served' | 'reason' | 'agents' | 'leader' | 'rogueServer'> {
  const conditions = new Map(readConditions(status).map((one) => [one.type, one]));
  const agentReady = conditions.get('AgentReady');
  const agents = ['namespace', 'name'].flatMap((field) => readText(status, 'agentDeploymentRef', field) ?? []);
  return {
    served: agentReady?.status ?? 'Unknown',
    reason: agentReady?.reason ?? conditions.get('CacheReady')?.reason ?? '',
    agents: agents.join('/'),
    leader: readText(status, 'servedBy') ?? '',
    rogueServer: conditions.get('RogueServer')?.status ?? '',
  };
}

/** `namespace/name` of the network that the pool names. */
export function poolNetworkOf({ metadata: { namespace = '' }, spec }: KubernetesObject): string {
  const named = readText(spec, 'networkName') ?? '';
  return named === '' || named.includes('/') ? named : `${namespace}/${named}`;
}

function countIn(status: unknown, field: string): number {
  const count = readField(status, 'ipv4', field);
  return typeof count === 'number' ? count : 0;
}

export const POOLS: ListedKind<PoolRow> = {
  resource: Resource.ipPools,
  toRows: (object) => [toRow(object)],
  nameOf: ({ name }) => `ippool.network.harvesterhci.io/${name}`,
  columns: [
    { header: 'NAMESPACE', value: ({ namespace }) => namespace },
    { header: 'NAME', value: ({ name }) => name },
    { header: 'NETWORK', value: ({ network }) => network },
    { header: 'CIDR', value: ({ cidr }) => cidr },
    { header: 'USED', value: ({ used }) => String(used) },
    { header: 'FREE', value: ({ free }) => String(free) },
    { header: 'QUARANTINED', value: ({ quarantined }) => String(quarantined) },
    { header: 'SERVED', value: ({ served }) => served },
    { header: 'REASON', value: ({ reason }) => reason },
    { header: 'RANGE', value: ({ start, end }) => `${start}-${end}`, isWide: true },
    { header: 'SERVER', value: ({ serverAddress }) => serverAddress, isWide: true },
    { header: 'AGENTS', value: ({ agents }) => agents, isWide: true },
    { header: 'LEADER', value: ({ leader }) => leader, isWide: true },
    { header: 'ROGUESERVER', value: ({ rogueServer }) => rogueServer, isWide: true },
  ],
};
