/** Reads the facts for the page from an IPPool. */
import { IPPoolConditionType } from '@vmdhcp/ippool-api';
import { type Condition, type KubernetesObject, readConditions, readField, readText } from '@vmdhcp/kube-runtime';
import { type PoolReading, readPool, readQuarantines } from '@vmdhcp/reconciler/pool';
import { type Grave, gravityOf, sortGraves, toPageConditions, toPageReason, worstState } from '../reason/page-reason.js';
import { keptReservations, type PoolFacts } from './pool-facts.js';
import { PoolRecord } from './pool-record.js';

/** The result of the former version of the same pool, whose unchanged parts need not be read again. */
export interface ReadPool {
  readonly facts: PoolFacts;
  readonly reading: PoolReading;
  /** Continues with the next version; `facts` do not change. */
  readonly record: PoolRecord;
  /** UID and generation of the object that was read. */
  readonly of: string | undefined;
}

/** Never throws, whatever the object contains. @param before - the former version of the same pool; use it for one successor only. */
export function readPoolFacts(object: KubernetesObject, before?: ReadPool): ReadPool {
  const { uid, generation, namespace = '', name } = object.metadata;
  const of = generation === undefined ? undefined : `${uid} ${generation}`;
  const reading = before !== undefined && of !== undefined && before.of === of ? before.reading : readPool(object);
  const record = before?.record ?? new PoolRecord();
  const { clients, unusable } = record.read(object);
  const pool = reading.ok ? reading.pool : undefined;
  const quarantined = readQuarantines(object).map(({ address, untilMs, usedBy = '' }) => ({ address, untilMs, usedBy }));
  const graves = gravesOf(object, reading);
  const facts: PoolFacts = {
    namespace,
    name,
    network: networkOf(object),
    pool,
    clients,
    kept: keptReservations(pool, clients, record.has),
    unusable,
    quarantined,
    state: worstState(graves.map(({ state }) => state)),
    reasons: sortGraves(graves),
    conditions: toPageConditions(object.status),
    servedByPod: readText(object.status, 'servedBy') ?? '',
    agents: ['namespace', 'name'].flatMap((field) => readText(object.status, 'agentDeploymentRef', field) ?? []).join('/'),
  };
  return { facts, reading, record, of };
}

function networkOf({ metadata: { namespace = '' }, spec }: KubernetesObject): string {
  const named = readText(spec, 'networkName') ?? '';
  return named === '' || named.includes('/') ? named : `${namespace}/${named}`;
}

/** A paused pool is not served on purpose, so other reasons do not matter. */
function gravesOf(object: KubernetesObject, reading: PoolReading): readonly Grave[] {
  if (readField(object.spec, 'paused') === true) return [{ state: 'note', reason: toPageReason('Paused') }];
  const conditions = readConditions(object.status);
  // Nobody has looked at it yet: no controller leads, or it has just been created.
  if (reading.ok && conditions.length === 0) return [{ state: 'waiting', reason: toPageReason('Pending') }];
  const graves = conditions.flatMap(graveOf);
  if (reading.ok || graves.some(({ reason }) => reason.reason === 'PoolInvalid')) return graves;
  return [{ state: 'broken', reason: toPageReason('PoolInvalid', reading.problems.join('; ')) }, ...graves];
}

const NEEDED: ReadonlySet<string> = new Set([IPPoolConditionType.cacheReady, IPPoolConditionType.agentReady]);

function graveOf(condition: Condition): readonly Grave[] {
  const { type, status, message } = condition;
  const reason = reasonOf(condition);
  if (reason === '' || type === 'Stopped') return [];
  const explained = toPageReason(reason, typeof message === 'string' ? message : '');
  // Clients are served nevertheless.
  if (type === 'RogueServer') return status === 'True' ? [{ state: 'note', reason: explained }] : [];
  if (type === 'RouterReady') return [{ state: 'note', reason: explained }];
  return [{ state: status === 'True' ? 'note' : gravityOf(reason), reason: explained }];
}

/** A needed condition that is False has a reason even if nobody wrote one; empty if there is none. */
function reasonOf({ type, status, reason }: Condition): string {
  if (reason === undefined && status === 'False' && NEEDED.has(type)) return `${type}=False`;
  return typeof reason === 'string' ? reason : '';
}
