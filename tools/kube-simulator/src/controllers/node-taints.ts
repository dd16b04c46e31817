import { tolerates } from './node-fit.js';
import type { Condition, Node, Pod, Taint } from './workload-kinds.js';

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';

const readiness = (node: Node): Condition | undefined => node.status?.conditions?.find(({ type }) => type === 'Ready');

/** The taints that the Node should have: its own taints, and the taints for its readiness. The same list object if nothing changes. */
export const taintsFor = (node: Node, taints: readonly Taint[]): readonly Taint[] => {
  const ready = readiness(node);
  // A Node without a report yet keeps what it was created with.
  if (ready === undefined) return taints;
  const key = ready.status === 'True' ? undefined : ready.status === 'False' ? notReady : unreachable;
  const others = taints.filter((taint) => taint.key !== notReady && taint.key !== unreachable);
  if (key === undefined) return others.length === taints.length ? taints : others;
  const own = taints.filter((taint) => taint.key === key);
  if (own.length === 2 && own.length + others.length === taints.length) return taints;
  return [...others, { key, effect: 'NoSchedule' }, { key, effect: 'NoExecute' }];
};

/** How long the Pod stays on the Node, in seconds: 0 is not at all, undefined is forever. */
export const patienceOf = (pod: Pod, node: Node): number | undefined => {
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
  const limits = taints.flatMap((taint) => {
    const using = (pod.spec.tolerations ?? []).filter((toleration) => tolerates([toleration], taint));
    if (using.length === 0) return [0];
    return using.flatMap(({ tolerationSeconds }) => tolerationSeconds ?? []);
  });
  return limits.length === 0 ? undefined : Math.max(0, Math.min(...limits));
};
