import { describeMissingRight } from '@vmdhcp/explain';
import type { ClusterReader } from '@vmdhcp/explain/observe';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { agentsKind } from '../output/agent-rows.js';
import { EVENTS } from '../output/event-rows.js';
import { leasesBy } from '../output/lease-rows.js';
import { POOLS, poolNetworkOf } from '../output/pool-rows.js';
import { type ListOptions, listObjects } from './list-objects.js';

export interface LeasesOptions extends ListOptions {
  readonly vm?: string;
  readonly pool?: string;
  readonly network?: string;
  /** In canonical form. */
  readonly mac?: string;
}

export async function listPools(options: ListOptions): Promise<void> {
  await listObjects(options, () => POOLS);
}

export async function listLeases(options: LeasesOptions): Promise<void> {
  await listObjects(options, async (reader) => {
    const { vm, pool, network, mac } = options;
    const ofPool = pool === undefined ? undefined : await networkOfPool(reader, keyIn(pool, reader));
    const named = network === undefined ? undefined : keyIn(network, reader);
    if (ofPool !== undefined && named !== undefined && ofPool !== named)
      throw new CommandError(`pool ${pool} serves network ${ofPool}, not ${named}; give one of the two`, ExitCode.usage);
    const machine = vm === undefined ? undefined : keyIn(vm, reader);
    return leasesBy({ machine, network: ofPool ?? named, macAddress: mac });
  });
}

/** In all namespaces, if agents may be in any. */
export async function listAgents(options: ListOptions): Promise<void> {
  const isNamed = options.namespace !== undefined && options.allNamespaces !== true;
  await listObjects({ ...options, allNamespaces: !isNamed }, () => agentsKind(isNamed));
}

export async function listEvents(options: ListOptions): Promise<void> {
  await listObjects(options, () => EVENTS);
}

function keyIn(name: string, { namespace }: ClusterReader): string {
  return name.includes('/') ? name : `${namespace}/${name}`;
}

/** @throws CommandError if there is no such pool, or it may not be read. */
async function networkOfPool(reader: ClusterReader, key: string): Promise<string> {
  const pool = await reader.get(Resource.ipPools, key);
  if (pool.kind === 'found') return poolNetworkOf(pool.object);
  if (pool.kind === 'refused')
    throw new CommandError(`${describeMissingRight(pool.right)}: ask for the verb get on it`, ExitCode.noPermission);
  throw new CommandError(`there is no IPPool ${key}: kubectl vmdhcp pools -A`, ExitCode.failed);
}
