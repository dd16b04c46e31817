/** Reads the answer of `kubectl vmdhcp why`: about a virtual machine, an address or a MAC address. */
import type { AddressChain, ClientRecord, ClientSubject, MissingRight } from '@vmdhcp/explain';
import type { HostChain } from '@vmdhcp/explain/hosts';
import {
  type ClusterReader,
  findClient,
  type MachineName,
  type ObservedHosts,
  observeChain,
  observeHosts,
} from '@vmdhcp/explain/observe';
import { findLastOwners, type LastAssignments } from './last-owners.js';
import { clientIn, machineIn } from './subject.js';

/** What `why` prints as data. */
export interface WhyAnswer {
  readonly subject: string;
  readonly hasAddress: boolean;
  readonly requests: number;
  readonly records?: readonly ClientRecord[];
  readonly chain?: AddressChain;
  /** Other virtual machines with the same MAC address on the network, as far as the search saw them. */
  readonly otherClaims?: readonly MachineName[];
  /** Bare-metal hosts with the address or the MAC address. */
  readonly hosts?: readonly HostChain[];
  /** Who had an address that no client has now, or which address a client had that has none. */
  readonly before?: LastAssignments;
  readonly missingRights: readonly MissingRight[];
}

export async function answerTo(reader: ClusterReader, text: string, auditNamespace: string): Promise<WhyAnswer> {
  const client = clientIn(text);
  if (client !== undefined) return { subject: text, ...(await answerAbout(reader, client, auditNamespace)) };
  const chain = await observeChain(reader, machineIn(text, reader.namespace));
  const { missingRights } = chain;
  return { subject: text, hasAddress: hasAddress(chain), requests: reader.requests, chain, missingRights };
}

async function answerAbout(
  reader: ClusterReader,
  client: ClientSubject,
  auditNamespace: string,
): Promise<Omit<WhyAnswer, 'subject'>> {
  const { pools, records, machine, otherClaims, missingRights } = await findClient(reader, client);
  if (machine !== undefined) {
    const whole = await observeChain(reader, machine);
    const chain = ofClient(whole, records, client);
    const rights = [...missingRights, ...whole.missingRights];
    return { hasAddress: hasAddress(chain), requests: reader.requests, records, chain, otherClaims, missingRights: rights };
  }
  const isReserved = records.some(({ state }) => state === 'reserved');
  if (records.some(({ macAddress }) => macAddress !== undefined))
    return { hasAddress: isReserved, requests: reader.requests, records, missingRights };
  const ofHosts = await observeHosts(reader, client, auditNamespace);
  if (ofHosts.hosts.length > 0) return aboutHosts(reader, records, { ...ofHosts, rightsOfPools: missingRights });
  const before = await findLastOwners(reader, client, { namespace: auditNamespace, pools });
  // If a pool has the address, no host has it.
  const rights = records.length === 0 ? [...missingRights, ...ofHosts.missingRights] : missingRights;
  return { hasAddress: false, requests: reader.requests, records, before, missingRights: rights };
}

function aboutHosts(
  { requests }: ClusterReader,
  records: readonly ClientRecord[],
  { hosts, missingRights, rightsOfPools }: ObservedHosts & { readonly rightsOfPools: readonly MissingRight[] },
): Omit<WhyAnswer, 'subject'> {
  const has = hosts.every(({ hasAddress: isThere, state }) => isThere && state !== 'broken' && state !== 'waiting');
  return { hasAddress: has, requests, records, hosts, missingRights: [...rightsOfPools, ...missingRights] };
}

/** The way of the one interface that was asked for. */
function ofClient(chain: AddressChain, records: readonly ClientRecord[], client: ClientSubject): AddressChain {
  const macAddress = client.kind === 'mac-address' ? client.macAddress : records.find((one) => one.macAddress)?.macAddress;
  const interfaces = chain.interfaces.filter((one) => one.macAddress === macAddress);
  return interfaces.length === 0 ? chain : { ...chain, interfaces };
}

/** True if each interface has its address, as far as that could be read. */
function hasAddress({ links, interfaces }: AddressChain): boolean {
  const states = [...links, ...interfaces].map(({ state }) => state);
  return (
    interfaces.length > 0 && !states.some((state) => state === 'broken' || state === 'waiting') && !interfaces.some(isUnknown)
  );
}

function isUnknown({ state, address }: AddressChain['interfaces'][number]): boolean {
  return state === 'unknown' && address === undefined;
}
