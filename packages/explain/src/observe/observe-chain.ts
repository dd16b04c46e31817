/** Reads what explains one virtual machine: objects by their names, and lists only where no object names the next one. */

import { IPPOOL_NAME_LABEL, IPPOOL_NAMESPACE_LABEL, UNIFIED_GROUP } from '@vmdhcp/ippool-api/agent';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type ApiResource, compareByAge, type KubernetesObject, readConditions, readText } from '@vmdhcp/kube-runtime';
import type { AddressChain, EventSubject, PacketSubject } from '../chain/address-chain.js';
import {
  type ChainObservation,
  type NetworkPools,
  type Observed,
  type ObservedTraffic,
  objectOf,
} from '../chain/chain-observation.js';
import { explainAddress } from '../chain/explain-address.js';
import type { ClusterReader } from './cluster-reader.js';

const CONTROLLER_LEASE = 'kube-system/vm-dhcp-controllers';
const MOST_EVENTS = 50;

export interface MachineName {
  readonly namespace: string;
  readonly name: string;
}

/** What reads the objects. */
type ChainReads = Pick<ClusterReader, 'get' | 'list' | 'nowMs'>;

/** The way of one virtual machine to its addresses, as it is now. @throws CommandError where the API server does not answer. */
export async function observeChain(reader: ClusterReader, machine: MachineName): Promise<AddressChain> {
  const observed = await observeWay(reader, machine);
  const chain = explainAddress(observed);
  const asked = chain.furtherPackets.filter(({ isConfirmed }) => !isConfirmed);
  if (chain.furtherEvents.length + asked.length === 0) return chain;
  const [events, traffic] = await Promise.all([
    Promise.all(chain.furtherEvents.map((subject) => eventsOf(reader, subject))),
    observeTraffic(reader, asked),
  ]);
  return explainAddress({ ...observed, traffic, events: events.flat() });
}

/** The objects of that way, without Events. */
export async function observeWay(reader: ChainReads, machine: MachineName): Promise<ChainObservation> {
  return await observeNetworks(reader, await observeMachine(reader, machine));
}

async function observeMachine(reader: ChainReads, { namespace, name }: MachineName): Promise<ChainObservation> {
  const key = `${namespace}/${name}`;
  const [virtualMachine, instance, networkConfig, controller] = await Promise.all([
    reader.get(Resource.virtualMachines, key),
    reader.get(Resource.virtualMachineInstances, key),
    reader.get(Resource.networkConfigs, key),
    reader.get(Resource.leases, CONTROLLER_LEASE),
  ]);
  const nothing = { networks: new Map(), pools: new Map(), leases: new Map(), events: [] };
  return { namespace, name, virtualMachine, instance, networkConfig, controller, ...nothing, nowMs: reader.nowMs };
}

async function observeNetworks(reader: ChainReads, begun: ChainObservation): Promise<ChainObservation> {
  const names = new Set(explainAddress(begun).interfaces.flatMap(({ network }) => (network === '' ? [] : [network])));
  const networks = new Map(
    await Promise.all([...names].map(async (name) => [name, await reader.get(Resource.networks, name)] as const)),
  );
  const pools = new Map(
    await Promise.all([...networks].map(async ([name, network]) => [name, await poolsOf(reader, name, network)] as const)),
  );
  const wanted = new Set([...pools.values()].flatMap(({ lease }) => lease ?? []));
  const leases = new Map(await Promise.all([...wanted].map(async (key) => [key, await leaseAt(reader, key)] as const)));
  return { ...begun, networks, pools, leases, nowMs: reader.nowMs };
}

/** The controller writes the name of the pool into the network; where it does not, the pools that name the network are looked for. */
async function poolsOf(reader: ChainReads, network: string, observed: Observed): Promise<NetworkPools> {
  const { labels = {} } = objectOf(observed)?.metadata ?? {};
  const [namespace, name] = [labels[IPPOOL_NAMESPACE_LABEL], labels[IPPOOL_NAME_LABEL]];
  if (namespace !== undefined && name !== undefined) {
    const pool = await reader.get(Resource.ipPools, `${namespace}/${name}`);
    if (pool.kind !== 'missing') return withLease(pool);
  }
  return withLease(await findPoolNaming(reader, network));
}

async function findPoolNaming(reader: ChainReads, network: string): Promise<Observed> {
  const [namespace = ''] = network.split('/', 1);
  const near = await findPoolIn(reader, { ...Resource.ipPools, namespace }, network);
  // A pool of another namespace may serve the network instead: the network does not name that one.
  if (near.kind === 'found' && isUsed(near.object)) return near;
  const anywhere = await findPoolIn(reader, Resource.ipPools, network);
  // One that does not serve it explains nothing: each user may create a pool that names the networks of others.
  if (near.kind === 'found') return anywhere.kind === 'found' && isUsed(anywhere.object) ? anywhere : near;
  // A user of one namespace still knows that there is none in it.
  return anywhere.kind === 'refused' && near.kind === 'missing' ? near : anywhere;
}

async function findPoolIn(reader: ChainReads, resource: ApiResource, network: string): Promise<Observed> {
  const listed = await reader.list(resource);
  if (listed.kind === 'refused') return listed;
  const naming = listed.objects.filter(({ metadata, spec }) => {
    const named = readText(spec, 'networkName') ?? '';
    return (named.includes('/') ? named : `${metadata.namespace}/${named}`) === network;
  });
  const [object] = naming.toSorted((one, other) => Number(isUsed(other)) - Number(isUsed(one)) || compareByAge(one, other));
  return object === undefined ? { kind: 'missing' } : { kind: 'found', object };
}

function isUsed({ status }: KubernetesObject): boolean {
  return readConditions(status).some(({ type, status: is }) => type === 'CacheReady' && is === 'True');
}

function withLease(pool: Observed): NetworkPools {
  const status = objectOf(pool)?.status;
  const [namespace, name] = ['namespace', 'name'].map((field) => readText(status, 'agentDeploymentRef', field));
  return { pool, lease: namespace === undefined || name === undefined ? undefined : `${namespace}/${name}` };
}

/** A group's Lease has the name of its Deployment, but for the Deployment of a chart. */
async function leaseAt(reader: ChainReads, key: string): Promise<Observed> {
  const observed = await reader.get(Resource.leases, key);
  if (observed.kind !== 'missing') return observed;
  const [namespace = ''] = key.split('/', 1);
  return await reader.get(Resource.leases, `${namespace}/${UNIFIED_GROUP}`);
}

/** Asked only where there is something to ask: what runs commands in pods is loaded then. */
async function observeTraffic(
  reader: ClusterReader,
  subjects: readonly PacketSubject[],
): Promise<ReadonlyMap<string, ObservedTraffic>> {
  if (subjects.length === 0) return new Map();
  const { askAboutClient } = await import('./ask-about-client.js');
  const asked = subjects.map(async (subject) => [subject.interface, await askAboutClient(reader.cluster, subject)] as const);
  return new Map(await Promise.all(asked));
}

/** None where they may not be read: they only add to what is known. */
async function eventsOf(reader: ClusterReader, { kind, namespace, name }: EventSubject): Promise<readonly KubernetesObject[]> {
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  const listed = await reader.list({ ...Resource.events, namespace, fieldSelector });
  return listed.kind === 'found' ? listed.objects.slice(-MOST_EVENTS) : [];
}
