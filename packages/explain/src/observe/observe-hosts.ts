/** Reads what explains a bare-metal host: lists of few objects, the Lease of its agents, and its Events. */

import { Resource } from '@vmdhcp/ippool-api/resources';
import type { ApiResource, KubernetesObject } from '@vmdhcp/kube-runtime';
import { type MissingRight, UNREAD } from '../chain/chain-observation.js';
import type { ClientSubject } from '../chain/client-records.js';
import type { FoundHost } from '../host-chain/find-hosts.js';
import type { HostChain } from '../host-chain/host-chain.js';
import type { ClusterReader } from './cluster-reader.js';

/** The hosts that were found, with their ways, and what could not be read. */
export interface ObservedHosts {
  /** Empty if no network of a ClusterAgent contains the address. */
  readonly hosts: readonly HostChain[];
  readonly missingRights: readonly MissingRight[];
}

/** Events of objects without a namespace are in this one. */
const EVENTS_NAMESPACE = 'default';

/** @param namespace - the namespace of the agents. @throws CommandError if the API server does not respond. */
export async function observeHosts(reader: ClusterReader, subject: ClientSubject, namespace: string): Promise<ObservedHosts> {
  const { explainHost, findHosts, hostSelector } = await import('../host-chain/index.js');
  const labelSelector = hostSelector(subject);
  const ofAddress = { ...Resource.hostStatuses, ...(labelSelector !== undefined && { labelSelector }) };
  const [hostStatuses, hostEndpoints, clusterAgents] = await Promise.all([
    listOf(reader, ofAddress),
    listOf(reader, Resource.hostEndpoints),
    listOf(reader, Resource.clusterAgents),
  ]);
  const missingRights = [hostStatuses, hostEndpoints, clusterAgents].flatMap(({ right }) => right ?? []);
  const objects = {
    hostStatuses: hostStatuses.objects,
    hostEndpoints: hostEndpoints.objects,
    clusterAgents: clusterAgents.objects,
  };
  const hosts = await Promise.all(
    findHosts(objects, subject).map(async (found) =>
      explainHost({ ...found, ...(await aroundHost(reader, found, namespace)), nowMs: reader.nowMs }),
    ),
  );
  return { hosts, missingRights };
}

interface Listed {
  readonly objects: readonly KubernetesObject[];
  readonly right?: MissingRight;
}

async function listOf(reader: ClusterReader, resource: ApiResource): Promise<Listed> {
  const listed = await reader.list(resource);
  return listed.kind === 'found' ? { objects: listed.objects } : { objects: [], right: listed.right };
}

async function aroundHost(reader: ClusterReader, { clusterAgent, hostStatus, hostEndpoint }: FoundHost, namespace: string) {
  const lease =
    clusterAgent === undefined ? UNREAD : await reader.get(Resource.leases, `${namespace}/agent-${clusterAgent.metadata.name}`);
  const about = [
    ['HostStatus', hostStatus],
    ['HostEndpoint', hostEndpoint],
  ] as const;
  const events = await Promise.all(
    about.map(async ([kind, object]) => (object === undefined ? [] : await eventsOf(reader, kind, object.metadata.name))),
  );
  return { lease, events: events.flat() };
}

/** Returns none if they may not be read: they only add details. */
async function eventsOf(reader: ClusterReader, kind: string, name: string): Promise<readonly KubernetesObject[]> {
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
  const { objects } = await listOf(reader, { ...Resource.events, namespace: EVENTS_NAMESPACE, fieldSelector });
  return objects;
}
