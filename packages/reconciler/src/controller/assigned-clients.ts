/** The clients of a pool according to the recorded plan, with reasons. */
import { type Ipv4Address, type MacAddress, mayBeKept } from '@vmdhcp/dhcp-allocator';
import { isBeingDeleted, type KubernetesObject } from '@vmdhcp/kube-runtime';
import type { PoolPlan } from '../assignment/plan-pools.js';
import type { AssignedClient, AssignmentRecord, BeginReason, EndReason } from '../audit/assignment-record.js';
import type { Observation } from '../audit/audit-book.js';
import type { NetworkClaims } from '../network-config/interface-claims.js';
import type { PoolView } from '../view/pool-views.js';
import { readRememberedInterfaces } from '../virtual-machine/remembered-interfaces.js';
import { virtualMachineNamedBy } from '../virtual-machine/vm-name.js';
import type { AssignmentSources } from './audit-trail.js';

/** The virtual machine that a VirtualMachineNetworkConfig is for. */
interface Machine {
  readonly virtualMachine: string;
  readonly uid: string | undefined;
  /** By network and MAC address. */
  readonly interfaces: ReadonlyMap<string, string>;
}

/** By object, because most of them do not change from one plan to the next. */
const machines = new WeakMap<KubernetesObject, Machine>();

/** What decides who has which address of a pool, in versions that do not change. */
export interface ObservedPlan extends Pick<PoolPlan, 'addressOf' | 'owners'> {
  readonly claims: NetworkClaims;
}

/** The plan as it is observed now. */
export function observedPlan({ view }: AssignmentSources, { network }: PoolView, { addressOf, owners }: PoolPlan): ObservedPlan {
  return { addressOf, owners, claims: view.claimsOn(network) };
}

/** Clients whose address or virtual machine may differ. */
function changedClients(before: ObservedPlan, now: ObservedPlan): Set<MacAddress> {
  const configs = [...before.claims.changedKeys(now.claims)].flatMap((key) => [before.claims.get(key), now.claims.get(key)]);
  return new Set([
    ...before.addressOf.changedKeys(now.addressOf),
    ...before.owners.changedKeys(now.owners),
    ...configs.flatMap((config) => config?.claims.map(({ macAddress }) => macAddress) ?? []),
  ]);
}

/** @param pool - the pool before the plan was recorded. @param before - the last observation; undefined if everything is new. */
export function observationOf(
  sources: AssignmentSources,
  { pool, plan }: { readonly pool: PoolView; readonly plan: PoolPlan },
  before: ObservedPlan | undefined,
): Observation {
  const changed = before && changedClients(before, observedPlan(sources, pool, plan));
  const addresses =
    changed && [...changed].flatMap((one) => [before.addressOf.get(one) ?? [], plan.addressOf.get(one) ?? []].flat());
  return {
    clients: clientsOf(sources, { pool, plan }, changed ?? plan.addressOf.keys()),
    among: addresses && new Set(addresses),
    wasEmpty: pool.addressOf.size === 0,
    facts: {
      network: pool.network,
      whyBegan: (client) => whyBegan(sources, pool, client),
      whyEnded: (record) => whyEnded(sources, pool, record),
      isInConflict: (address) => plan.quarantines.some((quarantine) => quarantine.address === address),
    },
  };
}

function* clientsOf(
  { caches }: AssignmentSources,
  { pool: { network }, plan }: { readonly pool: PoolView; readonly plan: PoolPlan },
  macAddresses: Iterable<MacAddress>,
): Iterable<AssignedClient> {
  for (const macAddress of macAddresses) {
    const address = plan.addressOf.get(macAddress);
    if (address === undefined) continue;
    const owner = plan.owners.get(macAddress);
    const config = owner === undefined ? undefined : caches.networkConfigs.get(owner);
    yield owner === undefined
      ? { address, macAddress, virtualMachine: undefined, uid: undefined, interface: undefined }
      : assignedClient({ address, macAddress, network }, owner, config);
  }
}

interface Client {
  readonly address: Ipv4Address;
  readonly macAddress: MacAddress;
  readonly network: string;
}

function assignedClient(
  { address, macAddress, network }: Client,
  owner: string,
  config: KubernetesObject | undefined,
): AssignedClient {
  if (config === undefined) return { address, macAddress, virtualMachine: owner, uid: undefined, interface: undefined };
  const { virtualMachine, uid, interfaces } = machineOf(config);
  return { address, macAddress, virtualMachine, uid, interface: interfaces.get(`${network} ${macAddress}`) };
}

function machineOf(config: KubernetesObject): Machine {
  const known = machines.get(config);
  if (known !== undefined) return known;
  const { namespace = '', ownerReferences = [] } = config.metadata;
  const remembered = [...readRememberedInterfaces(config)];
  const machine: Machine = {
    virtualMachine: `${namespace}/${virtualMachineNamedBy(config)}`,
    uid: ownerReferences.find(({ kind }) => kind === 'VirtualMachine')?.uid,
    interfaces: new Map(
      remembered.map(([interfaceName, { networkName, macAddress }]) => [`${networkName} ${macAddress}`, interfaceName]),
    ),
  };
  machines.set(config, machine);
  return machine;
}

function whyBegan({ view, caches }: AssignmentSources, pool: PoolView, client: AssignedClient): BeginReason {
  const { macAddress, address, virtualMachine } = client;
  if (pool.reading.ok && pool.reading.pool.reservations.get(macAddress)?.address === address) return 'reserved';
  const config = virtualMachine === undefined ? undefined : caches.networkConfigs.get(virtualMachine);
  const claims = config === undefined ? [] : view.claimsOf(config).claims;
  return claims.some((claim) => claim.macAddress === macAddress && claim.wanted === address) ? 'pinned' : 'assigned';
}

function whyEnded({ caches }: AssignmentSources, { reading }: PoolView, record: AssignmentRecord): EndReason {
  if (reading.ok && !mayBeKept(reading.pool, record.address)) return 'pool-changed';
  if (record.virtualMachine === undefined) return 'reservation-removed';
  const machine = caches.virtualMachines.get(record.virtualMachine);
  const isGone = machine === undefined || isBeingDeleted(machine);
  return isGone || (record.uid !== undefined && machine.metadata.uid !== record.uid) ? 'vm-deleted' : 'interface-removed';
}
