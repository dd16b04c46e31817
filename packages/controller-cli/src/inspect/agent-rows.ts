import { AGENT_LABEL, AGENT_LABEL_VALUE, AGENT_REPORT_ANNOTATION, parseAgentReport } from '@vmdhcp/ippool-api/agent';
import { type KubernetesObject, parseTime, readText } from '@vmdhcp/kube-runtime';
import { isStaleLease, Resource } from '@vmdhcp/reconciler/chain';
import type { ListedKind } from './listed-kind.js';

/** What the leader of one group of agents reports about one pool. */
export interface AgentRow {
  readonly namespace: string;
  readonly group: string;
  /** The pod; empty: no pod is leader. */
  readonly leader: string;
  /** Seconds since the Lease was renewed; undefined: never. */
  readonly renewedSeconds: number | undefined;
  readonly pool: string;
  readonly serving: boolean;
  readonly reason: string;
  readonly message: string;
  readonly rogueServers: number;
}

function toRows(lease: KubernetesObject, nowMs: number): AgentRow[] {
  const { namespace = '', name, annotations = {} } = lease.metadata;
  const isStale = isStaleLease(lease, nowMs);
  const [holder = ''] = (readText(lease.spec, 'holderIdentity') ?? '').split('_');
  const seconds = Math.round((nowMs - parseTime(readText(lease.spec, 'renewTime'))) / 1000);
  const group = {
    namespace,
    group: name,
    leader: isStale ? '' : holder,
    renewedSeconds: Number.isNaN(seconds) ? undefined : Math.max(0, seconds),
  };
  const report = isStale ? new Map() : parseAgentReport(annotations[AGENT_REPORT_ANNOTATION]);
  const nothing = { pool: '', serving: false, reason: isStale ? 'NotLeading' : '', message: '', rogueServers: 0 };
  if (report.size === 0) return [{ ...group, ...nothing }];
  return [...report].map(([pool, { serving, reason = '', message = '', rogueServers = [] }]) => ({
    ...group,
    pool,
    serving,
    reason,
    message,
    rogueServers: rogueServers.length,
  }));
}

export const AGENTS: ListedKind<AgentRow> = {
  resource: { ...Resource.leases, labelSelector: `${AGENT_LABEL}=${AGENT_LABEL_VALUE}` },
  toRows,
  nameOf: ({ group }) => `lease.coordination.k8s.io/${group}`,
  columns: [
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
    },
    { header: 'ROGUESERVERS', value: ({ rogueServers }) => String(rogueServers), isWide: true },
    { header: 'MESSAGE', value: ({ message }) => message, isWide: true },
  ],
};
