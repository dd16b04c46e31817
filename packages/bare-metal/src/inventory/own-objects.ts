import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { clusterAgentOf } from '../check/host-endpoint-problems.js';
import { parseHostStatusName } from '../host/host-name.js';
import { isEndpointReference, owningEndpoint } from '../host/read-host.js';
import { readNonEmptyText } from '../object/read-field.js';
import type { InventoryFacts } from './inventory-plan.js';

/** Who owns a HostStatus. */
export type Claim =
  /** It belongs to this ClusterAgent. */
  | 'own'
  /**
   * Completed if a host of this ClusterAgent needs its name, and otherwise left unchanged: the object contradicts itself, or
   * contains too little.
   */
  | 'by-name'
  /** Never touched. */
  | 'other';

export interface ClaimFacts {
  /** The name of this ClusterAgent. */
  readonly name: string;
  /** The ClusterAgent of each HostEndpoint, by its uid. */
  readonly clusterAgents: ReadonlyMap<string, string | undefined>;
}

/**
 * Decides who owns an object. Its owner reference counts first, if the HostEndpoint exists, then its name, which no person can
 * change. `status.clusterAgent` may be forged or missing: it counts only if the name contains no ClusterAgent, and for an object
 * whose HostEndpoint is gone.
 */
export function claimOf(object: KubernetesObject, { name, clusterAgents }: ClaimFacts): Claim {
  if (isOfAnotherController(object)) return 'other';
  const uid = owningEndpoint(object)?.uid;
  if (uid !== undefined && clusterAgents.has(uid)) return clusterAgents.get(uid) === name ? 'own' : 'other';
  const named = parseHostStatusName(object.metadata.name)?.clusterAgent;
  if (named !== undefined && named !== name) return 'other';
  return claimByStatus(
    { written: readNonEmptyText(object.status, 'clusterAgent'), isNamed: named === name, isOrphan: uid !== undefined },
    name,
  );
}

/**
 * The objects that certainly belong to the ClusterAgent: the plan corrects or deletes each of them that differs from its sources.
 */
export function ownHostStatuses({
  clusterAgent: { name },
  clusterAgents,
  endpoints,
  hostStatuses,
}: Pick<InventoryFacts, 'clusterAgent' | 'clusterAgents' | 'endpoints' | 'hostStatuses'>): readonly KubernetesObject[] {
  const claims = { name, clusterAgents: agentsByEndpoint(endpoints, clusterAgents) };
  return hostStatuses.filter((one) => claimOf(one, claims) === 'own');
}

interface Evidence {
  /** `status.clusterAgent`. */
  readonly written: string | undefined;
  /** Its name is one of this ClusterAgent. */
  readonly isNamed: boolean;
  /** Its HostEndpoint is gone. */
  readonly isOrphan: boolean;
}

function claimByStatus({ written, isNamed, isOrphan }: Evidence, name: string): Claim {
  if (written === name) return isNamed || isOrphan ? 'own' : 'by-name';
  if (isNamed) return !isOrphan || written === undefined ? 'own' : 'by-name';
  return written === undefined ? 'by-name' : 'other';
}

/** An object has one controller at most. */
function isOfAnotherController({ metadata: { ownerReferences = [] } }: KubernetesObject): boolean {
  return ownerReferences.some((one) => one.controller === true && !isEndpointReference(one));
}

/** The ClusterAgent of each HostEndpoint, by its uid. @param names - the names of all ClusterAgents. */
export function agentsByEndpoint(
  endpoints: readonly KubernetesObject[],
  names: readonly string[],
): ReadonlyMap<string, string | undefined> {
  return new Map(
    endpoints.flatMap((one) => (one.metadata.uid === undefined ? [] : [[one.metadata.uid, clusterAgentOf(one, names)] as const])),
  );
}
