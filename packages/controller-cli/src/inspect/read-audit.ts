/** The records of assignments, as they are stored in ConfigMaps of the namespace of the agents. */
import { AUDIT_LABEL } from '@vmdhcp/ippool-api/agent';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import {
  type AuditState,
  type PoolLog,
  type PoolRecords,
  parseAuditState,
  readStoredAudit,
  withCurrent,
} from '@vmdhcp/reconciler/audit';
import { type MissingRight, Resource } from '@vmdhcp/reconciler/chain';
import type { ClusterReader } from './cluster-reader.js';

export interface FoundAudit {
  readonly kind: 'found';
  readonly state: AuditState;
  /** By key of the pool. */
  readonly logs: ReadonlyMap<string, PoolLog>;
}

type ReadAudit = FoundAudit | { readonly kind: 'none' } | { readonly kind: 'refused'; readonly right: MissingRight };

/** @throws CommandError where the API server does not answer. */
export async function readAudit(reader: ClusterReader, namespace: string): Promise<ReadAudit> {
  const listed = await reader.list({ ...Resource.configMaps, namespace, labelSelector: `${AUDIT_LABEL}=true` });
  if (listed.kind === 'refused') return listed;
  const stored = readStoredAudit(listed.objects);
  const state = parseAuditState(stored.state);
  return state === undefined ? { kind: 'none' } : { kind: 'found', state, logs: stored.logs };
}

/** With what follows from the pools as they are now, by key of the pool. @param pools - those that exist, by their keys. */
export function currentRecords(
  { state, logs }: FoundAudit,
  pools: ReadonlyMap<string, KubernetesObject>,
  nowMs: number,
): ReadonlyMap<string, PoolRecords> {
  return new Map(
    [...logs].map(([key, log]) => {
      const ofPool = { ...state, records: [...log.records.values()], completeFromMs: log.completeFromMs };
      return [key, withCurrent(ofPool, pools.get(key), nowMs)];
    }),
  );
}

export function describeNoRecords(namespace: string): string {
  return `there are no records in namespace ${namespace}: the agents are in another one (--audit-namespace), the controller was started with --no-audit, or it has not begun yet`;
}
