import { type ReconcileResult, toReconcileResult } from '@vmdhcp/kube-runtime';
import { planNetworkLabels } from '../network/plan-network-labels.js';
import type { ControllerContext } from './controller-context.js';

/** Reconciles one NetworkAttachmentDefinition: its labels name the IPPool that serves it, and are removed once there is none. */
export class NetworkReconciler {
  readonly #context: ControllerContext;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  readonly reconcile = async (key: string): Promise<ReconcileResult> => {
    const { caches, clients, view } = this.#context;
    const network = caches.networks.get(key);
    if (network === undefined) return { kind: 'settled' };
    const patch = planNetworkLabels(network, view.servingPool(key)?.object);
    if (patch === undefined) return { kind: 'settled' };
    const result = await clients.networks.patch({ key, resourceVersion: network.metadata.resourceVersion }, patch);
    if (result.ok) caches.networks.wrote(result.object);
    return toReconcileResult(result);
  };
}
