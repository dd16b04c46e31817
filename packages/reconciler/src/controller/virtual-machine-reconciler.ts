import { reasonOf } from '@vmdhcp/ippool-api';
import {
  backOffMs,
  isBeingDeleted,
  type KubernetesObject,
  keyOf,
  type ReconcileResult,
  toReconcileResult,
  toRegarding,
  type WriteTarget,
} from '@vmdhcp/kube-runtime';

import { isOwnedByVirtualMachine } from '../network-config/missing-virtual-machine.js';
import { condenseProblems } from '../virtual-machine/condense-problems.js';
import { needsNewestMachine } from '../virtual-machine/needs-newest-machine.js';
import { type NetworkConfigAction, type NetworkConfigPlan, planNetworkConfig } from '../virtual-machine/plan-network-config.js';
import type { VirtualMachineProblem, VirtualMachineProblemReason } from '../virtual-machine/wanted-interfaces.js';
import type { ControllerContext } from './controller-context.js';

/** What is being deleted goes soon; its end is news, this is in case that gets lost. */
const DELETION_CHECK_MS = 2_000;

/** The API server has something newer than the caches: the news come by themselves, and until then it is asked less and less often. */
const LATE_NEWS = { firstMs: 2_000, mostMs: 30_000 };

/** The watch of VirtualMachineInstances may be late; an instance that is not seen for longer than this is reported. */
const UNSEEN_PATIENCE_MS = 60_000;

const UNSEEN: VirtualMachineProblemReason = 'virtual-machine-instance-unseen';

/** Reconciles one VirtualMachine: there is a VirtualMachineNetworkConfig that specifies which of its interfaces get addresses. */
export class VirtualMachineReconciler {
  readonly #context: ControllerContext;
  /** By key: since when an instance that is not seen has delayed a change. */
  readonly #unseenSince = new Map<string, number>();
  /** By key: how often the API server was asked while the news were late. */
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
    const plan = planNetworkConfig(virtualMachine, observed, view.knowledgeOf(virtualMachine));
    const patienceMs = this.#patienceWith(key, plan.problems);
    this.#report(virtualMachine, plan, patienceMs);
    const [action] = plan.actions;
    if (action !== undefined) {
      const isCertain = !needsNewestMachine(action, observed) || (await this.#isPlannedByNewest(virtualMachine, observed, plan));
      if (!isCertain) return 'news-are-late';
      const result = await this.#apply({ key, resourceVersion: observed?.metadata.resourceVersion }, action);
      if (result.kind === 'terminal') this.#tellRefusal(virtualMachine, result.reason);
      if (result.kind !== 'settled') return result;
    }
    if (plan.waits) return { kind: 'recheck', afterMs: DELETION_CHECK_MS };
    return patienceMs > 0 ? { kind: 'recheck', afterMs: patienceMs } : { kind: 'settled' };
  }

  /**
   * Deletes the config that a virtual machine leaves, so that its addresses are free at once: the garbage collector of a busy cluster needs
   * minutes for a thousand. One without an owner was orphaned by a person, and stays.
   */
  async #deleteLeftConfig(key: string): Promise<ReconcileResult | 'news-are-late'> {
    const { caches, clients, view } = this.#context;
    const config = caches.networkConfigs.get(key);
    if (config === undefined || isBeingDeleted(config) || !isOwnedByVirtualMachine(config)) return { kind: 'settled' };
    // An instance that runs on without its virtual machine keeps its address. The news of its end come here.
    if (!view.isMachineGone(key)) return { kind: 'settled' };
    // The cache is not believed in this: what is deleted is lost.
    if ((await clients.virtualMachines.get(key)) !== undefined) return 'news-are-late';
    const { uid = '', resourceVersion } = config.metadata;
    // The version: a person may have orphaned it in this moment.
    const result = await clients.networkConfigs.delete(key, uid, resourceVersion);
    return !result.ok && result.reason === 'not-found' ? { kind: 'settled' } : toReconcileResult(result);
  }

  /**
   * Asks the API server for the virtual machine before an address may be freed because of it: true if the plan is the same by that.
   *
   * News of other kinds may arrive before its own. A person may have orphaned the config and deleted the virtual machine: with that owner again,
   * the garbage collector would delete the config. Or an instance has ended that had interfaces which the virtual machine has not had before, and the next one starts.
   */
  async #isPlannedByNewest(
    virtualMachine: KubernetesObject,
    observed: KubernetesObject | undefined,
    { actions }: NetworkConfigPlan,
  ): Promise<boolean> {
    const { clients, readInstance, view } = this.#context;
    const key = keyOf(virtualMachine);
    const [stored, instance] = await Promise.all([clients.virtualMachines.get(key), readInstance(key)]);
    if (stored === undefined || stored.metadata.uid !== virtualMachine.metadata.uid) return false;
    const newest = planNetworkConfig(stored, observed, view.knowledgeOf(stored, { object: instance }));
    return JSON.stringify(newest.actions) === JSON.stringify(actions);
  }

  /** How long an unseen instance is not reported yet; 0: it is, or there is none. */
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

  /** @param target - the config as the action was planned for it: what has changed since is planned again. */
  async #apply(target: WriteTarget, action: NetworkConfigAction): Promise<ReconcileResult> {
    const { clients, caches } = this.#context;
    const { networkConfigs: client } = clients;
    if (action.kind === 'delete') {
      const result = await client.delete(target.key, action.uid, target.resourceVersion);
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
