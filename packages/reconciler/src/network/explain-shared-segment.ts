import type { Explanation } from '../explanation.js';

/** The neighbours of a pool on its segment. */
export interface SharedSegment {
  /** The result of `describeSegment`. */
  readonly segment: string;
  /** The key of the oldest other pool of the same namespace; undefined if all are in other namespaces. */
  readonly sibling: string | undefined;
}

/** Contains neither pools of other namespaces nor a number of pools, because other tenants could cause constant rewrites. */
export function explainSharedSegment(network: string, { segment, sibling }: SharedSegment): Explanation {
  const begin = `network ${network} is the same segment (${segment}) as the network of`;
  const danger = 'and the CIDRs overlap, so two virtual machines could get one address';
  if (sibling === undefined) {
    const remedy =
      'delete this IPPool and create it again with a CIDR that does not overlap, or ask an administrator of the cluster for the other one: its NetworkAttachmentDefinition leads to this segment';
    return { message: `${begin} an IPPool of another namespace, ${danger}`, remedy };
  }
  const remedy = 'delete all but one of these IPPools, or make them again with CIDRs that do not overlap';
  return { message: `${begin} IPPool ${sibling}, ${danger}`, remedy };
}
