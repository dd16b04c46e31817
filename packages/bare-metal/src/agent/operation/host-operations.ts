/**
 * Operations of hosts, each of which acts once or not at all: `pending` is recorded at the version that was seen, then the action
 * is carried out, then its result is recorded. Every step is planned from what is stored, so a lost step is planned again, by
 * this agent or by the next one; the action itself never is.
 */

import { isRecord, type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { OperationAttempts } from '../../operation/operation-attempts.js';
import type { OperationStep } from '../../operation/operation-plan.js';
import { planHostOperations } from '../../operation/plan-host-operations.js';
import type { FollowedHost } from '../inventory/host-targets.js';
import { attemptWrite } from '../objects/attempt-write.js';
import { GatheredCalls } from '../objects/gathered-calls.js';
import type { HostObjects } from '../objects/host-objects.js';
import { RetryTimes } from '../objects/retry-times.js';
import { toHostRegarding } from '../objects/to-host-regarding.js';
import type { HostAgentPorts } from '../ports.js';
import type { HostSecrets } from '../secret/host-secrets.js';
import { type Acting, HostActions } from './host-actions.js';

const GATHER_MS = 20;
/** The wall clock may be set while an operation waits for a time. */
const MOST_WAIT_MS = 60_000;
const NOT_LEADING_MS = 1_000;
/** Attempts are forgotten when there are this many more than after the last cleanup. */
const MOST_ATTEMPTS = 1_000;
/** At the end of leadership, how long an action and the write of its result may take. */
const STOP_WITHIN_MS = 10_000;

type RecordStep = Exclude<OperationStep, { kind: 'act' }>;

export class HostOperations {
  readonly #ports: HostAgentPorts;
  readonly #objects: HostObjects;
  readonly #plans: GatheredCalls;
  readonly #retries: RetryTimes;
  readonly #attempts = new OperationAttempts();
  readonly #actions: HostActions;
  readonly #writing = new Map<string, Promise<void>>();
  #hosts: ReadonlyMap<string, FollowedHost> = new Map();
  #state: 'new' | 'working' | 'stopping' | 'stopped' = 'new';
  #keepAt = MOST_ATTEMPTS;

  constructor(ports: HostAgentPorts, objects: HostObjects, secrets: HostSecrets) {
    this.#ports = ports;
    this.#objects = objects;
    this.#plans = new GatheredCalls(ports, () => this.#plan());
    this.#retries = new RetryTimes(ports);
    this.#actions = new HostActions({
      ports,
      secrets,
      attempts: this.#attempts,
      mayBegin: () => this.#state === 'working' && ports.isLeading(),
      isDue: ({ step: { uid }, host }) => {
        const operations = this.#objects.all('hostoperations').filter(({ metadata }) => metadata.uid === uid);
        const { steps } = this.#planned(operations).plan;
        return steps.some(({ kind }) => kind === 'act') && isSameHost(host, this.#hosts.get(host.name));
      },
      onEnd: () => this.#plans.within(0),
    });
  }

  /** Something changed. */
  changed(): void {
    if (this.#state === 'working') this.#plans.within(GATHER_MS);
  }

  /** Sets the hosts that may be operated, and their addresses. Nothing is planned before the first call. */
  follow(hosts: ReadonlyMap<string, FollowedHost>): void {
    this.#hosts = hosts;
    if (this.#state === 'new') this.#state = 'working';
    this.changed();
  }

  /**
   * After this call, no action begins, and nothing is written except the result of one in progress. Resolves when that is
   * written, or after ten seconds.
   */
  async stop(): Promise<void> {
    if (this.#state === 'stopping' || this.#state === 'stopped') return;
    this.#state = 'stopping';
    await this.#within(STOP_WITHIN_MS, this.#finish());
    this.#state = 'stopped';
    this.#plans.stop();
    this.#actions.abort();
  }

  async #finish(): Promise<void> {
    await this.#actions.idle();
    // A write of `pending` may also be in progress; its action never begins.
    await Promise.all(this.#writing.values());
    if (this.#state !== 'stopping') return;
    this.#plan();
    await Promise.all(this.#writing.values());
  }

  async #within(ms: number, work: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const callOff = this.#ports.clock.after(ms, resolve);
    await Promise.race([work, promise]);
    callOff();
  }

  #planned(operations: readonly KubernetesObject[]) {
    const named = new Set(operations.map(({ spec }) => String(readField(spec, 'hostStatusName'))));
    const hostStatuses = [...named].flatMap((name) => this.#operable(name) ?? []);
    const nowMs = this.#ports.wallTimeMs();
    const { clusterAgentName: clusterAgent, runId } = this.#ports;
    const plan = planHostOperations({ clusterAgent, operations, hostStatuses, runId, attempts: this.#attempts, nowMs });
    return { plan, nowMs };
  }

  #plan(): void {
    const operations = this.#objects.all('hostoperations');
    const { plan, nowMs } = this.#planned(operations);
    this.#retries.keep(new Set(plan.steps.map(({ name }) => name)));
    const uids = new Map(operations.map(({ metadata }) => [metadata.name, metadata.uid]));
    for (const step of plan.steps) this.#begin(step, uids.get(step.name));
    if (plan.planAgainAtMs !== undefined) this.#plans.within(Math.min(MOST_WAIT_MS, Math.max(1, plan.planAgainAtMs - nowMs)));
    if (this.#attempts.size >= this.#keepAt) void this.#forgetAttempts();
  }

  /** A host that is not followed is never reached, whatever its object contains: its operations wait, and then fail. */
  #operable(name: string): KubernetesObject | undefined {
    const object = this.#objects.hostStatus(name);
    if (object === undefined || this.#hosts.has(name)) return object;
    return { ...object, status: { ...(isRecord(object.status) ? object.status : {}), healthy: false } };
  }

  #begin(step: OperationStep, uid: string | undefined): void {
    const isResult = step.kind === 'record-result' && this.#attempts.get(uid ?? '')?.outcome !== undefined;
    if (this.#state !== 'working' && !isResult) return;
    if (step.kind === 'act') {
      this.#act(step);
      return;
    }
    const waitMs = this.#retries.waitMs(step.name);
    if (waitMs > 0) this.#plans.within(waitMs);
    else if (!this.#writing.has(step.name)) this.#writing.set(step.name, this.#record(step));
  }

  #act(step: Acting['step']): void {
    const host = this.#hosts.get(step.host.name);
    if (host !== undefined) this.#actions.begin({ step, host });
    // The Lease may be renewed late, without another leader in between.
    if (!this.#ports.isLeading()) this.#plans.within(NOT_LEADING_MS);
  }

  async #record(step: RecordStep): Promise<void> {
    const ports = this.#ports;
    const { name, resourceVersion, patch } = step;
    const outcome = await attemptWrite<KubernetesObject>(() =>
      ports.hostOperations.patchStatus({ key: name, resourceVersion }, patch),
    );
    this.#writing.delete(name);
    const retryAfterMs = this.#retries.ended(name, outcome.ok);
    if (outcome.ok) this.#recorded(step, outcome.object);
    else {
      const { reason, message } = outcome;
      ports.observer.observe({ kind: 'write-failed', write: 'operation', name, reason, message, retryAfterMs });
    }
    this.#plans.within(Math.max(GATHER_MS, retryAfterMs));
  }

  #recorded(step: RecordStep, object: KubernetesObject): void {
    const ports = this.#ports;
    this.#objects.wrote('hostoperations', object);
    ports.observer.observe({ kind: 'written', write: 'operation', name: step.name });
    if (step.kind !== 'record-result') return;
    for (const event of step.events) {
      ports.events.record(toHostRegarding(event), event.event);
      ports.observer.observe({ kind: 'event', event });
    }
  }

  /** An attempt stays known as long as its operation exists in a read that is newer than this call. */
  async #forgetAttempts(): Promise<void> {
    this.#keepAt = Number.POSITIVE_INFINITY;
    await this.#objects.refreshOperations();
    this.#attempts.keep(new Set(this.#objects.all('hostoperations').flatMap(({ metadata: { uid } }) => uid ?? [])));
    this.#keepAt = this.#attempts.size + MOST_ATTEMPTS;
  }
}

function isSameHost(one: FollowedHost, other: FollowedHost | undefined): boolean {
  const described = ({ uid, address, connection }: FollowedHost) => JSON.stringify([uid, address, connection]);
  return other !== undefined && described(one) === described(other);
}
