/** From an address or a MAC address to the virtual machine that has it. */
import { parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import { type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';
import { ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { type ClientRecord, type ClientSubject, findClientRecords, type MissingRight, Resource } from '@vmdhcp/reconciler/chain';
import { type ClusterReader, toCommandError } from './cluster-reader.js';
import type { MachineName } from './observe-chain.js';

export interface FoundClient {
  /** All that could be read. */
  readonly pools: readonly KubernetesObject[];
  readonly records: readonly ClientRecord[];
  /** The virtual machine whose interface has the MAC address; undefined: none has. */
  readonly machine: MachineName | undefined;
  /** Where not everything could be looked at. */
  readonly missingRights: readonly MissingRight[];
}

/** @throws CommandError where the API server does not answer. */
export async function findClient(reader: ClusterReader, subject: ClientSubject): Promise<FoundClient> {
  const { pools, missingRights } = await readPools(reader);
  const records = findClientRecords(pools, subject);
  const macAddress = subject.kind === 'mac-address' ? subject.macAddress : records.find((one) => one.macAddress)?.macAddress;
  if (macAddress === undefined) return { pools, records, machine: undefined, missingRights };
  const network = records.find((one) => one.macAddress === macAddress)?.network;
  const near = records[0]?.pool.split('/', 1)[0];
  const owner = await findOwner(reader, { macAddress, network }, near);
  return { pools, records, machine: owner.machine, missingRights: [...missingRights, ...owner.missingRights] };
}

/** Those of all namespaces; else those of the reader's own. */
async function readPools(reader: ClusterReader): Promise<{
  readonly pools: readonly KubernetesObject[];
  readonly missingRights: readonly MissingRight[];
}> {
  const all = await reader.list(Resource.ipPools);
  if (all.kind === 'found') return { pools: all.objects, missingRights: [] };
  const own = await reader.list({ ...Resource.ipPools, namespace: reader.namespace });
  return { pools: own.kind === 'found' ? own.objects : [], missingRights: [all.right] };
}

interface Client {
  readonly macAddress: string;
  /** Undefined: any. */
  readonly network: string | undefined;
}

interface Owner {
  readonly machine: MachineName | undefined;
  readonly missingRights: readonly MissingRight[];
}

/**
 * Most virtual machines are in the namespace of their pool, so that is read first.
 *
 * @param near - that namespace; undefined: no pool has the client, and the namespace of the reader is read where all together may not be.
 */
async function findOwner(reader: ClusterReader, client: Client, near: string | undefined): Promise<Owner> {
  const found = near === undefined ? undefined : await searchIn(reader, client, near);
  if (found?.machine !== undefined) return found;
  const anywhere = await searchIn(reader, client, '');
  if (anywhere.machine !== undefined || anywhere.missingRights.length === 0 || near !== undefined) return anywhere;
  const own = await searchIn(reader, client, reader.namespace);
  return own.machine === undefined ? anywhere : own;
}

async function searchIn(reader: ClusterReader, client: Client, namespace: string): Promise<Owner> {
  const resource = namespace === '' ? Resource.networkConfigs : { ...Resource.networkConfigs, namespace };
  try {
    for await (const page of reader.pages(resource)) {
      const object = page.find((config) => claims(config, client));
      if (object !== undefined)
        return { machine: { namespace: object.metadata.namespace ?? '', name: object.metadata.name }, missingRights: [] };
    }
    return { machine: undefined, missingRights: [] };
  } catch (error) {
    if (!(error instanceof ApiRequestError) || error.status !== 403) throw toCommandError(error);
    const { group, plural } = resource;
    return { machine: undefined, missingRights: [{ verb: 'list', group, resource: plural, namespace }] };
  }
}

function claims({ metadata, spec }: KubernetesObject, { macAddress, network }: Client): boolean {
  return readList(spec, 'networkConfigs').some((entry) => {
    const named = readText(entry, 'networkName') ?? '';
    const key = named.includes('/') ? named : `${metadata.namespace}/${named}`;
    const isThere = network === undefined || key === network;
    return isThere && parseMacAddress(readText(entry, 'macAddress') ?? '') === macAddress;
  });
}
