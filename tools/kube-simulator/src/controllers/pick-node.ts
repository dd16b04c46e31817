import { findMisfit, type Placement } from './node-fit.js';
import type { Pod } from './workload-kinds.js';

export type Choice = { readonly kind: 'node'; readonly name: string } | { readonly kind: 'none'; readonly message: string };

/** The Node with the fewest Pods that can run this one, the first by name among equals; or why there is none. */
export const pickNode = (pod: Pod, placement: Placement): Choice => {
  const misfits = new Map<string, number>();
  const fitting: string[] = [];
  for (const node of placement.nodes) {
    const misfit = findMisfit(pod, node, placement);
    if (misfit === undefined) fitting.push(node.metadata.name ?? '');
    else misfits.set(misfit, (misfits.get(misfit) ?? 0) + 1);
  }
  const load = (name: string) => placement.pods.filter(({ spec }) => spec.nodeName === name).length;
  const [best] = fitting.toSorted((a, b) => load(a) - load(b) || (a < b ? -1 : 1));
  return best === undefined ? { kind: 'none', message: describe(misfits, placement.nodes.length) } : { kind: 'node', name: best };
};

const describe = (misfits: ReadonlyMap<string, number>, total: number): string => {
  if (total === 0) return 'no nodes available to schedule pods';
  const reasons = [...misfits].map(([misfit, count]) => `${count} ${misfit}`).toSorted();
  const preemption = `preemption: 0/${total} nodes are available: ${total} Preemption is not helpful for scheduling.`;
  return `0/${total} nodes are available: ${reasons.join(', ')}. ${preemption}`;
};
