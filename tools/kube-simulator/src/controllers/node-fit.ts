/** Which Nodes may run a Pod. */
import { selectorMatches } from '../label-selector.js';
import type {
  Affinity,
  Node,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  Pod,
  PodAffinityTerm,
  PodSpec,
  StringMap,
  Taint,
  Toleration,
} from './workload-kinds.js';

/** Why a Node does not take a Pod, in the words of the scheduler. */
export type Misfit =
  | "node(s) didn't match Pod's node affinity/selector"
  | "node(s) didn't match pod anti-affinity rules"
  | `node(s) had untolerated taint(s)`
  | 'node(s) were unschedulable'
  | `Insufficient ${string}`;

/** Whether the Pod's `nodeSelector` and required node affinity name the Node. */
export const matchesNodeSelection = (spec: Pick<PodSpec, 'nodeSelector' | 'affinity'>, node: Node): boolean => {
  const labels = node.metadata.labels ?? {};
  const terms = requiredTerms(spec);
  const selected = Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  return selected && (terms === undefined || terms.some((term) => termMatches(term, labels, node.metadata.name ?? '')));
};

/** The alternatives of the required node affinity; undefined if any Node will do. */
export const requiredTerms = ({ affinity }: Pick<PodSpec, 'affinity'>): readonly NodeSelectorTerm[] | undefined =>
  affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;

const termMatches = ({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, labels: StringMap, name: string): boolean =>
  // A term without requirements matches nothing.
  matchExpressions.length + matchFields.length > 0 &&
  matchExpressions.every((requirement) => requirementMet(requirement, labels[requirement.key])) &&
  matchFields.every((requirement) => requirement.key === 'metadata.name' && requirementMet(requirement, name));

const requirementMet = ({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean => {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return Number(value) > Number(values[0]);
    case 'Lt':
      return Number(value) < Number(values[0]);
    default:
      return false;
  }
};

/** Whether one of the tolerations matches the taint. */
export const tolerates = (tolerations: readonly Toleration[] | undefined, taint: Taint): boolean =>
  (tolerations ?? []).some((toleration) => isTolerated(taint, toleration));

const isTolerated = (taint: Taint, { key, operator, value = '', effect }: Toleration): boolean => {
  if (effect && effect !== taint.effect) return false;
  if (!key) return operator === 'Exists';
  return key === taint.key && (operator === 'Exists' || value === (taint.value ?? ''));
};

/** Whether new Pods with these tolerations may run on the Node. */
export const tolerated = (tolerations: readonly Toleration[] | undefined, node: Node): boolean =>
  (node.spec?.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule').every((taint) => tolerates(tolerations, taint));

export const unschedulableTaint: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

export interface Placement {
  readonly nodes: readonly Node[];
  /** Pods that have a Node and are not finished. */
  readonly pods: readonly Pod[];
}

/** Why the Node does not take the Pod; undefined if it does. */
export const findMisfit = (pod: Pod, node: Node, placement: Placement): Misfit | undefined => {
  if (node.spec?.unschedulable === true && !tolerates(pod.spec.tolerations, unschedulableTaint))
    return 'node(s) were unschedulable';
  if (!matchesNodeSelection(pod.spec, node)) return "node(s) didn't match Pod's node affinity/selector";
  if (!tolerated(pod.spec.tolerations, node)) return 'node(s) had untolerated taint(s)';
  const scarce = scarceResource(pod, node, placement);
  if (scarce !== undefined) return `Insufficient ${scarce}`;
  return repelled(pod, node, placement) ? "node(s) didn't match pod anti-affinity rules" : undefined;
};

/** An extended resource that the Node has too little of. Processor and memory are not counted. */
const scarceResource = (pod: Pod, node: Node, { pods }: Placement): string | undefined => {
  const there = pods.filter(({ spec }) => spec.nodeName === node.metadata.name);
  return [...extendedRequests(pod)]
    .filter(([name, wanted]) => {
      const used = there.reduce((sum, other) => sum + (extendedRequests(other).get(name) ?? 0), 0);
      return used + wanted > toCount(node.status?.allocatable?.[name]);
    })
    .map(([name]) => name)[0];
};

const extendedRequests = ({ spec }: Pod): ReadonlyMap<string, number> => {
  const requests = spec.containers.flatMap(({ resources }) => Object.entries(resources?.requests ?? {}));
  const sums = new Map<string, number>();
  for (const [name, count] of requests) if (name.includes('/')) sums.set(name, (sums.get(name) ?? 0) + toCount(count));
  return sums;
};

/** Extended resources are whole numbers, which bridge-marker writes as `1k`. */
const toCount = (quantity: string | undefined): number => {
  const [, digits = '0', thousand] = /^(\d+)(k?)$/.exec(quantity ?? '0') ?? [];
  return Number(digits) * (thousand === 'k' ? 1_000 : 1);
};

/** Anti-affinity works both ways: the Pod's own rules, and those of the Pods that are there. */
const repelled = (pod: Pod, node: Node, placement: Placement): boolean =>
  antiAffinityOf(pod.spec.affinity).some((term) => podsNear(term, node, placement).some((other) => selects(term, pod, other))) ||
  placement.pods.some((other) =>
    antiAffinityOf(other.spec.affinity).some(
      (term) => podsNear(term, node, placement).includes(other) && selects(term, other, pod),
    ),
  );

const antiAffinityOf = (affinity: Affinity | undefined): readonly PodAffinityTerm[] =>
  affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];

const podsNear = ({ topologyKey }: PodAffinityTerm, node: Node, { nodes, pods }: Placement): readonly Pod[] => {
  const place = node.metadata.labels?.[topologyKey];
  if (place === undefined) return [];
  const isThere = ({ metadata }: Node) => metadata.labels?.[topologyKey] === place;
  const near = new Set(nodes.filter(isThere).map(({ metadata }) => metadata.name ?? ''));
  return pods.filter(({ spec }) => near.has(spec.nodeName ?? ''));
};

const selects = (term: PodAffinityTerm, owner: Pod, other: Pod): boolean => {
  const namespaces = term.namespaces?.length ? term.namespaces : [owner.metadata.namespace ?? ''];
  return (
    term.labelSelector !== undefined &&
    namespaces.includes(other.metadata.namespace ?? '') &&
    selectorMatches(term.labelSelector, other.metadata.labels ?? {})
  );
};
