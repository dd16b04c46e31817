/**
 * Plans the operations of hosts, each of which acts once or not at all. `pending` is recorded before the action, with the run of
 * the agent that may carry it out; only that run acts, and only once. If it ended before it recorded a result, no agent knows
 * whether the action was carried out: the operation fails, and its message says so.
 */

import { compareByAge, formatTime } from '@vmdhcp/kube-runtime';
import { type ObservedHost, readHost } from '../host/read-host.js';
import { readTime } from '../object/time.js';
import type { OperationAttempt } from './operation-attempts.js';
import {
  OPERATION_TIMES,
  type OperationFacts,
  type OperationPlan,
  type OperationStep,
  type OperationTimes,
} from './operation-plan.js';
import { recordResult } from './operation-result.js';
import { type ReadOperation, readOperation } from './read-operation.js';

/** What to do about one operation. */
type Decision =
  | { readonly kind: 'step'; readonly step: OperationStep; readonly occupiesHost: boolean }
  /** Waits until then, or until something changes. */
  | { readonly kind: 'wait'; readonly untilMs: number; readonly occupiesHost: boolean }
  | { readonly kind: 'nothing' };

interface Context extends OperationFacts {
  readonly times: OperationTimes;
  /** When the object of each host was created, by its name. */
  readonly bornAtMs: ReadonlyMap<string, number | undefined>;
}

/**
 * `macSince` comes from the clock of the agent, and the creation of an operation from that of the API server. They may differ by
 * this much, or a little less: both times are in whole seconds.
 */
const MOST_CLOCK_DIFFERENCE_MS = 60_000;

const NOTHING: Decision = { kind: 'nothing' };

/**
 * The next step of each operation of the hosts of a ClusterAgent. A host has one operation at a time, the oldest first. Never
 * throws, whatever is stored.
 */
export function planHostOperations(facts: OperationFacts): OperationPlan {
  const bornAtMs = new Map(facts.hostStatuses.map(({ metadata }) => [metadata.name, readTime(metadata.creationTimestamp)]));
  const context: Context = { ...facts, times: facts.times ?? OPERATION_TIMES, bornAtMs };
  const hosts = new Map(facts.hostStatuses.map((one) => [one.metadata.name, readHost(one)]));
  const busy = new Set<string>();
  const decisions = unendedOperations(facts).map((operation) => {
    const decision = busy.has(operation.hostStatusName)
      ? NOTHING
      : decide(operation, hosts.get(operation.hostStatusName), context);
    if (decision.kind !== 'nothing' && decision.occupiesHost) busy.add(operation.hostStatusName);
    return decision;
  });
  const waits = decisions.flatMap((one) => (one.kind === 'wait' ? [one.untilMs] : []));
  return {
    steps: decisions.flatMap((one) => (one.kind === 'step' ? [one.step] : [])),
    planAgainAtMs: waits.length === 0 ? undefined : Math.min(...waits),
  };
}

/** Operations in progress come before waiting ones; in each group, the oldest first. */
function unendedOperations({ operations, attempts }: OperationFacts): ReadOperation[] {
  const unended = operations
    .toSorted(compareByAge)
    .flatMap((object) => readOperation(object) ?? [])
    .filter(({ state }) => state.kind !== 'ended');
  const hasBegun = ({ uid, state }: ReadOperation) => state.kind === 'pending' || attempts.get(uid) !== undefined;
  return [...unended.filter(hasBegun), ...unended.filter((one) => !hasBegun(one))];
}

/**
 * `failure` for operations that no agent accepts, for the controller: their HostStatus does not exist, or names a ClusterAgent
 * that does not exist.
 *
 * @param facts - `clusterAgents`: the names of all of them.
 */
