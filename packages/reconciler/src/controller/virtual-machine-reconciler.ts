import { reasonOf } from '@vmdhcp/ippool-api';
import {
  backOffMs,
  isBeingDeleted,
  type KubernetesObject,
  keyOf,
  mostUrgent,
  parseTime,
  type ReconcileResult,
  toReconcileResult,
  toRegarding,
  type WriteTarget,
} from '@vmdhcp/kube-runtime';

import { isOwnedByVirtualMachine } from '../network-config/missing-virtual-machine.js';
import { condenseProblems } from '../virtual-machine/condense-problems.js';
import { needsNewestMachine } from '../virtual-machine/needs-newest-machine.js';
import { planAddressAnnotations } from '../virtual-machine/plan-address-annotations.js';
import { type NetworkConfigAction, type NetworkConfigPlan, planNetworkConfig } from '../virtual-machine/plan-network-config.js';
import type { VirtualMachineProblem, VirtualMachineProblemReason } from '../virtual-machine/virtual-machine-problem.js';
import type { ControllerContext } from './controller-context.js';

/** The recheck of an object that is being deleted, in case the event of its end gets lost. */
const DELETION_CHECK_MS = 2_000;

/** The API server has a newer version than the caches: its event will come, and until then the API server is asked less and less often. */
const LATE_NEWS = { firstMs: 2_000, mostMs: 30_000 };

/** The watch of VirtualMachineInstances may be late; an instance that is not seen after this time is reported. */
const UNSEEN_PATIENCE_MS = 60_000;

const UNSEEN: VirtualMachineProblemReason = 'virtual-machine-instance-unseen';

interface PlannedMachine {
  readonly virtualMachine: KubernetesObject;
  readonly observed: KubernetesObject | undefined;
  readonly nowMs: number;
}

