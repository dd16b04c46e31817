/** Finds the bare-metal host that an address or a MAC address belongs to, or the management network that contains the address. */

import { clusterAgentOf, isInSubnet, readClusterAgent, readHost } from '@vmdhcp/bare-metal';
import { formatIpv4Address, type Ipv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { HOST_ADDRESS_LABEL } from '@vmdhcp/ippool-api/bare-metal/keys';
import { compareByAge, type KubernetesObject, readText } from '@vmdhcp/kube-runtime';
import type { ClientSubject } from '../chain/client-records.js';

/** The objects in which hosts are looked for. */
export interface HostObjectLists {
  readonly hostStatuses: readonly KubernetesObject[];
  readonly hostEndpoints: readonly KubernetesObject[];
  readonly clusterAgents: readonly KubernetesObject[];
}

/** The objects of one host, or of an address that no host has. */
export interface FoundHost {
  readonly address: string | undefined;
  readonly hostStatus: KubernetesObject | undefined;
  readonly hostEndpoint: KubernetesObject | undefined;
  /** The name of the object; undefined if no object has one. */
  readonly clusterAgentName: string | undefined;
  /** Undefined if it does not exist. */
  readonly clusterAgent: KubernetesObject | undefined;
}

/** The label selector of HostStatuses that may concern the subject; undefined if all of them may. */
export function hostSelector(subject: ClientSubject): string | undefined {
  return subject.kind === 'address' ? `${HOST_ADDRESS_LABEL}=${formatIpv4Address(subject.address)}` : undefined;
}

/** One for each HostStatus and HostEndpoint of the subject; of an address that none has, one for each management network that it is of. */
export function findHosts(objects: HostObjectLists, subject: ClientSubject): FoundHost[] {
  const { hostStatuses, hostEndpoints } = objects;
  const statuses = hostStatuses.filter((one) => isSubject(one, subject));
  const ofStatuses = statuses.map((one) => ofStatus(objects, one));
  const shown = new Set(ofStatuses.flatMap(({ hostEndpoint }) => hostEndpoint ?? []));
  const endpoints = hostEndpoints.filter((one) => {
    const address = addressOf(one);
    const isAsked = subject.kind === 'address' && address !== undefined && parseIpv4Address(address) === subject.address;
    return isAsked && !shown.has(one);
  });
  const known = [...ofStatuses, ...endpoints.map((one) => ofEndpoint(objects, one))];
  return known.length > 0 || subject.kind !== 'address' ? known : ofNetworks(objects, subject.address);
}

function isSubject(object: KubernetesObject, subject: ClientSubject): boolean {
  const { address, macAddress } = readHost(object);
  if (subject.kind === 'mac-address') return macAddress === subject.macAddress;
  return address !== undefined && parseIpv4Address(address) === subject.address;
}

function ofStatus({ hostEndpoints, clusterAgents }: HostObjectLists, hostStatus: KubernetesObject): FoundHost {
  const { address, clusterAgent } = readHost(hostStatus);
  const naming = hostEndpoints.filter((one) => address !== undefined && addressOf(one) === address);
  return {
    address,
    hostStatus,
    hostEndpoint: naming.find((one) => isOwner(one, hostStatus)) ?? naming.toSorted(compareByAge)[0],
    clusterAgentName: clusterAgent,
    clusterAgent: clusterAgents.find(({ metadata }) => metadata.name === clusterAgent),
  };
}

/** If several HostEndpoints have one address, only one has the HostStatus. */
function isOwner({ metadata: { uid } }: KubernetesObject, { metadata: { ownerReferences = [] } }: KubernetesObject): boolean {
  return uid !== undefined && ownerReferences.some((owner) => owner.uid === uid);
}

function ofEndpoint({ clusterAgents }: HostObjectLists, hostEndpoint: KubernetesObject): FoundHost {
  const names = clusterAgents.map(({ metadata }) => metadata.name);
  const name = clusterAgentOf(hostEndpoint, names);
  return {
    address: addressOf(hostEndpoint),
    hostStatus: undefined,
    hostEndpoint,
    clusterAgentName: name ?? readText(hostEndpoint.spec, 'clusterAgent'),
    clusterAgent: clusterAgents.find(({ metadata }) => metadata.name === name),
  };
}

function ofNetworks({ clusterAgents }: HostObjectLists, asked: Ipv4Address): FoundHost[] {
  const address = formatIpv4Address(asked);
  return clusterAgents
    .filter((one) => isInSubnet(readClusterAgent(one), address))
    .map((clusterAgent) => ({
      address,
      hostStatus: undefined,
      hostEndpoint: undefined,
      clusterAgentName: clusterAgent.metadata.name,
      clusterAgent,
    }));
}

function addressOf(hostEndpoint: KubernetesObject): string | undefined {
  return readText(hostEndpoint.spec, 'ipAddr')?.trim();
}