export function planOrphanedOperations({ clusterAgents, ...facts }: OrphanFacts): OperationPlan {
  const { beginWithinMs } = facts.times ?? OPERATION_TIMES;
  const agents = new Map(facts.hostStatuses.map((one) => [one.metadata.name, readHost(one).clusterAgent]));
  const orphans = facts.operations
    .toSorted(compareByAge)
    .flatMap((object) => readOperation(object) ?? [])
    .filter(({ state, hostStatusName }) => state.kind !== 'ended' && !clusterAgents.includes(agents.get(hostStatusName) ?? ''));
  const due = orphans.map((operation) => ({ operation, atMs: (operation.createdAtMs ?? 0) + beginWithinMs }));
  const later = due.filter(({ atMs }) => atMs > facts.nowMs).map(({ atMs }) => atMs);
  return {
    steps: due.filter(({ atMs }) => atMs <= facts.nowMs).map(({ operation }) => orphaned(operation, facts.nowMs)),
    planAgainAtMs: later.length === 0 ? undefined : Math.min(...later),
  };
}

/** Operations and hosts, and the ClusterAgents that still exist. */
export interface OrphanFacts extends Pick<OperationFacts, 'operations' | 'hostStatuses' | 'nowMs' | 'times'> {
  readonly clusterAgents: readonly string[];
}

function orphaned(operation: ReadOperation, nowMs: number): OperationStep {
  const why = `no agent serves HostStatus ${JSON.stringify(operation.hostStatusName)}`;
  const isPending = operation.state.kind === 'pending';
  const message = isPending
    ? unknownOutcome(operation, why)
    : `${operation.action}: ${why}; correct the name, and create another HostOperation`;
  return recordResult(operation, { isSuccess: false, message }, nowMs);
}

function decide(operation: ReadOperation, host: ObservedHost | undefined, context: Context): Decision {
  const attempt = context.attempts.get(operation.uid);
  // Its result is recorded, whatever has become of its host meanwhile.
  if (attempt !== undefined) return decideBegun(operation, attempt, context);
  if (host?.clusterAgent !== context.clusterAgent) return NOTHING;
  return operation.state.kind === 'pending' ? decidePending(operation, host, context) : decideNew(operation, host, context);
}

/** This run acts, or has acted: whatever is stored, it does not act again. */
function decideBegun(operation: ReadOperation, { beganAtMs, outcome }: OperationAttempt, { times, nowMs }: Context): Decision {
  if (outcome !== undefined) return ended(recordResult(operation, outcome, nowMs));
  const untilMs = beganAtMs + times.answerWithinMs;
  if (nowMs < untilMs) return { kind: 'wait', untilMs, occupiesHost: true };
  const seconds = Math.round(times.answerWithinMs / 1_000);
  return ended(
    recordResult(
      operation,
      { isSuccess: false, message: unknownOutcome(operation, `no answer within ${seconds} seconds`) },
      nowMs,
    ),
  );
}

function decidePending(operation: ReadOperation, host: ObservedHost, context: Context): Decision {
  const { runId, times, nowMs } = context;
  const { state, name, uid, action, object } = operation;
  if (state.kind !== 'pending') return NOTHING;
  // This run has not begun it, because its host was not followed meanwhile.
  if (state.runId === runId && isOfFormerClient(operation, host, context)) return ended(ofFormerClient(operation, host, nowMs));
  if (state.runId === runId && object.metadata.deletionTimestamp === undefined)
    return { kind: 'step', step: { kind: 'act', name, uid, action, host }, occupiesHost: true };
  // Another run recorded it, and may be about to act, or to record the outcome.
  const untilMs = endOfGrace(state.sinceMs ?? 0, nowMs, times);
  if (nowMs < untilMs && state.runId !== runId) return { kind: 'wait', untilMs, occupiesHost: true };
  const message = unknownOutcome(operation, 'the agent that began it ended before it recorded a result');
  return ended(recordResult(operation, { isSuccess: false, message }, nowMs));
}

