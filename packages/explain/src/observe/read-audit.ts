/** Reads the records of assignments from ConfigMaps in the namespace of the agents. */

import { AUDIT_LABEL } from '@vmdhcp/ippool-api/agent';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { isRecord, type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import {
  AUDIT_SLOT_NAMES,
  AUDIT_STATE_NAME,
  type AuditState,
  type PoolLog,
  type PoolRecords,
  parseAuditState,
  readStoredAudit,
  withCurrent,
} from '@vmdhcp/reconciler/audit';
import type { MissingRight } from '../chain/chain-observation.js';
import type { ClusterReader } from './cluster-reader.js';

export interface FoundAudit {
  readonly kind: 'found';
  readonly state: AuditState;
  /** By key of the pool. */
  readonly logs: ReadonlyMap<string, PoolLog>;
}

type ReadAudit = FoundAudit | { readonly kind: 'none' } | { readonly kind: 'refused'; readonly right: MissingRight };

/**
 * @param about - an address or a MAC address: reads only records that name it, up to 32 MiB. @throws CommandError if the API
 * server does not respond.
 */
export async function readAudit(reader: ClusterReader, namespace: string, about = ''): Promise<ReadAudit> {
  const listed = await reader.list({ ...Resource.configMaps, namespace, labelSelector: `${AUDIT_LABEL}=true` });
  if (listed.kind === 'refused') return listed;
  const stored = readStoredAudit(about === '' ? listed.objects : listed.objects.map((object) => onlyAbout(object, about)));
  const state = parseAuditState(stored.state);
  if (state === undefined) return { kind: 'none' };
  // The controller creates all of them before the state: if one is missing, somebody has deleted it, and any record may be lost.
  const isComplete = AUDIT_SLOT_NAMES.every((name) => stored.slots.has(name));
  const gaps = isComplete ? state.gaps : [{ fromMs: 0, untilMs: state.completeUntilMs }];
  return { kind: 'found', state: { ...state, gaps }, logs: stored.logs };
}

/** From each batch, takes the first line, which names the pool, and the records that name the client or the address. */
function onlyAbout(object: KubernetesObject, about: string): KubernetesObject {
  const data = readField(object, 'data');
  if (object.metadata.name === AUDIT_STATE_NAME || !isRecord(data)) return object;
  const lines = (text: string) => text.split('\n').filter((line, index) => index === 0 || line.includes(`"${about}"`));
  const entries = Object.entries(data).map(([key, text]) => [key, typeof text === 'string' ? lines(text).join('\n') : text]);
  const filtered: KubernetesObject & { readonly data: object } = { ...object, data: Object.fromEntries(entries) };
  return filtered;
}

/** Includes what follows from the current pools, by key of the pool. @param pools - the existing pools, by key. */
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

/** Says that no assignments are recorded there, and how to record them. */
export function describeNoRecords(namespace: string): string {
  return `there are no records in namespace ${namespace}: the agents are in another one (--audit-namespace), the controller was started with --no-audit, or it has not begun yet`;
}
