/**
 * Polls management controllers: each host independently, once per interval, spread over it. If a host hangs, its answer counts as
 * missing after a time, and other hosts are not affected.
 */
import type { FollowedHost } from '../inventory/host-targets.js';
import type { HostObjects } from '../objects/host-objects.js';
import type { HostAgentPorts } from '../ports.js';
import { type HostSecrets, secretKeyOf } from '../secret/host-secrets.js';
import { PollSlots } from './poll-slots.js';
import { type ReadHealth, readWithin } from './read-within.js';
import { recordHealth } from './record-health.js';

const INTERVAL_MS = 60_000;
/** How long a poll has a slot. */
const SLOT_MS = 2_000;
/** A host that does not answer is polled less often, at least every so many intervals. */
const MOST_INTERVALS = 4;
/**
 * If a host answered the last time and does not now, it is polled again after this time, before it counts as unhealthy: one poll
 * may be lost on a busy machine, or during a change of leaders.
 */
const CONFIRM_MS = 5_000;
/** The jitter as a part of the interval: polls of hosts that began together drift apart. */
const JITTER = 0.1;

/** One host, as long as its connection settings stay the same. */
interface Polled {
  readonly host: FollowedHost;
  readonly reach: string;
  readonly ended: AbortController;
  /** Cancels the timer, or the wait for a slot. */
  callOff: () => void;
  /** True if it answered the last time. */
  isProven: boolean;
  /** True if it answered the poll before the last one, and not the last one: the next poll decides. */
  isDoubted: boolean;
  /** The number of polls in a row without an answer. */
  failures: number;
  /** Why it did not answer the last time. */
  cause: string | undefined;
}

const NEW = { isDoubted: false, failures: 0, cause: undefined };

export interface HostPollsSettings {
  readonly ports: HostAgentPorts;
  readonly objects: HostObjects;
  readonly secrets: HostSecrets;
  /** Called when a poll of this host has ended and its result is recorded. */
  readonly onHealth: (name: string, isHealthy: boolean) => void;
}

export class HostPolls {
  readonly #ports: HostAgentPorts;
  readonly #objects: HostObjects;
  readonly #secrets: HostSecrets;
  readonly #onHealth: HostPollsSettings['onHealth'];
  readonly #slots = new PollSlots();
  readonly #polled = new Map<string, Polled>();
  readonly #running = new Set<Promise<void>>();
  readonly #intervalMs: number;
  #isFirst = true;
  #isStopped = false;

  constructor({ ports, objects, secrets, onHealth }: HostPollsSettings) {
    this.#ports = ports;
    this.#objects = objects;
    this.#secrets = secrets;
    this.#onHealth = onHealth;
    this.#intervalMs = ports.pollIntervalMs ?? INTERVAL_MS;
  }

  /**
   * Sets the hosts to poll. A new host, or one with changed connection settings, is polled at once; healthy hosts of the first
   * call are polled within an interval.
   */
  follow(hosts: ReadonlyMap<string, FollowedHost>): void {
    if (this.#isStopped) return;
    for (const [name, polled] of this.#polled) if (!hosts.has(name)) this.#forget(polled);
    for (const host of hosts.values()) this.#followOne(host);
    if (hosts.size > 0) this.#isFirst = false;
  }

  #followOne(host: FollowedHost): void {
    const reach = JSON.stringify([host.uid, host.address, host.connection]);
    const before = this.#polled.get(host.name);
    if (before?.reach === reach) return;
    if (before !== undefined) this.#forget(before);
    const isKnown = this.#isFirst && host.isHealthy;
    this.#add({ host, reach, isProven: isKnown }, isKnown ? this.#intervalMs * this.#ports.random() : 0);
  }

  /** Polls the hosts of a Secret at once, because its content changed. @param key - `namespace/name`. */
  secretChanged(key: string): void {
    for (const polled of [...this.#polled.values()]) {
      if (secretKeyOf(polled.host.connection) !== key) continue;
      this.#forget(polled);
      this.#add(polled, 0);
    }
  }

  /** After this call, no poll begins and nothing is recorded; resolves when no write is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const polled of this.#polled.values()) this.#forget(polled);
    await Promise.all(this.#running);
  }

  #add({ host, reach, isProven }: Pick<Polled, 'host' | 'reach' | 'isProven'>, delayMs: number): void {
    const ended = new AbortController();
    const polled: Polled = { host, reach, isProven, ended, callOff: () => undefined, ...NEW };
    this.#polled.set(host.name, polled);
    this.#schedule(polled, delayMs);
  }

  #forget(polled: Polled): void {
    polled.callOff();
    polled.ended.abort();
    this.#polled.delete(polled.host.name);
  }

  #schedule(polled: Polled, delayMs: number): void {
    polled.callOff = this.#ports.clock.after(delayMs, () => {
      polled.callOff = this.#slots.request({
        isUnproven: !polled.isProven,
        begin: (release) => this.#begin(polled, release),
      });
    });
  }

  #begin(polled: Polled, release: () => void): void {
    const { clock, observer } = this.#ports;
    polled.callOff = () => undefined;
    const callOffSlot = clock.after(SLOT_MS, release);
    const running = this.#poll(polled)
      .catch((error: unknown) => observer.observe({ kind: 'unexpected-error', error }))
      .then(() => {
        callOffSlot();
        release();
        this.#running.delete(running);
        if (!polled.ended.signal.aborted) this.#schedule(polled, this.#delayMs(polled));
      });
    this.#running.add(running);
  }

  async #poll(polled: Polled): Promise<void> {
    const { clock, observer } = this.#ports;
    const { host, ended } = polled;
    const beganAtMs = clock.nowMs();
    const { report, isOverdue, isCertain = false } = await this.#read(polled);
    if (ended.signal.aborted) return;
    if (report.kind === 'not-read') return observer.observe({ kind: 'not-polled', name: host.name, message: report.message });
    const isHealthy = report.kind === 'healthy';
    polled.isDoubted = polled.isProven && !isHealthy && !isCertain;
    polled.isProven = isHealthy;
    polled.failures = isHealthy ? 0 : polled.failures + 1;
    observer.observe({ kind: 'polled', name: host.name, isHealthy, isOverdue, durationMs: clock.nowMs() - beganAtMs });
    if (polled.isDoubted) return;
    const cause = report.kind === 'healthy' ? undefined : report.message;
    const isNewCause = cause !== polled.cause;
    polled.cause = cause;
    const recording = { ports: this.#ports, objects: this.#objects, name: host.name, report, isNewCause, ended: ended.signal };
    await recordHealth(recording);
    if (!ended.signal.aborted) this.#onHealth(host.name, isHealthy);
  }

  /** `isCertain`: polling again would change nothing. */
  async #read({ host, ended }: Polled): Promise<ReadHealth & { readonly isCertain?: boolean }> {
    const secret = await this.#secrets.of(host.connection);
    if (secret.kind === 'problem')
      return { report: { kind: 'unhealthy', message: secret.message }, isOverdue: false, isCertain: true };
    const { name, address, connection } = host;
    return readWithin(this.#ports, { name, address, connection, secret: secret.data }, ended.signal);
  }

  #delayMs({ failures, isDoubted }: Polled): number {
    if (isDoubted) return Math.min(CONFIRM_MS, this.#intervalMs);
    const intervals = Math.min(MOST_INTERVALS, 2 ** Math.max(0, failures - 2));
    return this.#intervalMs * intervals * (1 - JITTER / 2 + JITTER * this.#ports.random());
  }
}
