/**
 * Compares, plans and writes repeatedly: what leases and HostEndpoints specify, and the existing HostStatus objects. Changes are
 * gathered for a moment. The writes of one host are made one after the other, those of several hosts at the same time; a failed
 * write is planned again later, and delays no other host.
 */
import { type BoundAddresses, boundAddresses } from '../../binding/bound-addresses.js';
import { readClusterAgent } from '../../host/cluster-agent-settings.js';
import type { HostLease, HostStatusAction, InventoryFacts } from '../../inventory/inventory-plan.js';
import { planHostInventory } from '../../inventory/plan-host-inventory.js';
import { GatheredCalls } from '../objects/gathered-calls.js';
import type { HostObjects } from '../objects/host-objects.js';
import { RetryTimes } from '../objects/retry-times.js';
import { toHostRegarding } from '../objects/to-host-regarding.js';
import type { HostAgentPorts } from '../ports.js';
import { type FollowedHost, hostTargets } from './host-targets.js';
import { type HostWriteOutcome, writeHost } from './write-host.js';

const GATHER_MS = 100;
/** The number of hosts that are written at the same time. */
const MOST_WRITING = 16;
/** A plan takes at most a sixth of the time of one processor, unless it takes more than two seconds. */
const REST_PER_PLAN = 5;
/** If a process was stopped in the middle of a plan, the plan seems to have taken that long: the next plan does not wait for it. */
const MOST_GATHER_MS = 10_000;
const MOST_IGNORED = 1_000;

export class InventoryLoop {
  readonly #ports: HostAgentPorts;
  readonly #objects: HostObjects;
  readonly #onHosts: (hosts: ReadonlyMap<string, FollowedHost>) => void;
  readonly #plans: GatheredCalls;
  readonly #retries: RetryTimes;
  /** Writes of the last plan that have not begun, by host. */
  #waiting = new Map<string, readonly HostStatusAction[]>();
  readonly #writing = new Map<string, Promise<void>>();
  #state: 'new' | 'working' | 'stopped' = 'new';
  #gatherMs = GATHER_MS;
  /** As text: the last argument of `onBindings`. */
  #bound: string | undefined;
  readonly #ignored = new Set<string>();

  /** @param onHosts - called after each plan. */
  constructor(ports: HostAgentPorts, objects: HostObjects, onHosts: (hosts: ReadonlyMap<string, FollowedHost>) => void) {
    this.#ports = ports;
    this.#objects = objects;
    this.#onHosts = onHosts;
    this.#plans = new GatheredCalls(ports, () => this.#plan());
    this.#retries = new RetryTimes(ports);
  }

  /** The caches are complete. */
  begin(): void {
    if (this.#state !== 'new') return;
    this.#state = 'working';
    this.#plans.within(0);
  }

  /** Something changed. */
  changed(): void {
    if (this.#state === 'working') this.#plans.within(this.#gatherMs);
  }

  /** After this call, no write begins; resolves when none is in progress. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#plans.stop();
    this.#waiting.clear();
    await Promise.all(this.#writing.values());
  }

  #plan(): void {
    const { clock, wallTimeMs } = this.#ports;
    const beganAtMs = clock.nowMs();
    const facts = this.#facts(wallTimeMs());
    if (facts === undefined) {
      this.#waiting.clear();
      this.#onHosts(new Map());
      return;
    }
    const plan = planHostInventory(facts);
    this.#follow(plan.actions);
    const bound = boundAddresses(facts);
    this.#reportBindings(bound);
    for (const problem of [...plan.problems, ...bound.problems])
      this.#ports.events.record(toHostRegarding(problem), problem.event);
    for (const lease of plan.ignoredLeases) this.#reportIgnored(lease);
    this.#onHosts(hostTargets(facts, plan.actions));
    this.#gatherMs = Math.min(Math.max(GATHER_MS, (clock.nowMs() - beganAtMs) * REST_PER_PLAN), MOST_GATHER_MS);
  }

  /** Undefined if the ClusterAgent does not exist, or is being deleted. Then its objects stay as they are. */
  #facts(nowMs: number): InventoryFacts | undefined {
    const agents = this.#objects.all('clusteragents');
    const agent = agents.find(({ metadata }) => metadata.name === this.#ports.clusterAgentName);
    if (agent === undefined || agent.metadata.deletionTimestamp !== undefined) return undefined;
    return {
      clusterAgent: readClusterAgent(agent),
      clusterAgents: agents.map(({ metadata }) => metadata.name),
      leases: this.#ports.leases(),
      ...(this.#ports.mayBeMadeUp !== undefined && { mayBeMadeUp: this.#ports.mayBeMadeUp }),
      endpoints: this.#objects.all('hostendpoints'),
      hostStatuses: this.#objects.hostStatuses(),
      nowMs,
    };
  }

  /** Writes of an earlier plan that have not begun are dropped: this plan has them, or they are no longer needed. */
  #follow(actions: readonly HostStatusAction[]): void {
    const byName = Map.groupBy(actions, ({ name }) => name);
    this.#retries.keep(byName);
    this.#waiting.clear();
    for (const [name, ofHost] of byName) {
      const waitMs = this.#retries.waitMs(name);
      if (waitMs > 0) this.#plans.within(waitMs);
      else if (!this.#writing.has(name)) this.#waiting.set(name, ofHost);
    }
    this.#begin();
  }

  #begin(): void {
    for (const [name, actions] of this.#waiting) {
      if (this.#writing.size >= MOST_WRITING) return;
      this.#waiting.delete(name);
      this.#writing.set(name, this.#write(name, actions));
    }
  }

  async #write(name: string, actions: readonly HostStatusAction[]): Promise<void> {
    const writing = { ports: this.#ports, objects: this.#objects, isStopped: () => this.#state === 'stopped' };
    let failed: { readonly action: HostStatusAction; readonly outcome: Extract<HostWriteOutcome, { ok: false }> } | undefined;
    for (const action of actions) {
      const outcome = await writeHost(writing, action);
      if (outcome.ok) continue;
      failed = { action, outcome };
      break;
    }
    this.#writing.delete(name);
    const retryAfterMs = this.#retries.ended(name, failed === undefined);
    if (this.#state === 'stopped') return;
    if (failed !== undefined) {
      const { reason, message } = failed.outcome;
      this.#ports.observer.observe({ kind: 'write-failed', write: failed.action.kind, name, reason, message, retryAfterMs });
    }
    this.#plans.within(Math.max(this.#gatherMs, retryAfterMs));
    this.#begin();
  }

  #reportBindings(bound: BoundAddresses): void {
    // For a client with a lease, the time of the last change of its object does not matter to a DHCP server.
    const bindings = bound.bindings.map((one) => (one.isActive ? { ...one, changedAtMs: 0 } : one));
    const text = JSON.stringify([bindings, bound.keptOut, bound.releases]);
    if (text === this.#bound) return;
    this.#ports.onBindings(bound);
    this.#bound = text;
  }

  #reportIgnored(lease: HostLease): void {
    const id = JSON.stringify([lease.ipAddress, lease.macAddress]);
    if (this.#ignored.has(id) || this.#ignored.size >= MOST_IGNORED) return;
    this.#ignored.add(id);
    this.#ports.observer.observe({ kind: 'lease-ignored', lease });
  }
}
