/** Answers from caches what explains a virtual machine; `kubectl vmdhcp why` asks the API server instead. */
import { type ChainKind, type ChainObservation, type ChainRead, type Observed, UNREAD, walkChain } from '@vmdhcp/explain';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import type { Objects } from './machine-names.js';

/** The caches of the objects on the way to an address; `leases` are those of agents. */
export type ChainCaches = Readonly<Record<ChainKind, Objects>>;

/** @param key - `namespace/name` of the machine. @param poolsByNetwork - of `poolsByNetwork`. */
export function observeMachine(
  caches: ChainCaches,
  key: string,
  { poolsByNetwork, nowMs }: { readonly poolsByNetwork: ReadonlyMap<string, KubernetesObject>; readonly nowMs: number },
): ChainObservation {
  const [namespace = '', name = ''] = key.split('/', 2);
  const answer = (read: ChainRead): Observed =>
    read.kind === 'pool-naming'
      ? observed(caches.ipPools, poolsByNetwork.get(read.network))
      : observed(caches[read.kind], caches[read.kind].get(read.key));
  const walk = walkChain({ namespace, name }, { nowMs: () => nowMs });
  let step = walk.next();
  while (!step.done) step = walk.next(step.value.map(answer));
  return step.value;
}

/** A kind that is not listed yet, or cannot be listed, is unknown. */
function observed({ synced }: Objects, object: KubernetesObject | undefined): Observed {
  if (object !== undefined) return { kind: 'found', object };
  return synced ? { kind: 'missing' } : UNREAD;
}
