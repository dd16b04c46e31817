/** Groups of agents, from their Leases. */

import { isStaleLease } from '@vmdhcp/explain';
import { AGENT_REPORT_ANNOTATION, type PoolReport, parseAgentReport } from '@vmdhcp/ippool-api';
import { type KubernetesObject, keyOf, parseTime, readField, readText } from '@vmdhcp/kube-runtime';
import type { LeaderTerm, PageAgentGroup, PageState, ReportedPool } from '../model/page-data.js';
import { type Grave, gravityOf, sortGraves, toPageReason, worstState } from '../reason/page-reason.js';
import { holderOf, type LeaderTerms } from './leader-terms.js';

/** Sorted by key. */
export function listAgentGroups(
  leases: Iterable<KubernetesObject>,
  terms: LeaderTerms,
  nowMs: number,
): readonly PageAgentGroup[] {
  const groups = [...leases].map((lease) => toGroup(lease, terms.of(keyOf(lease)), nowMs));
  return groups.toSorted((one, other) => (keyOfGroup(one) < keyOfGroup(other) ? -1 : 1));
}

function keyOfGroup({ namespace, name }: PageAgentGroup): string {
  return `${namespace}/${name}`;
}

function toGroup(lease: KubernetesObject, terms: readonly LeaderTerm[], nowMs: number): PageAgentGroup {
  const { namespace = '', name, annotations = {} } = lease.metadata;
  const isStale = isStaleLease(lease, nowMs);
  const renewedAtMs = parseTime(readText(lease.spec, 'renewTime'));
  const transitions = readField(lease.spec, 'leaseTransitions');
  const report = isStale ? new Map<string, PoolReport>() : parseAgentReport(annotations[AGENT_REPORT_ANNOTATION]);
  const leader = isStale ? '' : holderOf(lease);
  const pools = [...report].map(([pool, reported]) => toServedPool(pool, reported));
  return {
    namespace,
    name,
    state: leader === '' ? 'broken' : worstState(pools.map(({ state }) => state)),
    reasons: leader === '' ? [toPageReason('NotLeading')] : sortGraves(pools.flatMap(gravesOf)),
    leader,
    renewedAtMs: Number.isNaN(renewedAtMs) ? null : renewedAtMs,
    transitions: typeof transitions === 'number' ? transitions : 0,
    terms: isStale ? ended(terms, renewedAtMs) : terms,
    pools,
  };
}

/** A leader that does not renew its Lease is no longer leader. */
function ended([last, ...earlier]: readonly LeaderTerm[], renewedAtMs: number): readonly LeaderTerm[] {
  if (last === undefined || last.leader === '' || Number.isNaN(renewedAtMs)) return last === undefined ? [] : [last, ...earlier];
  return [{ ...last, untilMs: Math.max(last.fromMs, renewedAtMs) }, ...earlier];
}

function toServedPool(pool: string, reported: PoolReport): ReportedPool {
  const { serving, reason, message, rogueServers = [], conflicts = [] } = reported;
  return {
    pool,
    state: stateOf(reported),
    isServed: serving,
    ...(!serving && { reason: toPageReason(reason ?? 'NotServing', message) }),
    rogueServers: rogueServers.map(({ address, macAddress }) => ({ address, mac: macAddress })),
    conflicts: conflicts.length,
  };
}

function gravesOf({ pool, state, reason, rogueServers, conflicts }: ReportedPool): readonly Grave[] {
  if (reason !== undefined) return [{ state, reason: { ...reason, message: `${pool}: ${reason.message}` } }];
  const grave = (name: string): Grave => ({ state, reason: toPageReason(name, pool) });
  return [...(rogueServers.length > 0 ? [grave('RogueServer')] : []), ...(conflicts > 0 ? [grave('AddressConflict')] : [])];
}

function stateOf({ serving, reason, rogueServers = [], conflicts = [] }: PoolReport): PageState {
  if (!serving) return gravityOf(reason ?? 'NotServing');
  return rogueServers.length + conflicts.length > 0 ? 'note' : 'ok';
}
