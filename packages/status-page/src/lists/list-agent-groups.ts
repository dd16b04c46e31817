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
    reasons:
      leader === ''
        ? [toPageReason('NotLeading')]
        : sortGraves([...report].flatMap(([pool, reported]) => gravesOf(pool, reported))),
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
  const { serving, reason, message } = reported;
  return {
    pool,
    state: stateOf(reported),
    isServed: serving,
    ...(!serving && { reason: toPageReason(reason ?? 'NotServing', message) }),
    findings: findingsOf(reported),
  };
}

function findingsOf({ rogueServers = [], conflicts = [], observedUses = [] }: PoolReport): string[] {
  return [
    ...rogueServers.map(({ address, macAddress }) => `Rogue DHCP server ${address}, MAC address ${macAddress || 'not known'}`),
    ...(conflicts.length > 0 ? [`Addresses in conflict: ${conflicts.length}`] : []),
    ...observedUses.map(({ address, usedBy }) => `${address} is used by ${usedBy}, to which it is not assigned`),
  ];
}

function gravesOf(pool: string, reported: PoolReport): readonly Grave[] {
  const { serving, reason, message, rogueServers = [], conflicts = [], observedUses = [] } = reported;
  const state = stateOf(reported);
  if (!serving) {
    const why = toPageReason(reason ?? 'NotServing', message);
    return [{ state, reason: { ...why, message: `${pool}: ${why.message}` } }];
  }
  const grave = (name: string): Grave => ({ state, reason: toPageReason(name, pool) });
  return [
    ...(rogueServers.length > 0 ? [grave('RogueServer')] : []),
    ...(conflicts.length > 0 ? [grave('AddressConflict')] : []),
    ...(observedUses.length > 0 ? [grave('UnassignedAddressUsed')] : []),
  ];
}

function stateOf({ serving, reason, rogueServers = [], conflicts = [], observedUses = [] }: PoolReport): PageState {
  if (!serving) return gravityOf(reason ?? 'NotServing');
  return rogueServers.length + conflicts.length + observedUses.length > 0 ? 'note' : 'ok';
}
