/** Finds the virtual machine that has an address or a MAC address. */

import { Resource } from '@vmdhcp/ippool-api/resources';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { type AddressClient, type ClaimingConfig, findAddressClaims, orderClaims } from '../chain/address-claims.js';
import type { MissingRight } from '../chain/chain-observation.js';
import { type ClientRecord, type ClientSubject, findClientRecords } from '../chain/client-records.js';
import { type ClusterReader, toCommandError } from './cluster-reader.js';
import type { MachineName } from './observe-chain.js';

/** What is known of an address or a MAC address: records of pools, a virtual machine, other claims. */
export interface FoundClient {
  /** Everything that could be read. */
  readonly pools: readonly KubernetesObject[];
  readonly records: readonly ClientRecord[];
  /** The virtual machine whose interface has the MAC address; undefined if none has. */
  readonly machine: MachineName | undefined;
  /** True if the status of its VirtualMachineNetworkConfig has the address. */
  readonly hasAddress: boolean;
  /** Other virtual machines with the same MAC address on that network, as far as the search saw them. */
  readonly otherClaims: readonly MachineName[];
  /** What could not be searched. */
  readonly missingRights: readonly MissingRight[];
}

/** @throws CommandError if the API server does not respond. */
export async function findClient(reader: ClusterReader, subject: ClientSubject): Promise<FoundClient> {
  const { pools, missingRights } = await readPools(reader);
  const records = findClientRecords(pools, subject);
  const record = records.find((one) => one.macAddress);
  const macAddress = subject.kind === 'mac-address' ? subject.macAddress : record?.macAddress;
  if (macAddress === undefined) return { pools, records, machine: undefined, hasAddress: false, otherClaims: [], missingRights };
  const client = { macAddress, network: record?.network, address: record?.address };
  const found = await findOwner(reader, client, records[0]?.pool.split('/', 1)[0]);
  const [owner, ...others] = found.claims;
  return {
    pools,
    records,
    machine: owner && machineOf(owner),
    hasAddress: owner?.hasAddress ?? false,
    otherClaims: others.map(machineOf),
    missingRights: [...missingRights, ...found.missingRights],
  };
}

function machineOf({ config: { metadata } }: ClaimingConfig): MachineName {
  return { namespace: metadata.namespace ?? '', name: metadata.name };
}

/** The objects of all namespaces; without that right, those of the user's own namespace. */
async function readPools(reader: ClusterReader): Promise<{
  readonly pools: readonly KubernetesObject[];
  readonly missingRights: readonly MissingRight[];
}> {
  const all = await reader.list(Resource.ipPools);
  if (all.kind === 'found') return { pools: all.objects, missingRights: [] };
  const own = await reader.list({ ...Resource.ipPools, namespace: reader.namespace });
  return { pools: own.kind === 'found' ? own.objects : [], missingRights: [all.right] };
}

interface Owner {
  /** The one that has the address first, else the oldest. */
  readonly claims: readonly ClaimingConfig[];
  readonly missingRights: readonly MissingRight[];
}

/**
 * Most virtual machines are in the namespace of their pool, so that namespace is read first, then the others until one is found
 * that has the address.
 *
 * @param near - that namespace; undefined if no pool has the client: then the user's namespace is read if all namespaces together
 * may not be.
 */
async function findOwner(reader: ClusterReader, client: AddressClient, near: string | undefined): Promise<Owner> {
  const found = near === undefined ? undefined : await searchIn(reader, client, near);
  if (found?.claims[0]?.hasAddress) return found;
  const anywhere = await searchIn(reader, client, '');
  if (anywhere.missingRights.length === 0) return anywhere;
  const own = found ?? (await searchIn(reader, client, reader.namespace));
  return own.claims.length === 0 ? anywhere : withRights(own, near === undefined ? [] : anywhere.missingRights);
}

function withRights({ claims, missingRights }: Owner, further: readonly MissingRight[]): Owner {
  return { claims, missingRights: [...missingRights, ...further] };
}

/** Reads page by page, until one has the address. */
async function searchIn(reader: ClusterReader, client: AddressClient, namespace: string): Promise<Owner> {
  const resource = namespace === '' ? Resource.networkConfigs : { ...Resource.networkConfigs, namespace };
  const claims: ClaimingConfig[] = [];
  try {
    for await (const page of reader.pages(resource)) {
      claims.push(...findAddressClaims(page, client));
      if (claims.some(({ hasAddress }) => hasAddress)) break;
    }
    return { claims: orderClaims(claims), missingRights: [] };
  } catch (error) {
    if (!(error instanceof ApiRequestError) || error.status !== 403) throw toCommandError(error);
    const { group, plural } = resource;
    return { claims: [], missingRights: [{ verb: 'list', group, resource: plural, namespace }] };
  }
}
