/** Reads what explains one virtual machine: objects by name, and lists only if no object names the next one. */

import { CONTROLLER_LEASE, Resource } from '@vmdhcp/ippool-api/resources';
import { type ApiResource, compareByAge, type KubernetesObject, keyOf, readConditions, readText } from '@vmdhcp/kube-runtime';
import type { AddressChain, EventSubject, PacketSubject } from '../chain/address-chain.js';
import type { ChainObservation, Observed, ObservedTraffic } from '../chain/chain-observation.js';
import { explainAddress } from '../chain/explain-address.js';
import { type ChainRead, walkChain } from '../chain/walk-chain.js';
import type { ClusterReader } from './cluster-reader.js';

const MOST_EVENTS = 50;

/** The namespace and the name of a virtual machine. */
export interface MachineName {
  readonly namespace: string;
  readonly name: string;
}

/** What reads the objects. */
type ChainReads = Pick<ClusterReader, 'get' | 'list' | 'nowMs'>;

/** The current way of one virtual machine to its addresses. @throws CommandError if the API server does not respond. */
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
export async function observeWay(reader: ChainReads, { namespace, name }: MachineName): Promise<ChainObservation> {
  const walk = walkChain(
    { namespace, name },
    { nowMs: () => reader.nowMs, controllerLease: keyOf({ metadata: CONTROLLER_LEASE }) },
  );
  let step = walk.next();
  while (!step.done) step = walk.next(await Promise.all(step.value.map((one) => read(reader, one))));
  return step.value;
}

function read(reader: ChainReads, one: ChainRead): Promise<Observed> {
  return one.kind === 'pool-naming' ? findPoolNaming(reader, one.network) : reader.get(Resource[one.kind], one.key);
}

async function findPoolNaming(reader: ChainReads, network: string): Promise<Observed> {
  const [namespace = ''] = network.split('/', 1);
  const near = await findPoolIn(reader, { ...Resource.ipPools, namespace }, network);
  // A pool of another namespace may serve the network: the network does not name that one.
  if (near.kind === 'found' && isUsed(near.object)) return near;
  const anywhere = await findPoolIn(reader, Resource.ipPools, network);
  // A pool that does not serve the network explains nothing: any user may create a pool that names the network of another user.
  if (near.kind === 'found') return anywhere.kind === 'found' && isUsed(anywhere.object) ? anywhere : near;
  // A user of one namespace learns at least that there is none in it.
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

/** Loads the code that runs commands in pods only if there is something to ask. */
async function observeTraffic(
  reader: ClusterReader,
  subjects: readonly PacketSubject[],
): Promise<ReadonlyMap<string, ObservedTraffic>> {
  if (subjects.length === 0) return new Map();
  const { askAboutClient } = await import('./ask-about-client.js');
  const asked = subjects.map(async (subject) => [subject.interface, await askAboutClient(reader.cluster, subject)] as const);
  return new Map(await Promise.all(asked));
}

/** Returns none if they may not be read: they only add details. */
async function eventsOf(reader: ClusterReader, { kind, namespace, name }: EventSubject): Promise<readonly KubernetesObject[]> {
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  const listed = await reader.list({ ...Resource.events, namespace, fieldSelector });
  return listed.kind === 'found' ? listed.objects.slice(-MOST_EVENTS) : [];
}
