/**
 * Which hosts are polled and operated, and where. A status can be edited by people who may not read the Secret of its host, so it alone never decides where credentials are sent: the address of a learned host is that of the name of
 * its object and its connection that of the ClusterAgent; the object of a HostEndpoint counts once the plan has nothing to correct in it.
 */
import {
  type ClusterAgentSettings,
  clusterAgentOf,
  type HostStatusAction,
  type InventoryFacts,
  parseHostStatusName,
  readHost,
} from '@vmdhcp/host-inventory';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import type { HostTarget } from '../ports.js';

/** A host that is polled. */
export interface FollowedHost extends Omit<HostTarget, 'secret'> {
  /** Of its object. */
  readonly uid: string | undefined;
  readonly isHealthy: boolean;
}

/** The hosts of a ClusterAgent by the names of their objects, without those whose status is about to be corrected. */
export function hostTargets(facts: InventoryFacts, actions: readonly HostStatusAction[]): ReadonlyMap<string, FollowedHost> {
  const { clusterAgent, endpoints, clusterAgents } = facts;
  const changing = new Set(actions.filter(({ kind }) => kind !== 'patch').map(({ name }) => name));
  const own = endpoints.filter((one) => clusterAgentOf(one, clusterAgents) === clusterAgent.name);
  const ownUids = new Set(own.flatMap(({ metadata: { uid } }) => uid ?? []));
  const targets = facts.hostStatuses
    .filter(({ metadata }) => !changing.has(metadata.name) && metadata.deletionTimestamp === undefined)
    .flatMap((object) => targetOf(object, clusterAgent, ownUids) ?? []);
  return new Map(targets.map((one) => [one.name, one]));
}

function targetOf(object: KubernetesObject, agent: ClusterAgentSettings, ownUids: ReadonlySet<string>): FollowedHost | undefined {
  const host = readHost(object);
  const { name, uid, ownerReferences = [] } = object.metadata;
  if (host.clusterAgent !== agent.name) return undefined;
  const { isHealthy } = host;
  if (host.mode === 'hostEndpoint') {
    const isOwned = ownerReferences.some((owner) => ownUids.has(owner.uid));
    if (!isOwned || host.address === undefined) return undefined;
    return { name, uid, isHealthy, address: host.address, connection: host.connection };
  }
  const named = parseHostStatusName(name);
  if (named?.clusterAgent !== agent.name) return undefined;
  return { name, uid, isHealthy, address: named.address, connection: agent.connection };
}
