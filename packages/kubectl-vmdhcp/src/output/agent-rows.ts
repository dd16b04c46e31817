import { isStaleLease } from '@vmdhcp/explain';
import type { Column, ListedKind } from '@vmdhcp/explain/observe';
import { AgentsTrust } from '@vmdhcp/explain/observe';
import {
  AGENT_LABEL,
  AGENT_LABEL_VALUE,
  AGENT_REPORT_ANNOTATION,
  type PoolReport,
  parseAgentReport,
} from '@vmdhcp/ippool-api/agent';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { describeNames, type KubernetesObject, keyOf, parseTime, readText } from '@vmdhcp/kube-runtime';

/** `unknown` if IPPools may not be listed: then each Lease counts, with each report. */
type Trust = AgentsTrust | 'unknown';

/** The report of the leader of one group of agents about one pool. */
export interface AgentRow {
  readonly namespace: string;
  readonly group: string;
  /** The pod; empty if no pod is leader. */
  readonly leader: string;
  /** Seconds since the Lease was renewed; undefined if never. */
  readonly renewedSeconds: number | undefined;
  readonly pool: string;
  readonly serving: boolean;
  readonly reason: string;
  readonly message: string;
  readonly rogueServers: number;
}

function rowsOf(lease: KubernetesObject, nowMs: number, trust: Trust): AgentRow[] {
  const { namespace = '' } = lease.metadata;
  if (trust !== 'unknown' && !trust.hasAgents(namespace)) return [];
  const isStale = isStaleLease(lease, nowMs);
  const group = groupOf(lease, isStale, nowMs);
  const reported = isStale ? [] : [...parseAgentReport(lease.metadata.annotations?.[AGENT_REPORT_ANNOTATION])];
  const report = reported.filter(([pool]) => trust === 'unknown' || trust.hasAgents(namespace, pool));
  const nothing = { pool: '', serving: false, reason: isStale ? 'NotLeading' : '', message: '', rogueServers: 0 };
  return report.length === 0 ? [{ ...group, ...nothing }] : report.map(([pool, one]) => ({ ...group, pool, ...toReported(one) }));
}

type Group = Pick<AgentRow, 'namespace' | 'group' | 'leader' | 'renewedSeconds'>;

function groupOf({ metadata, spec }: KubernetesObject, isStale: boolean, nowMs: number): Group {
  const [holder = ''] = (readText(spec, 'holderIdentity') ?? '').split('_');
  const seconds = Math.round((nowMs - parseTime(readText(spec, 'renewTime'))) / 1000);
  return {
    namespace: metadata.namespace ?? '',
    group: metadata.name,
    leader: isStale ? '' : holder,
    renewedSeconds: Number.isNaN(seconds) ? undefined : Math.max(0, seconds),
  };
}

function toReported(report: PoolReport): Pick<AgentRow, 'serving' | 'reason' | 'message' | 'rogueServers'> {
  const { serving, reason = '', message = '', rogueServers = [] } = report;
  return { serving, reason, message, rogueServers: rogueServers.length };
}

/**
 * Selects groups whose namespace is named by the status of an IPPool: any user who may write a Lease may write one that looks
 * like that of a group.
 * @param isNamed - true if a person has named the namespace, which is trusted if IPPools may not be listed.
 */
export function agentsKind(isNamed: boolean): ListedKind<AgentRow> {
  let trust: Trust = new AgentsTrust([]);
  return {
    resource: { ...Resource.leases, labelSelector: `${AGENT_LABEL}=${AGENT_LABEL_VALUE}` },
    toRows: (lease, nowMs) => rowsOf(lease, nowMs, trust),
    nameOf: ({ group }) => `lease.coordination.k8s.io/${group}`,
    identify: ({ pool }) => pool,
    isTimed: true,
    columns: COLUMNS,
    beside: {
      resource: Resource.ipPools,
      take: (ipPools) => {
        trust = ipPools === 'refused' ? 'unknown' : new AgentsTrust(ipPools);
      },
      isOptional: isNamed,
      otherWay: ', or give --namespace with the namespace of the agents',
      describeLeftOut: (leases) => describeLeftOut(leases, trust),
    },
  };
}

function describeLeftOut(leases: readonly KubernetesObject[], trust: Trust): string | undefined {
  const leftOut = leases.filter(({ metadata }) => trust !== 'unknown' && !trust.hasAgents(metadata.namespace ?? ''));
  if (leftOut.length === 0) return undefined;
  return `left out, because no IPPool has agents in that namespace (status.agentDeploymentRef): ${describeNames(leftOut.map((lease) => `Lease ${keyOf(lease)}`))}`;
}

const COLUMNS: readonly Column<AgentRow>[] = [
  { header: 'NAMESPACE', value: ({ namespace }) => namespace },
  { header: 'GROUP', value: ({ group }) => group },
  { header: 'LEADER', value: ({ leader }) => leader },
  { header: 'POOL', value: ({ pool }) => pool },
  { header: 'SERVING', value: ({ serving }) => (serving ? 'True' : 'False') },
  { header: 'REASON', value: ({ reason }) => reason },
  {
    header: 'RENEWED',
    value: ({ renewedSeconds }) => (renewedSeconds === undefined ? '' : `${renewedSeconds}s`),
    isWide: true,
    isAge: true,
  },
  { header: 'ROGUESERVERS', value: ({ rogueServers }) => String(rogueServers), isWide: true },
  { header: 'MESSAGE', value: ({ message }) => message, isWide: true },
];
