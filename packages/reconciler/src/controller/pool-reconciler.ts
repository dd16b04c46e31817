import type { MacAddress } from '@vmdhcp/dhcp-allocator';
import { IPPOOL_FINALIZER, reasonOf } from '@vmdhcp/ippool-api';
import {
  describeProblems,
  isBeingDeleted,
  parseTime,
  type ReconcileResult,
  readField,
  toReconcileResult,
  toRegarding,
} from '@vmdhcp/kube-runtime';
import type { PoolAgents } from '../agents/pool-agents.js';
import { withLastRouterReady } from '../agents/router-conditions.js';
import type { ClaimRefusal } from '../assignment/address-request.js';
import { type LastOwners, ownersOf } from '../assignment/assignment-plan.js';
import { planPoolStatus } from '../assignment/plan-pool-status.js';
import { type PoolPlan, planPools } from '../assignment/plan-pools.js';
import type { PoolToPlan } from '../assignment/pool-to-plan.js';
import { findSettledClaims, joinSettledClaims, SettledBook, type SettledClaims } from '../assignment/settled-claims.js';
import { sentenceOf } from '../explanation.js';
import { findNetworkProblem } from '../network/network-problem.js';
import type { NetworkConfigClaims } from '../network-config/interface-claims.js';
import { explainInvalidPool } from '../pool/explain-invalid-pool.js';
import type { ObservedUse } from '../pool/observed-use.js';
import { roomForClients } from '../pool/room-for-clients.js';
import type { PoolView } from '../view/pool-views.js';
import { AddressJournal } from './address-journal.js';
import { afterFindings } from './after-findings.js';
import { ConfigNews } from './config-news.js';
import type { ControllerContext } from './controller-context.js';
import { type PoolObstacle, poolConditions, WITHOUT_AGENTS, withCause } from './pool-conditions.js';
import {
  type CacheReadyReason,
  clusterNotes,
  isEventNote,
  keptNotes,
  lostNote,
  type PoolNote,
  reachNotes,
  segmentNote,
} from './pool-notes.js';
import { agentWarnings, entryWarning, exhaustionWarning, type Warning, warnOwner, warnUser } from './pool-warnings.js';

const REFUSED_CHECK_MS = 30_000;
/** Pools that waiting machines link are planned together each time, so many of them are checked more rarely. */
const LINKED_POOLS = 8;
const LONGEST_CHECK_MS = 600_000;
/** A hostile guest can forge uses: the Events of all pools and machines share one budget. */
const MOST_USES_TOLD = 10;

const TO_CORRECT =
  'cidr and serverIP cannot be changed, router not once it is set: to correct them, delete the IPPool and create it again; virtual machines keep their addresses';

const RELEASE_CHECK_MS = 500;
/** How long a deleted pool waits for configs. */
const LONGEST_WAIT_MS = 300_000;
const NO_OWNERS: LastOwners = { get: () => undefined };

