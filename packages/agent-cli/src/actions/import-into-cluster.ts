/** Imports leases of another DHCP server as those of a ClusterAgent: writes them where its agents read them. */
import type { BindingRecord } from '@vmdhcp/dhcp-allocator';
import { type Ipv4Address, parseIpv4Range, rangeContains } from '@vmdhcp/dhcp-allocator/address';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type KubernetesObject, parseTime, readField, readText } from '@vmdhcp/kube-runtime';
import { ApiConnection, ApiObjectClient, ApiRequestError, systemClock } from '@vmdhcp/kube-runtime/node';
import { createSlices, headName, leaseSlicePorts } from '@vmdhcp/lease-stores/objects';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { clusterRefusal } from './cluster-refusal.js';
import { connectToCluster } from './connect-to-cluster.js';

export interface ClusterImportOptions {
  readonly clusterAgent: string;
  /** The namespace of the agents. */
  readonly namespace: string;
  readonly kubeconfig?: string;
  readonly kubecontext?: string;
}

/** Where a ClusterAgent stores leases. */
export interface ClusterImport {
  readonly poolNameOf: (address: Ipv4Address) => string | undefined;
  /** Resolves with the place of the leases. @throws CommandError */
  readonly write: (records: readonly BindingRecord[]) => Promise<string>;
  readonly close: () => void;
}

/** @throws CommandError if there is no such ClusterAgent, or its range cannot be read. */
export async function openClusterImport(options: ClusterImportOptions): Promise<ClusterImport> {
  const { clusterAgent, namespace } = options;
  const connection = new ApiConnection(await connectToCluster(options), { userAgent: 'vmdhcp-agent' });
  try {
    const range = rangeOf(
      clusterAgent,
      await new ApiObjectClient<KubernetesObject>(connection, Resource.clusterAgents).get(clusterAgent),
    );
    return {
      poolNameOf: (address) => (rangeContains(range, address) ? clusterAgent : undefined),
      write: async (records) => {
        await refuseLeader(connection, options);
        await writeSlices(connection, options, records);
        return `LeaseSlice ${namespace}/${headName(clusterAgent)}`;
      },
      close: () => connection.close(),
    };
  } catch (error) {
    connection.close();
    throw toClusterAgentError(error);
  }
}

function rangeOf(name: string, object: KubernetesObject | undefined) {
  if (object === undefined)
    throw new CommandError(`ClusterAgent ${name} does not exist; create it first, with agentYaml.replicas: 0`, ExitCode.failed);
  const text = readField(object.spec, 'feature', 'dhcpServerConfig', 'ipRange');
  const range = typeof text === 'string' ? parseIpv4Range(text) : undefined;
  if (range === undefined)
    throw new CommandError(
      `ClusterAgent ${name}: spec.feature.dhcpServerConfig.ipRange is missing or invalid; write it as in 192.168.0.10-192.168.0.100`,
      ExitCode.invalidData,
    );
  return range;
}

/** A running agent would write what it knows again. If the holder has not renewed a Lease for twice its duration, that agent has ended. */
async function refuseLeader(connection: ApiConnection, { clusterAgent, namespace }: ClusterImportOptions): Promise<void> {
  const leases = new ApiObjectClient<KubernetesObject>(connection, {
    ...{ group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespaced: true, namespace },
  });
  const lease = await leases.get(`${namespace}/agent-${clusterAgent}`).catch((error: unknown) => {
    throw toClusterAgentError(error);
  });
  const holder = readText(lease?.spec, 'holderIdentity');
  const endsAtMs = parseTime(readText(lease?.spec, 'renewTime')) + 2_000 * Number(readField(lease?.spec, 'leaseDurationSeconds'));
  if (!holder || !(endsAtMs > Date.now())) return;
  throw new CommandError(
    `an agent of ClusterAgent ${clusterAgent} is leader (${holder}): set agentYaml.replicas to 0, wait until it has ended, and import again`,
    ExitCode.cannotCreate,
  );
}

async function writeSlices(
  connection: ApiConnection,
  options: ClusterImportOptions,
  records: readonly BindingRecord[],
): Promise<void> {
  const ports = leaseSlicePorts(connection, options);
  const { clusterAgent, namespace } = options;
  try {
    const settings = { ...ports, clusterAgent, namespace, clock: systemClock, random: Math.random, replica: 'import' };
    await createSlices(settings, records);
  } catch (error) {
    if (error instanceof ApiRequestError) throw toClusterAgentError(error);
    throw new CommandError((error as Error).message, ExitCode.cannotCreate, { cause: error });
  }
}

/** What a person reads of a request for objects of a ClusterAgent that failed, with the exit code. */
export function toClusterAgentError(error: unknown): unknown {
  return error instanceof ApiRequestError ? clusterRefusal(error, 'the objects of the ClusterAgent') : error;
}
