/**
 * Plans the objects of the hosts of one ClusterAgent: compares what leases and HostEndpoints specify with what exists. No event
 * is replayed, so none can be lost: an agent that starts, one that lost a write and one that saw everything make the same plan.
 */
import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';
import { compareText, type KubernetesObject } from '@vmdhcp/kube-runtime';
import { mergeHealth } from '../health/merge-health.js';
import { parseHostStatusName } from '../host/host-name.js';
import { isHostAddress } from '../host/host-network.js';
import { owningEndpoint, readHost } from '../host/read-host.js';
import type { HostEvent } from '../object/host-event.js';
import { readFields } from '../object/read-field.js';
import { metadataDifference, statusDifference } from './host-difference.js';
import { eventOfNew, eventsOfChange } from './host-events.js';
import type { HostStatusAction, InventoryFacts, InventoryPlan } from './inventory-plan.js';
import { agentsByEndpoint, claimOf } from './own-objects.js';
import { wantedEndpoints } from './wanted-endpoints.js';
import { newObject, newStatus, type WantedHost } from './wanted-host.js';
import { absentHost, leasedHost, type ReadLeases, readLeases } from './wanted-leases.js';

/** At most this many hosts have an object before they have renewed their leases: otherwise made-up clients would fill the API. */
const MOST_NEW_HOSTS = 500;

/**
 * The writes that bring the HostStatus objects of a ClusterAgent in line with its leases and HostEndpoints. Empty if they already
 * are. Objects of others are never in the plan. Never throws, whatever is stored.
 */
export function planHostInventory(facts: InventoryFacts): InventoryPlan {
  const { clusterAgent, hostStatuses, nowMs } = facts;
  const { hosts: ofEndpoints, problems } = wantedEndpoints(facts);
  const clusterAgents = agentsByEndpoint(facts.endpoints, facts.clusterAgents);
  const leases = followedLeases(facts);
  const endpointAddresses = new Set(ofEndpoints.map(({ address }) => address));
  const learned = [...(leases?.clients ?? [])]
    .filter(([address]) => !endpointAddresses.has(address))
    .map(([address, macAddress]) => leasedHost(clusterAgent, address, macAddress));

  const claims = new Map(hostStatuses.map((one) => [one, claimOf(one, { name: clusterAgent.name, clusterAgents })]));
  const matched = matchObjects([...ofEndpoints, ...learned], hostStatuses, claims);
  const surplus = hostStatuses.filter((one) => claims.get(one) === 'own' && !matched.used.has(one));
  const context: SurplusContext = {
    facts,
    clients: leases?.clients,
    leased: facts.leases && new Set(facts.leases.map(({ ipAddress }) => ipAddress)),
    endpointAddresses,
  };
  const actions = [
    ...withoutTooManyNew(matched.pairs, leases?.fresh).flatMap(({ wanted, object }) => [
      ...planHost(wanted, object, nowMs),
      ...(object === undefined || isHostAddress(clusterAgent, wanted.address) ? [] : planUnpolled(object, facts, OUTSIDE)),
    ]),
    ...surplus.flatMap((one) => planSurplus(one, context)),
  ];
  return {
    actions: actions.toSorted((one, other) => compareText(one.name, other.name)),
    problems: [...problems, ...matched.taken.map((wanted) => nameTaken(wanted, facts))],
    ignoredLeases: leases?.ignored ?? [],
  };
}

/** Undefined if not known, or not followed. */
function followedLeases({ clusterAgent, leases }: InventoryFacts): ReadLeases | undefined {
  const follows = clusterAgent.enableDhcpServer && clusterAgent.enableDhcpDiscovery;
  return leases === undefined || !follows ? undefined : readLeases(leases);
}

interface Pair {
  readonly wanted: WantedHost;
  readonly object: KubernetesObject | undefined;
}

/** The others get their objects when their clients have renewed their leases. */
function withoutTooManyNew(pairs: readonly Pair[], fresh: ReadonlySet<string> = new Set()): readonly Pair[] {
  const isFresh = ({ wanted }: Pair) => wanted.isActive === true && fresh.has(wanted.address);
  let left = MOST_NEW_HOSTS - pairs.filter((one) => one.object !== undefined && isFresh(one)).length;
  return pairs.filter((one) => one.object !== undefined || !isFresh(one) || left-- > 0);
}

interface Matched {
  readonly pairs: readonly Pair[];
  readonly used: ReadonlySet<KubernetesObject>;
  /** Hosts whose name is taken by an object of another owner. */
  readonly taken: readonly WantedHost[];
}

/** The object of each host: the one with its name; otherwise one that its HostEndpoint owns, with a name of the predecessor. */
function matchObjects(
  wanted: readonly WantedHost[],
  objects: readonly KubernetesObject[],
  claims: ReadonlyMap<KubernetesObject, string>,
): Matched {
  const byName = new Map(objects.map((one) => [one.metadata.name, one]));
  const names = new Set(wanted.map(({ name }) => name));
  const byOwner = ownedObjects(objects.filter((one) => claims.get(one) === 'own' && !names.has(one.metadata.name)));
  const taken = new Set(wanted.filter(({ name }) => isOther(byName.get(name), claims)));
  const pairs = wanted
    .filter((one) => !taken.has(one))
    .map((one) => {
      const object = byName.get(one.name) ?? byOwner.get(one.owner?.uid ?? '');
      const name = object?.metadata.name ?? one.name;
      return { wanted: name === one.name ? one : { ...one, name }, object };
    });
  return { pairs, used: new Set(pairs.flatMap(({ object }) => object ?? [])), taken: [...taken] };
}

