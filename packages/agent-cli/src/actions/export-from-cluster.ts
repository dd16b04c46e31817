/** Reads the leases of a ClusterAgent from where its agents keep them. */
import type { BindingRecord } from '@vmdhcp/dhcp-allocator';
import { ApiConnection, ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { leaseSlicePorts, readStoredLeases } from '@vmdhcp/lease-stores/objects';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { connectToCluster } from './connect-to-cluster.js';
import { type ClusterImportOptions, toClusterAgentError } from './import-into-cluster.js';

/** @throws CommandError if there are none, they are incomplete, or they cannot be read. */
export async function readFromCluster(options: ClusterImportOptions): Promise<BindingRecord[]> {
  const connection = new ApiConnection(await connectToCluster(options), { userAgent: 'vmdhcp-agent' });
  try {
    return await readStoredLeases({ ...options, slices: leaseSlicePorts(connection, options).slices });
  } catch (error) {
    if (error instanceof ApiRequestError) throw toClusterAgentError(error);
    throw new CommandError((error as Error).message, ExitCode.noInput, { cause: error });
  } finally {
    connection.close();
  }
}