export class PoolReconciler {
  readonly #context: ControllerContext;
  readonly #journal: AddressJournal;
  readonly #news = new ConfigNews();
  readonly #books = new Map<string, SettledBook>();
  /** How many pools the last plan of a pool was made with. */
  readonly #linked = new Map<string, number>();

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#journal = new AddressJournal(context);
  }

  readonly reconcile = async (key: string): Promise<ReconcileResult> => {
    const view = this.#context.view.pool(key);
    if (view === undefined) {
      this.#forget(key);
      this.#context.audit?.gone(key);
      return { kind: 'settled' };
    }
    if (isBeingDeleted(view.object)) return this.#releaseDeleted(view);
    const agents = this.#context.agents?.ofPoolForStatus(view) ?? WITHOUT_AGENTS;
    const hasFinalizer = view.object.metadata.finalizers?.includes(IPPOOL_FINALIZER) === true;
    return agents.deploymentRef && !hasFinalizer ? this.#hold(view) : this.#settle(view, agents);
  };

  async #settle(view: PoolView, agents: PoolAgents): Promise<ReconcileResult> {
    const obstacle = this.#obstacle(view);
    const plan = obstacle === undefined ? this.#plan(view) : undefined;
    const notes =
      plan === undefined
        ? []
        : [
            ...keptNotes(view, plan),
            ...segmentNote(view, this.#context.segments.sharedBy(view)),
            ...clusterNotes(view, this.#context.clusterNetworks),
          ];
    const reach = plan === undefined ? [] : reachNotes(this.#context.caches.networks.get(view.network));
    const result = await this.#writeStatus(view, plan, { obstacle, agents, notes: [...notes, ...reach] });
    if (plan === undefined) this.#forget(view.key);
    if (result.kind !== 'settled' || plan === undefined) return result;
    // Report only after a successful write.
    this.#context.lastOwners.set(view.key, ownersOf(plan));
    this.#journal.planned(view, plan);
    this.#context.audit?.observe(this.#context, view, plan);
    this.#tellConfigs(view.key, plan);
    return this.#nextLook(view.key, plan, notes);
  }

  /** Whether a config can be served may depend on distant pools, so waiting ones are reconciled again even without events. */
  #nextLook(key: string, plan: PoolPlan, notes: readonly PoolNote[]): ReconcileResult {
    const untilMs = plan.quarantines.map((quarantine) => quarantine.untilMs - this.#nowMs());
    const linkedMs = REFUSED_CHECK_MS * Math.max(1, (this.#linked.get(key) ?? 1) / LINKED_POOLS);
    const checkMs = Math.min(LONGEST_CHECK_MS, linkedMs);
    const afterMs = Math.min(...untilMs, plan.refusals.size + notes.length === 0 ? Number.POSITIVE_INFINITY : checkMs);
    return Number.isFinite(afterMs) ? { kind: 'recheck', afterMs: Math.max(afterMs, 1_000) } : { kind: 'settled' };
  }

  #nowMs(): number {
    return parseTime(this.#context.now());
  }

  /** A pool with agents is gone only when they have released it. */
  async #hold({ key, object: { metadata } }: PoolView): Promise<ReconcileResult> {
    const { clients, caches } = this.#context;
    const finalizers = [...(metadata.finalizers ?? []), IPPOOL_FINALIZER];
    const target = { key, resourceVersion: metadata.resourceVersion };
    const result = await clients.ipPools.patch(target, { metadata: { finalizers } });
    if (result.ok) caches.ipPools.wrote(result.object);
    // Recheck right away: this was only the first step.
    return result.ok ? { kind: 'recheck', afterMs: 0 } : toReconcileResult(result);
  }

  #obstacle({ reading, object }: PoolView): PoolObstacle | undefined {
    if (!reading.ok) return { reason: 'pool-invalid', message: `${describeProblems(reading.problems)}; ${TO_CORRECT}` };
    const problem = findNetworkProblem(object, {
      network: (one) => this.#context.caches.networks.get(one),
      servingPool: (one) => this.#context.view.servingPool(one),
    });
    return problem && { reason: problem.reason, message: sentenceOf(problem) };
  }

  /** Plans the pool together with those that share virtual machines whose addresses are still to be found. */
  #plan(view: PoolView): PoolPlan | undefined {
    const pools = this.#component(view);
    const plans = planPools({ pools, claims: this.#claims(pools), whyUnserved: (network) => this.#whyUnserved(network) });
    this.#linked.set(view.key, pools.length);
    const plan = plans.get(view.key);
    const { plans: known, unrecordedPlans } = this.#context;
    if (plan !== undefined) known.set(view.key, plan);
    unrecordedPlans.set(view.key, unrecordedPlans.get(view.key) ?? new Map());
    for (const other of pools) {
      // Other pools that change are planned and written in their own turn.
      if (other.key !== view.key && this.#isNews(other.key, plans.get(other.key))) this.#context.enqueue.ipPools(other.key);
    }
    return plan;
  }

  #isNews(key: string, plan: PoolPlan | undefined): boolean {
    const known = this.#context.plans.get(key);
    return plan !== undefined && (known === undefined || !isSamePlan(known, plan));
  }

  #component(start: PoolView): PoolToPlan[] {
    const { view } = this.#context;
    const pools = new Map<string, PoolToPlan>();
    const networks = new Set([start.network]);
    for (const network of networks) {
      const serving = view.servingPool(network);
      if (serving === undefined || !serving.reading.ok) continue;
      const { key, paused, recorded, reading } = serving;
      const nowMs = this.#nowMs();
      pools.set(key, {
        key,
        network,
        pool: reading.pool,
        paused,
        recorded,
        ...afterFindings(serving, { agents: this.#context.agents?.ofPool(serving), nowMs }),
        nowMs,
        mostClients: roomForClients(serving.object),
        lastOwners: this.#context.lastOwners.get(key) ?? NO_OWNERS,
        reserved: view.reserved(serving),
      });
      for (const config of view.severalClaimsOn(network)) {
        if (this.#waitsForSeveral(config)) for (const claim of config.claims) networks.add(claim.network);
      }
    }
    return [...pools.values()];
  }

  /** Everything that claims an address of these pools. */
  #claims(pools: readonly PoolToPlan[]): SettledClaims {
    const { view } = this.#context;
    // If no plan was written yet, only the configs show the owner of an address.
    const unknown = new Set(pools.flatMap(({ key, network }) => (this.#context.lastOwners.has(key) ? [] : [network])));
    if (unknown.size === 0) return joinSettledClaims(pools.map((pool) => this.#bookOf(pool)));
    const configs = new Map(pools.flatMap(({ network }) => [...view.claimsOn(network)]));
    return findSettledClaims(
      pools,
      [...configs.values()].map((config) => view.believed(config, unknown)),
    );
  }

  #bookOf(pool: PoolToPlan): SettledBook {
    const book = this.#books.get(pool.key) ?? new SettledBook();
    this.#books.set(pool.key, book);
    book.update(pool, this.#context.view.claimsOn(pool.network));
    return book;
  }

  /** True if it has interfaces on several networks, and not all of them have their wanted addresses. */
  #waitsForSeveral({ claims }: NetworkConfigClaims): boolean {
    if (claims.length < 2) return false;
    return claims.some(({ network, macAddress, wanted }) => {
      const address = this.#context.view.servingPool(network)?.addressOf.get(macAddress);
      return address === undefined || (wanted !== undefined && wanted !== address);
    });
  }

  /** A network without a pool does not affect interfaces on others. */
  #whyUnserved(network: string): ClaimRefusal | undefined {
    const serving = this.#context.view.servingPool(network);
    if (serving === undefined || serving.reading.ok) return undefined;
    return { reason: 'pool-invalid', message: sentenceOf(explainInvalidPool(serving.key)) };
  }

  async #writeStatus(
    view: PoolView,
    plan: PoolPlan | undefined,
    { obstacle, agents, notes }: PoolFacts,
  ): Promise<ReconcileResult> {
    const { now, clients, caches, audit } = this.#context;
    const addresses =
      plan !== undefined && view.reading.ok ? { pool: view.reading.pool, plan, recorded: view.recorded } : undefined;
    const known = withLastRouterReady(agents.conditions, view.object.status);
    const conditions = [...poolConditions(view, obstacle, notes), ...known.map((one) => withCause(one, obstacle))];
    const observedUses = agents.observedUses.filter((use) => !this.#isOfOneMachine(view, use));
    this.#tellPeople(view, plan, [
      ...agentWarnings({ ...agents, observedUses }),
      ...notes.filter(isEventNote),
      ...(obstacle === undefined ? [] : [{ reason: reasonOf(obstacle.reason), message: obstacle.message }]),
    ]);
    this.#tellMachines(view, observedUses.slice(0, MOST_USES_TOLD));
    const patch = planPoolStatus(view.object, { addresses, conditions, agents, now: now() });
    if (patch === undefined) return { kind: 'settled' };
    const { key, object } = view;
    const changesAddresses = readField(patch, 'status', 'ipv4', 'allocated') !== undefined;
    const noteRefused = changesAddresses ? audit?.writing(key) : undefined;
    const result = await clients.ipPools.patchStatus({ key, resourceVersion: object.metadata.resourceVersion }, patch);
    if (result.ok) {
      this.#journal.wrote(view, plan, patch);
      caches.ipPools.wrote(result.object);
    } else {
      // Otherwise the records of all pools would wait for this one, which is perhaps not planned again.
      noteRefused?.();
    }
    return toReconcileResult(result);
  }

  #tellPeople(view: PoolView, plan: PoolPlan | undefined, others: readonly Warning[]): void {
    const regarding = toRegarding(view.object);
    const warnings = [
      ...others,
      ...view.recorded.unreadable.slice(0, 3).map(entryWarning),
      ...(plan === undefined ? [] : [...lostNote(view, plan), ...exhaustionWarning(plan, view)]),
    ];
    for (const warning of warnings) this.#context.events.record(regarding, { type: 'Warning', ...warning });
  }

  /** A guest with two interfaces on a network may answer on either for the address of the other one. */
  #isOfOneMachine(pool: PoolView, { usedBy, assignedTo }: ObservedUse): boolean {
    const user = this.#machineOf(pool, usedBy);
    return user !== undefined && user === this.#machineOf(pool, assignedTo);
  }

  /** Key of the machine whose claim to a MAC address counts, or else of the only one that has it; others may have copied it. */
  #machineOf({ key, network }: PoolView, macAddress: MacAddress | undefined): string | undefined {
    if (macAddress === undefined) return undefined;
    const { view, plans } = this.#context;
    const [first, second] = view.machinesHaving(network, macAddress);
    return plans.get(key)?.owners.get(macAddress) ?? (second === undefined ? first : undefined);
  }

  /** On the virtual machines of both sides, as far as they are known. */
  #tellMachines(pool: PoolView, uses: readonly ObservedUse[]): void {
    const tell = (macAddress: MacAddress | undefined, message: string) => {
      const machine = this.#context.caches.virtualMachines.get(this.#machineOf(pool, macAddress) ?? '');
      if (machine !== undefined)
        this.#context.events.record(toRegarding(machine), { type: 'Warning', reason: 'UnassignedAddressUsed', message });
    };
    for (const use of uses) {
      tell(use.usedBy, warnUser(use, pool.network));
      tell(use.assignedTo, warnOwner(use, pool.network));
    }
  }

  /** Enqueues the configs whose interfaces are affected. */
  #tellConfigs(key: string, plan: PoolPlan): void {
    const { view, enqueue } = this.#context;
    const pool = view.pool(key);
    if (pool === undefined) return;
    const claimants = (macAddress: MacAddress) => view.claimants(pool.network, macAddress);
    const news = this.#news.note(pool, plan, { claims: view.claimsOn(pool.network), claimants });
    for (const config of [...news, ...this.#takeWaiting(key, plan)]) enqueue.networkConfigs(config);
  }

  /** Configs that saw another plan, which was not recorded: this one may equal the last recorded one. Those without claims wait for former addresses to be freed. */
  #takeWaiting(key: string, plan?: PoolPlan): string[] {
    const { releaseWaiters, unrecordedPlans } = this.#context;
    const readers = [...(unrecordedPlans.get(key) ?? [])].flatMap(([config, seen]) => (seen === plan ? [] : [config]));
    const waiting = [...readers, ...(releaseWaiters.get(key) ?? [])];
    for (const waiters of [unrecordedPlans, releaseWaiters]) waiters.delete(key);
    return waiting;
  }

  /** The pool is gone or unusable: reconcile everything that depended on it. */
  #forget(key: string): void {
    const { plans, enqueue, caches, view } = this.#context;
    const dependents = [...this.#news.forget(key), ...this.#takeWaiting(key)];
    plans.delete(key);
    this.#context.lastOwners.delete(key);
    this.#books.delete(key);
    this.#linked.delete(key);
    this.#journal.forget(key);
    for (const config of dependents) {
      enqueue.networkConfigs(config);
      // It may have blocked their other interfaces.
      const object = caches.networkConfigs.get(config);
      for (const { network } of object === undefined ? [] : view.claimsOf(object).claims) {
        const pool = view.servingPool(network);
        if (pool !== undefined && pool.key !== key) enqueue.ipPools(pool.key);
      }
    }
  }

  async #releaseDeleted(view: PoolView): Promise<ReconcileResult> {
    const { clients, caches, agents } = this.#context;
    this.#forget(view.key);
    const { finalizers = [], resourceVersion } = view.object.metadata;
    if (!finalizers.includes(IPPOOL_FINALIZER)) return { kind: 'settled' };
    if (agents?.isInUse(view.key) || this.#mustWaitForConfigs(view)) return { kind: 'recheck', afterMs: RELEASE_CHECK_MS };
    const left = finalizers.filter((finalizer) => finalizer !== IPPOOL_FINALIZER);
    const result = await clients.ipPools.patch({ key: view.key, resourceVersion }, { metadata: { finalizers: left } });
    if (result.ok) caches.ipPools.wrote(result.object);
    return !result.ok && result.reason === 'not-found' ? { kind: 'settled' } : toReconcileResult(result);
  }

  /** The next pool gives other machines what configs do not show. One that cannot be written does not hold the pool for ever. */
  #mustWaitForConfigs(pool: PoolView): boolean {
    const { view, enqueue } = this.#context;
    const isLate = this.#nowMs() - parseTime(pool.object.metadata.deletionTimestamp ?? '') > LONGEST_WAIT_MS;
    if (isLate || view.endingPool(pool.network)?.key !== pool.key) return false;
    const heirs = new Set([...pool.addressOf].flatMap(([macAddress]) => view.heirOf(pool, macAddress) ?? []));
    for (const config of heirs) enqueue.networkConfigs(config);
    return heirs.size > 0;
  }
}

interface PoolFacts {
  readonly obstacle: PoolObstacle | undefined;
  readonly agents: PoolAgents;
  readonly notes: readonly PoolNote<CacheReadyReason>[];
}

function isSamePlan(one: PoolPlan, other: PoolPlan): boolean {
  const isSame = one.addressOf.changedKeys(other.addressOf).next().done === true;
  return isSame && one.refusals.size === other.refusals.size && [...one.refusals.keys()].every((key) => other.refusals.has(key));
}