/** Reconciles one VirtualMachine: ensures a VirtualMachineNetworkConfig that specifies which of its interfaces get addresses. */
export class VirtualMachineReconciler {
  readonly #context: ControllerContext;
  /** By key: since when an unseen instance has delayed a change. */
  readonly #unseenSince = new Map<string, number>();
  /** By key: how often the API server was asked while events were late. */
  readonly #lateReads = new Map<string, number>();

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  readonly reconcile = async (key: string): Promise<ReconcileResult> => {
    const result = await this.#reconcile(key);
    if (result !== 'news-are-late') {
      this.#lateReads.delete(key);
      return result;
    }
    const reads = (this.#lateReads.get(key) ?? 0) + 1;
    this.#lateReads.set(key, reads);
    return { kind: 'recheck', afterMs: backOffMs(reads, { ...LATE_NEWS, random: this.#context.random }) };
  };

  /** Plans and applies what one VirtualMachine needs. */
  async #reconcile(key: string): Promise<ReconcileResult | 'news-are-late'> {
    const { caches, view } = this.#context;
    const virtualMachine = caches.virtualMachines.get(key);
    if (virtualMachine === undefined) {
      this.#unseenSince.delete(key);
      return this.#deleteLeftConfig(key);
    }
    const observed = caches.networkConfigs.get(key);
    const nowMs = parseTime(this.#context.now());
    const plan = planNetworkConfig(virtualMachine, observed, { ...view.knowledgeOf(virtualMachine), nowMs });
    const patienceMs = this.#patienceWith(key, plan.problems);
    this.#report(virtualMachine, plan, patienceMs);
    const [action] = plan.actions;
    if (action !== undefined) {
      const isCertain =
        !needsNewestMachine(action, observed) || (await this.#isPlannedByNewest({ virtualMachine, observed, nowMs }, plan));
      if (!isCertain) return 'news-are-late';
      const result = await this.#apply({ key, resourceVersion: observed?.metadata.resourceVersion }, action);
      if (result.kind === 'terminal') this.#tellRefusal(virtualMachine, result.reason);
      if (result.kind !== 'settled') return result;
    }
    return mostUrgent(recheckOf(plan, patienceMs), await this.#annotate(virtualMachine));
  }

  /** Guarded by the version, because what somebody else writes at this moment must stay. */
  async #annotate(virtualMachine: KubernetesObject): Promise<ReconcileResult> {
    const { annotatesMachines, caches, clients } = this.#context;
    if (!annotatesMachines || isBeingDeleted(virtualMachine)) return { kind: 'settled' };
    const key = keyOf(virtualMachine);
    const patch = planAddressAnnotations(virtualMachine, caches.networkConfigs.get(key));
    if (patch === undefined) return { kind: 'settled' };
    const { resourceVersion } = virtualMachine.metadata;
    const result = await clients.virtualMachines.patch({ key, resourceVersion }, patch);
    if (result.ok) caches.virtualMachines.wrote(result.object);
    return !result.ok && result.reason === 'not-found' ? { kind: 'settled' } : toReconcileResult(result);
  }

  /**
   * Deletes the config of a deleted virtual machine, so that its addresses are free at once: the garbage collector of a busy cluster needs minutes
   * for a thousand. A config without an owner was orphaned by a person, and stays.
   */
  async #deleteLeftConfig(key: string): Promise<ReconcileResult | 'news-are-late'> {
    const { caches, clients, view } = this.#context;
    const config = caches.networkConfigs.get(key);
    if (config === undefined || isBeingDeleted(config) || !isOwnedByVirtualMachine(config)) return { kind: 'settled' };
    // An instance that outlives its virtual machine keeps its address. Its end triggers this reconciler again.
    if (!view.isMachineGone(key)) return { kind: 'settled' };
    // Do not trust the cache here: a deletion cannot be undone.
    if ((await clients.virtualMachines.get(key)) !== undefined) return 'news-are-late';
    const { uid = '', resourceVersion } = config.metadata;
    // Guarded by the version, because a person may orphan it at this moment.
    const result = await clients.networkConfigs.delete(key, uid, resourceVersion);
    return !result.ok && result.reason === 'not-found' ? { kind: 'settled' } : toReconcileResult(result);
  }

  /**
   * Reads the virtual machine from the API server before an address is freed because of it. True if the plan stays the same.
   *
   * Events of other kinds may arrive before its own. A person may have orphaned the config and deleted the virtual machine: with that owner again,
   * the garbage collector would delete the config. Or an instance has ended that had interfaces which the virtual machine has not had before, and the
   * next one starts.
   */
  async #isPlannedByNewest(
    { virtualMachine, observed, nowMs }: PlannedMachine,
    { actions }: NetworkConfigPlan,
  ): Promise<boolean> {
    const { clients, readInstance, view } = this.#context;
    const key = keyOf(virtualMachine);
    const [stored, instance] = await Promise.all([clients.virtualMachines.get(key), readInstance(key)]);
    if (stored === undefined || stored.metadata.uid !== virtualMachine.metadata.uid) return false;
    const newest = planNetworkConfig(stored, observed, { ...view.knowledgeOf(stored, { object: instance }), nowMs });
    return JSON.stringify(newest.actions) === JSON.stringify(actions);
  }

  /** How long until an unseen instance is reported; 0 if it is, or there is none. */
  #patienceWith(key: string, problems: readonly VirtualMachineProblem[]): number {
    if (!problems.some(({ reason }) => reason === UNSEEN)) {
      this.#unseenSince.delete(key);
      return 0;
    }
    const nowMs = this.#context.clock.nowMs();
    const since = this.#unseenSince.get(key) ?? nowMs;
    this.#unseenSince.set(key, since);
    return Math.max(since + UNSEEN_PATIENCE_MS - nowMs, 0);
  }

  #report(virtualMachine: KubernetesObject, { problems, awaits }: NetworkConfigPlan, patienceMs: number): void {
    const { events } = this.#context;
    const reported = problems.filter(({ reason }) => reason !== UNSEEN || patienceMs === 0);
    for (const { reason, message } of condenseProblems(reported)) {
      events.record(toRegarding(virtualMachine), { type: 'Warning', reason: reasonOf(reason), message });
    }
    if (awaits !== undefined) {
      events.record(toRegarding(virtualMachine), { type: 'Normal', reason: 'AwaitingMacAddress', message: awaits });
    }
  }

  /** @param target - the config for which the action was planned; if it has changed since, plan again. */
  async #apply(target: WriteTarget, action: NetworkConfigAction): Promise<ReconcileResult> {
    const { clients, caches } = this.#context;
    const { networkConfigs: client } = clients;
    if (action.kind === 'delete') {
      this.#context.view.giveUpConfig(target.key, action.uid);
      const result = await client.delete(target.key, action.uid, target.resourceVersion);
      if (!result.ok) this.#context.view.giveUpConfig(target.key, undefined);
      return !result.ok && result.reason === 'not-found' ? { kind: 'settled' } : toReconcileResult(result);
    }
    const result = await (action.kind === 'create' ? client.create(action.object) : client.patch(target, action.patch));
    if (result.ok) caches.networkConfigs.wrote(result.object);
    return toReconcileResult(result);
  }

  #tellRefusal(virtualMachine: KubernetesObject, message: string): void {
    this.#context.events.record(toRegarding(virtualMachine), {
      type: 'Warning',
      reason: 'NetworkConfigRefused',
      message: `its VirtualMachineNetworkConfig was refused: ${message}`,
    });
  }
}

function recheckOf({ waits, recheckMs }: NetworkConfigPlan, patienceMs: number): ReconcileResult {
  if (waits) return { kind: 'recheck', afterMs: DELETION_CHECK_MS };
  const times = [patienceMs, recheckMs ?? 0].filter((time) => time > 0);
  return times.length > 0 ? { kind: 'recheck', afterMs: Math.min(...times) } : { kind: 'settled' };
}
