import type { Explanation } from '../explanation.js';

/** What a pool shares its segment with. */
export interface SharedSegment {
  /** As `describeSegment` returns it. */
  readonly segment: string;
  /** The key of the oldest other pool of the same namespace; undefined: the other pools are of other namespaces. */
  readonly sibling: string | undefined;
}

/** Names no pool of another namespace, and no number of pools: other tenants could have it written again and again. */
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