/** Clocks differ a little. If one is ahead by more than the grace, it is wrong, and this would wait for that long. */
function endOfGrace(sinceMs: number, nowMs: number, { answerWithinMs }: OperationTimes): number {
  return sinceMs > nowMs + answerWithinMs ? nowMs : sinceMs + answerWithinMs;
}

function decideNew(operation: ReadOperation, host: ObservedHost, context: Context): Decision {
  const { clusterAgent, runId, times, nowMs } = context;
  const { name, action, object, createdAtMs = 0 } = operation;
  if (object.metadata.deletionTimestamp !== undefined) return NOTHING;
  if (isOfFormerClient(operation, host, context)) return ended(ofFormerClient(operation, host, nowMs));
  const untilMs = createdAtMs + times.beginWithinMs;
  if (nowMs >= untilMs)
    return ended(recordResult(operation, { isSuccess: false, message: tooLate(operation, host, times) }, nowMs));
  if (!host.isHealthy) return { kind: 'wait', untilMs, occupiesHost: false };
  const status = {
    status: 'pending',
    message: `${action} of ${describeHost(host)} begins`,
    lastUpdateTime: formatTime(nowMs),
    clusterAgent,
    ipAddr: host.address ?? '',
    startedBy: runId,
  };
  const step = { kind: 'record-pending', name, resourceVersion: object.metadata.resourceVersion, patch: { status } } as const;
  return { kind: 'step', step, occupiesHost: true };
}

/**
 * The object of a learned host is deleted with its lease: a newer one with the same name may belong to another machine. An object
 * that is kept may have another MAC address since; times are whole seconds, and from two clocks: for a minute after the change,
 * the machine is not known.
 */
function isOfFormerClient(
  { createdAtMs }: ReadOperation,
  { name, mode, macSinceMs }: ObservedHost,
  { bornAtMs }: Context,
): boolean {
  if (mode !== 'dhcp' || createdAtMs === undefined) return false;
  return (bornAtMs.get(name) ?? 0) > createdAtMs || (macSinceMs ?? 0) + MOST_CLOCK_DIFFERENCE_MS >= createdAtMs;
}

function ofFormerClient(operation: ReadOperation, host: ObservedHost, nowMs: number): OperationStep {
  return recordResult(operation, { isSuccess: false, message: describeFormerClient(operation, host) }, nowMs);
}

function describeFormerClient({ action, createdAtMs = 0 }: ReadOperation, { name, macSinceMs }: ObservedHost): string {
  const isOfMacAddress = macSinceMs !== undefined && macSinceMs + MOST_CLOCK_DIFFERENCE_MS >= createdAtMs;
  const [why, when] = isOfMacAddress
    ? [
        `the MAC address of HostStatus ${name} changed at ${formatTime(macSinceMs)}, and this operation was created before, or less than a minute later by another clock`,
        `, after ${formatTime(macSinceMs + MOST_CLOCK_DIFFERENCE_MS)}`,
      ]
    : [`HostStatus ${name} is newer than this operation`, ''];
  return `${action}: ${why}, so the address may belong to another host now. Nothing was done: create another HostOperation if it is still wanted${when}`;
}

function ended(step: OperationStep): Decision {
  return { kind: 'step', step, occupiesHost: false };
}

function unknownOutcome({ action }: ReadOperation, why: string): string {
  return `${action}: ${why}. It is not known whether the host carried it out, and it is not repeated: look at its power state, and create another HostOperation if needed`;
}

function tooLate({ action }: ReadOperation, host: ObservedHost, { beginWithinMs }: OperationTimes): string {
  const minutes = Math.round(beginWithinMs / 60_000);
  const why = host.isHealthy ? 'no agent began it' : `no agent reached the management controller of ${describeHost(host)}`;
  return `${action}: ${why} within ${minutes} minutes. Nothing was done: create another HostOperation if it is still wanted`;
}

function describeHost({ name, address }: ObservedHost): string {
  return address === undefined ? name : `${name} (${address})`;
}
