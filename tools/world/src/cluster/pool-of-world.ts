/** The pools of a world, and how agents know the nodes with their networks. */

import type { Random } from '@vmdhcp/kube-runtime/testing';
import type { JsonObject, KubeSimulator } from '@vmdhcp/kube-simulator';

export interface PoolOfWorld {
  readonly name: string;
  /** `namespace/name` of the pool, and of its network. */
  readonly key: string;
  readonly serverIP: string;
  readonly size: number;
  /** The nodes with the bridge of its network; on other nodes the CNI plugin gives pods an empty one. */
  readonly nodes: readonly string[];
  /** True if agents can know these nodes. */
  readonly areNodesKnown: boolean;
  /** The fields of its spec besides its IPv4 addresses. */
  readonly spec: JsonObject;
}

/** How agents know which nodes have a network: by a resource, by labels, or not at all. */
export interface NodeMark {
  readonly resource?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export function poolConfig(index: number, size: number): JsonObject {
  return {
    serverIP: `10.0.${index}.2`,
    cidr: `10.0.${index}.0/24`,
    router: `10.0.${index}.1`,
    pool: { start: `10.0.${index}.10`, end: `10.0.${index}.${9 + size}` },
    leaseTime: 600,
  };
}

/** One of two prefixes of the pool; short leases, so that guests renew them in every story. */
export function ipv6ConfigOf(index: number, random: Random): JsonObject {
  return { cidr: `fd00:0:0:${random(2)}${index}::/64`, leaseTime: 240 + random(240) };
}

const BRIDGES = 'bridge.network.kubevirt.io/';

export function someMark(name: string, random: Random): NodeMark {
  const marks: readonly NodeMark[] = [
    { resource: `${BRIDGES}${name}` },
    { labels: { [`network.example.org/${name}`]: 'true' } },
    {},
  ];
  return marks[random(marks.length)] as NodeMark;
}

/** Marks the nodes, like bridge-marker, or a person with labels. */
export async function markNode({ client }: KubeSimulator, name: string, { resource, labels }: NodeMark): Promise<void> {
  if (labels !== undefined) await client.patch({ resource: 'nodes', name }, { type: 'merge', body: { metadata: { labels } } });
  if (resource === undefined) return;
  const body = { status: { capacity: { [resource]: '1k' }, allocatable: { [resource]: '1k' } } };
  await client.patch({ resource: 'nodes', name, subresource: 'status' }, { type: 'merge', body });
}
