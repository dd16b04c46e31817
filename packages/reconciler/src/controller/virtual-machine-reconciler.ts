import { reasonOf } from '@vmdhcp/ippool-api';
import {
  isBeingDeleted,
  type KubernetesObject,
  keyOf,
  type ReconcileResult,
  readField,
  toReconcileResult,
  toRegarding,
} from '@vmdhcp/kube-runtime';

import { isOwnedByVirtualMachine } from '../network-config/missing-virtual-machine.js';
import { condenseProblems } from '../virtual-machine/condense-problems.js';
import { type NetworkConfigAction, type NetworkConfigPlan, planNetworkConfig } from '../virtual-machine/plan-network-config.js';
import type { VirtualMachineProblem, VirtualMachineProblemReason } from '../virtual-machine/wanted-interfaces.js';
import type { ControllerContext } from './controller-context.js';

/** What is being deleted goes soon; its end is news, this is in case that gets lost. */
const DELETION_CHECK_MS = 2_000;

/** The watch of VirtualMachineInstances may be late; an instance that is not seen for longer than this is reported. */
const UNSEEN_PATIENCE_MS = 60_000;

const UNSEEN: VirtualMachineProblemReason = 'virtual-machine-instance-unseen';

/** Reconciles one VirtualMachine: there is a VirtualMachineNetworkConfig that specifies which of its interfaces get addresses. */
export class VirtualMachineReconciler {
  readonly #context: ControllerContext;
  /** By key: since when an instance that is not seen has delayed a change. */
  readonly #unseenSince = new Map<string, number>();

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  readonly reconcile = async (key: string): Promise<ReconcileResult> => {
    const { caches, view } = this.#context;
    const virtualMachine = caches.virtualMachines.get(key);
    if (virtualMachine === undefined) {
      this.#unseenSince.delete(key);
      return this.#deleteLeftConfig(key);
    }
    const plan = planNetworkConfig(virtualMachine, caches.networkConfigs.get(key), view.knowledgeOf(virtualMachine));
    const patienceMs = this.#patienceWith(key, plan.problems);
    this.#report(virtualMachine, plan, patienceMs);
    for (const action of plan.actions) {
      if (isAdoption(action) && !(await this.#mayAdopt(virtualMachine))) return { kind: 'recheck', afterMs: DELETION_CHECK_MS };
      const result = await this.#apply(key, action);
      if (result.kind === 'terminal') this.#tellRefusal(virtualMachine, result.reason);
      if (result.kind !== 'settled') return result;
    }
    if (plan.waits) return { kind: 'recheck', afterMs: DELETION_CHECK_MS };
    return patienceMs > 0 ? { kind: 'recheck', afterMs: patienceMs } : { kind: 'settled' };
  };

  /**
   * Deletes the config that a virtual machine leaves, so that its addresses are free at once: the garbage collector of a busy cluster needs
   * minutes for a thousand. One without an owner was orphaned by a person, and stays.
   */
  async #deleteLeftConfig(key: string): Promise<ReconcileResult> {
    const { caches, clients, view } = this.#context;
    const config = caches.networkConfigs.get(key);
    if (config === undefined || isBeingDeleted(config) || !isOwnedByVirtualMachine(config)) return { kind: 'settled' };
    // An instance that runs on without its virtual machine keeps its address. The news of its end come here.
    if (!view.isMachineGone(key)) return { kind: 'settled' };
    // The cache is not believed in this: what is deleted is lost.
    if ((await clients.virtualMachines.get(key)) !== undefined) return { kind: 'recheck', afterMs: DELETION_CHECK_MS };
    const { uid = '', resourceVersion } = config.metadata;
    // The version: a person may have orphaned it in this moment.
    const result = await clients.networkConfigs.delete(key, uid, resourceVersion);
    return !result.ok && result.reason === 'not-found' ? { kind: 'settled' } : toReconcileResult(result);
  }

  /**
   * Asks the API server before the virtual machine becomes the owner of a VirtualMachineNetworkConfig that exists. The news that a person
   * orphaned the config may arrive before those of the deletion of its virtual machine; with that owner again, the garbage
   * collector would delete it and free the addresses that the person wanted to keep.
   */
  async #mayAdopt(virtualMachine: KubernetesObject): Promise<boolean> {
    const stored = await this.#context.clients.virtualMachines.get(keyOf(virtualMachine));
    return stored !== undefined && stored.metadata.uid === virtualMachine.metadata.uid && !isBeingDeleted(stored);
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

  async #apply(key: string, action: NetworkConfigAction): Promise<ReconcileResult> {
    const { clients, caches } = this.#context;
    const { networkConfigs: client } = clients;
    // Each action was planned from the object as it is in the cache by now, the answer to the action before included.
    const target = { key, resourceVersion: caches.networkConfigs.get(key)?.metadata.resourceVersion };
    if (action.kind === 'delete') {
      const result = await client.delete(key, action.uid);
      return !result.ok && result.reason === 'not-found' ? { kind: 'settled' } : toReconcileResult(result);
    }
    const result = await this.#write(target, action);
    if (result.ok) caches.networkConfigs.wrote(result.object);
    return toReconcileResult(result);
  }

  #write(
    target: { readonly key: string; readonly resourceVersion: string | undefined },
    action: Exclude<NetworkConfigAction, { kind: 'delete' }>,
  ) {
    const { networkConfigs: client } = this.#context.clients;
    switch (action.kind) {
      case 'create':
        return client.create(action.object);
      case 'update':
        return client.patch(target, action.patch);
    }
  }

  #tellRefusal(virtualMachine: KubernetesObject, message: string): void {
    this.#context.events.record(toRegarding(virtualMachine), {
      type: 'Warning',
      reason: 'NetworkConfigRefused',
      message: `its VirtualMachineNetworkConfig was refused: ${message}`,
    });
  }
}

function isAdoption(action: NetworkConfigAction): boolean {
  return action.kind === 'update' && readField(action.patch, 'metadata', 'ownerReferences') !== undefined;
}