function isOther(object: KubernetesObject | undefined, claims: ReadonlyMap<KubernetesObject, string>): boolean {
  return object !== undefined && claims.get(object) === 'other';
}

/** By the uid of the HostEndpoint that owns them; the first by name. */
function ownedObjects(objects: readonly KubernetesObject[]): ReadonlyMap<string, KubernetesObject> {
  const sorted = objects.toSorted((one, other) => compareText(other.metadata.name, one.metadata.name));
  return new Map(
    sorted.flatMap((one) => {
      const uid = owningEndpoint(one)?.uid;
      return uid === undefined ? [] : [[uid, one] as const];
    }),
  );
}

function planHost(wanted: WantedHost, object: KubernetesObject | undefined, nowMs: number): HostStatusAction[] {
  if (object === undefined) {
    const events = [eventOfNew(wanted)];
    return [{ kind: 'create', name: wanted.name, object: newObject(wanted), status: newStatus(wanted, nowMs), events }];
  }
  if (object.metadata.deletionTimestamp !== undefined) return [];
  const [metadata, status] = [metadataDifference(wanted, object), statusDifference(wanted, object, nowMs)];
  const { name, resourceVersion } = object.metadata;
  return [
    ...(metadata === undefined
      ? []
      : [
          {
            kind: 'patch',
            name,
            resourceVersion: metadata.replacesOwners ? resourceVersion : undefined,
            patch: metadata.patch,
            events: [],
          } as const,
        ]),
    ...(status === undefined
      ? []
      : [{ kind: 'patch-status', name, patch: status.patch, events: eventsOfChange(wanted, object, status.fields) } as const]),
  ];
}

interface SurplusContext {
  readonly facts: InventoryFacts;
  /** Undefined if not known, or not followed. */
  readonly clients: ReadonlyMap<string, MacAddress> | undefined;
  /** Addresses with a lease, even if leases are not followed; undefined if not known. */
  readonly leased: ReadonlySet<string> | undefined;
  readonly endpointAddresses: ReadonlySet<string>;
}

/** Handles an object of ours that no lease or HostEndpoint needs. */
function planSurplus(
  object: KubernetesObject,
  { facts, clients, leased, endpointAddresses }: SurplusContext,
): HostStatusAction[] {
  const host = readHost(object);
  const address = parseHostStatusName(host.name)?.address ?? host.address ?? '';
  if (object.metadata.deletionTimestamp !== undefined) return [];
  if (host.mode === 'hostEndpoint' || endpointAddresses.has(address)) return [deletion(object, [])];
  if (clients === undefined) return isLeaseless(address, facts, leased) ? planUnpolled(object, facts) : [];
  if (isKept(object, facts, address))
    return [...planHost(absentHost(facts.clusterAgent, address), object, facts.nowMs), ...planUnpolled(object, facts)];
  return [deletion(object, [forgotten(address, facts)])];
}

/** True if it is known that no client has a lease of the address. */
function isLeaseless(address: string, { clusterAgent }: InventoryFacts, leased: ReadonlySet<string> | undefined): boolean {
  return !clusterAgent.enableDhcpServer || leased?.has(address) === false;
}

/** The subnet was changed, and a lease of the former one lasts. */
const OUTSIDE = 'its address is outside the networks of the ClusterAgent, so it is not polled';

/** A learned host without a lease is not polled, so it is not healthy. The Event of the lease covers that. */
function planUnpolled(
  object: KubernetesObject,
  { clusterAgent, nowMs }: InventoryFacts,
  message = 'no lease',
): HostStatusAction[] {
  const hostStatus = { ...object, status: { ...readFields(object.status), clusterAgent: clusterAgent.name } };
  const { patch } = mergeHealth({ hostStatus, report: { kind: 'unhealthy', message }, nowMs });
  return patch === undefined ? [] : [{ kind: 'patch-status', name: object.metadata.name, patch, events: [] }];
}

/**
 * A bound address keeps its object. An object without a MAC address was never completed, and has nothing to bind. The same holds
 * for one whose client never renewed its lease, unless a person bound it.
 */
function isKept(object: KubernetesObject, { clusterAgent, mayBeMadeUp }: InventoryFacts, address: string): boolean {
  const { binding, macAddress } = readHost(object);
  if (binding.kind === 'bound') return true;
  return binding.kind !== 'none' && clusterAgent.enableBindDhcpIP && macAddress !== undefined && mayBeMadeUp?.(address) !== true;
}

function deletion(
  { metadata: { name, uid, resourceVersion } }: KubernetesObject,
  events: readonly HostEvent[],
): HostStatusAction {
  return { kind: 'delete', name, uid, resourceVersion, events };
}

function forgotten(address: string, { clusterAgent: { name, uid } }: InventoryFacts): HostEvent {
  const message = `the lease of ${address} ended, and the address is not bound: its HostStatus is deleted`;
  return { regarding: { kind: 'ClusterAgent', name, uid }, event: { type: 'Normal', reason: 'LeaseEnded', message } };
}

function nameTaken({ name, owner }: WantedHost, { clusterAgent }: InventoryFacts): HostEvent {
  const message = `HostStatus ${name} belongs to another owner: delete it, or rename what owns it`;
  const event = { type: 'Warning', reason: 'HostStatusNameTaken', message } as const;
  return owner === undefined
    ? { regarding: { kind: 'ClusterAgent', name: clusterAgent.name, uid: clusterAgent.uid }, event }
    : { regarding: { kind: 'HostEndpoint', name: owner.name, uid: owner.uid }, event };
}
