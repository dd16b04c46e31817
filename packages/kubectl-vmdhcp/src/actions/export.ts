import { describeMissingRight } from '@vmdhcp/explain';
import type { ReaderOptions } from '@vmdhcp/explain/observe';
import { ClusterReader, toCommandError } from '@vmdhcp/explain/observe';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type ApiResource, type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode, printableJson } from '@vmdhcp/service-process';
import { type ExportedPool, exportedPools, toCsv } from '../output/exported-addresses.js';
import { poolsWithOneSubnet, toKea } from '../output/kea-configuration.js';

export interface ExportOptions extends ReaderOptions {
  readonly format: 'csv' | 'kea';
  readonly allNamespaces?: boolean;
  readonly pool?: string;
}

/** @throws CommandError if the cluster does not answer, or the user may not list the objects. */
export async function exportAddresses(options: ExportOptions): Promise<void> {
  const reader = await ClusterReader.open(options);
  try {
    const listed = await listAll(
      reader,
      options.allNamespaces ? Resource.ipPools : { ...Resource.ipPools, namespace: namespaceOf(reader, options) },
    );
    const pools = listed.filter((pool) => options.pool === undefined || keyOf(pool) === keyIn(options.pool, reader));
    if (options.pool !== undefined && pools.length === 0)
      throw new CommandError(`there is no IPPool ${keyIn(options.pool, reader)}: kubectl vmdhcp pools -A`, ExitCode.failed);
    // Virtual machines of any namespace may have addresses of a pool.
    const exported = exportedPools(pools, await listAll(reader, Resource.networkConfigs));
    process.stdout.write(options.format === 'csv' ? toCsv(exported) : keaText(exported));
  } catch (error) {
    throw toCommandError(error);
  } finally {
    reader.close();
  }
}

function keaText(exported: readonly ExportedPool[]): string {
  const alike = poolsWithOneSubnet(exported);
  if (alike !== undefined)
    throw new CommandError(
      `IPPools ${alike.join(' and ')} have the same subnet, which Kea accepts once: export each with --pool NAMESPACE/NAME`,
      ExitCode.failed,
    );
  return `${printableJson(toKea(exported), 2)}\n`;
}

function namespaceOf(reader: ClusterReader, { pool }: ExportOptions): string {
  return pool === undefined ? reader.namespace : (keyIn(pool, reader).split('/', 1)[0] ?? '');
}

function keyIn(name: string, { namespace }: ClusterReader): string {
  return name.includes('/') ? name : `${namespace}/${name}`;
}

async function listAll(reader: ClusterReader, resource: ApiResource): Promise<readonly KubernetesObject[]> {
  const listed = await reader.list(resource);
  if (listed.kind === 'found') return listed.objects;
  throw new CommandError(`${describeMissingRight(listed.right)}: ask for the verb list on it`, ExitCode.noPermission);
}
