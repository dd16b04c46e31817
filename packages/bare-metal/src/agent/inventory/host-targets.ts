/**
 * Decides which hosts are polled and operated, and at which address. HostStatus objects can be created and edited by people who
 * may not read the Secret of a host, so these objects alone never decide where credentials are sent. Only objects count that the
 * plan corrects, once it has nothing to correct in them: then the object of a HostEndpoint matches the HostEndpoint. The address
 * of a learned host comes from the name of its object, if a client has a lease of it now, and its connection from the
 * ClusterAgent. Addresses outside the networks of the ClusterAgent never count.
 */

import { type KubernetesObject, parseTime, readText } from '@vmdhcp/kube-runtime';
import type { ClusterAgentSettings } from '../../host/cluster-agent-settings.js';
import { parseHostStatusName } from '../../host/host-name.js';
import { isHostAddress } from '../../host/host-network.js';
import { readHost } from '../../host/read-host.js';
import type { HostStatusAction, InventoryFacts } from '../../inventory/inventory-plan.js';
import { ownHostStatuses } from '../../inventory/own-objects.js';
import type { HostTarget } from '../ports.js';

/** A host that is polled. */
export interface FollowedHost extends Omit<HostTarget, 'secret'> {
  /** The name of its object. */
  readonly uid: string | undefined;
  readonly isHealthy: boolean;
  /** When its status was last written, in milliseconds since 1970; NaN if not known. */
  readonly updatedAtMs: number;
}

/** The hosts of a ClusterAgent by the names of their objects, without those whose status is about to be corrected. */
export function hostTargets(facts: InventoryFacts, actions: readonly HostStatusAction[]): ReadonlyMap<string, FollowedHost> {
  const changing = new Set(actions.filter(({ kind }) => kind !== 'patch').map(({ name }) => name));
  const leased = new Set(facts.leases?.map(({ ipAddress }) => ipAddress));
  const targets = ownHostStatuses(facts)
    .filter(({ metadata }) => !changing.has(metadata.name) && metadata.deletionTimestamp === undefined)
    .flatMap((object) => targetOf(object, facts.clusterAgent, leased) ?? []);
  return new Map(targets.map((one) => [one.name, one]));
}

function targetOf(object: KubernetesObject, agent: ClusterAgentSettings, leased: ReadonlySet<string>): FollowedHost | undefined {
  const host = readHost(object);
  const { name, uid } = object.metadata;
  if (host.clusterAgent !== agent.name) return undefined;
  const { isHealthy } = host;
  const health = { uid, isHealthy, updatedAtMs: parseTime(readText(object.status, 'lastUpdateTime')) };
  const [address = '', connection] =
    host.mode === 'hostEndpoint' ? [host.address, host.connection] : [leasedAddress(name, agent, leased), agent.connection];
  return isHostAddress(agent, address) ? { name, ...health, address, connection } : undefined;
}

/** The address of a learned host, if a client has a lease of it. */
function leasedAddress(name: string, agent: ClusterAgentSettings, leased: ReadonlySet<string>): string | undefined {
  const named = parseHostStatusName(name);
  return named?.clusterAgent === agent.name && leased.has(named.address) ? named.address : undefined;
}
