import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { clusterAgentOf } from '../check/host-endpoint-problems.js';
import { parseHostStatusName } from '../host/host-name.js';
import { isEndpointReference, owningEndpoint } from '../host/read-host.js';
import { readNonEmptyText } from '../object/read-field.js';
import type { InventoryFacts } from './inventory-plan.js';

/** Whose a HostStatus is. */
export type Claim =
  /** Of this ClusterAgent. */
  | 'own'
  /** Completed where a host of this ClusterAgent needs its name, and left as it is otherwise: the object contradicts itself, or has too little in it. */
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
 * Whose an object is. Its owner counts first, where the HostEndpoint exists, and its name next, which no person can change. `status.clusterAgent` may be
 * forged or missing: it counts where the name has no ClusterAgent in it, and for an object whose HostEndpoint is gone.
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

/** The objects that are those of the ClusterAgent beyond doubt: the plan corrects or deletes each of them that differs from its sources. */
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

/** The ClusterAgent of each HostEndpoint, by its uid. @param names - of all ClusterAgents. */
export function agentsByEndpoint(
  endpoints: readonly KubernetesObject[],
  names: readonly string[],
): ReadonlyMap<string, string | undefined> {
  return new Map(
    endpoints.flatMap((one) => (one.metadata.uid === undefined ? [] : [[one.metadata.uid, clusterAgentOf(one, names)] as const])),
  );
}
