/** On which nodes the agents of a WolConfig run, judging by labels and taints. */
import type { WolConfigAgent } from '@vmdhcp/ippool-api';

export type Toleration = NonNullable<WolConfigAgent['tolerations']>[number];

export interface AgentPlacement {
  /** Labels of the nodes; empty for all nodes. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly Toleration[];
}

/** Tolerates every taint that keeps pods away. Source: kubevirt-wol, the default of `spec.agent.tolerations`. */
export const DEFAULT_TOLERATIONS: readonly Toleration[] = [
  { operator: 'Exists', effect: 'NoSchedule' },
  { operator: 'Exists', effect: 'NoExecute' },
];

/** True if agents of `one` run on every node on which agents of `other` run. */
export function coversNodes(one: AgentPlacement, other: AgentPlacement): boolean {
  return (
    Object.entries(one.nodeSelector).every(([label, value]) => labelOf(other, label) === value) &&
    other.tolerations.every((toleration) => one.tolerations.some((wider) => coversToleration(wider, toleration)))
  );
}

/** False only if no node can have agents of both: their selectors want different values of one label. */
export function mayShareNodes(one: AgentPlacement, other: AgentPlacement): boolean {
  return Object.entries(one.nodeSelector).every(([label, value]) => {
    const wanted = labelOf(other, label);
    return wanted === undefined || wanted === value;
  });
}

function labelOf({ nodeSelector }: AgentPlacement, label: string): string | undefined {
  return Object.hasOwn(nodeSelector, label) ? nodeSelector[label] : undefined;
}

/** Source: Kubernetes, "Taints and Tolerations": an empty key with Exists matches every key, an empty effect every effect. */
function coversToleration(wider: Toleration, toleration: Toleration): boolean {
  return coversKey(wider, toleration) && coversEffect(wider, toleration) && lasts(wider) >= lasts(toleration);
}

function coversKey(wider: Toleration, toleration: Toleration): boolean {
  const [itsKey, key] = [wider, toleration].map((one) => one.key ?? '');
  if (wider.operator === 'Exists') return itsKey === '' || itsKey === key;
  return itsKey !== '' && itsKey === key && toleration.operator !== 'Exists' && hasSameValue(wider, toleration);
}

function hasSameValue(one: Toleration, other: Toleration): boolean {
  return (one.value ?? '') === (other.value ?? '');
}

function coversEffect(wider: Toleration, { effect = '' }: Toleration): boolean {
  return (wider.effect ?? '') === '' || wider.effect === effect;
}

function lasts({ tolerationSeconds }: Pick<Toleration, 'tolerationSeconds'>): number {
  return tolerationSeconds ?? Number.POSITIVE_INFINITY;
}
