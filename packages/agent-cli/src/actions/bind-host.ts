import { type BindingPlan, type BindingRequest, planBinding } from '@vmdhcp/bare-metal';
import type { HostSubject } from '@vmdhcp/bare-metal/host-subject';
import { formatIpv4Address, type MacAddress } from '@vmdhcp/dhcp-allocator/address';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type KubernetesObject, listAll } from '@vmdhcp/kube-runtime';
import { ApiConnection, ApiObjectClient, ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode, printableJson } from '@vmdhcp/service-process';
import { clusterRefusal } from './cluster-refusal.js';
import { connectToCluster } from './connect-to-cluster.js';
import { readSavedLeases } from './read-saved-leases.js';

export interface BindOptions {
  readonly to?: MacAddress;
  readonly clusterAgent?: string;
  readonly state?: string;
  readonly kubeconfig?: string;
  readonly kubecontext?: string;
  readonly json?: boolean;
}

/** Binds an address to a client, or ends that, by the annotation of a HostStatus. @throws CommandError */
export async function bindHost(change: BindingRequest['change'], subject: HostSubject, options: BindOptions): Promise<void> {
  if (options.state !== undefined) {
    await printReservation(change, subject, { ...options, state: options.state });
    return;
  }
  const connection = new ApiConnection(await connectToCluster(options), { userAgent: 'vmdhcp-agent' });
  try {
    const client = new ApiObjectClient<KubernetesObject>(connection, Resource.hostStatuses);
    const request = { change, subject, clusterAgent: options.clusterAgent, client: options.to };
    const plan = planBinding(request, await listAll(client));
    if (!plan.ok) throw new CommandError(plan.message, ExitCode.failed);
    if (plan.patch !== undefined) {
      const result = await client.patch({ key: plan.hostStatus }, plan.patch);
      if (!result.ok)
        throw new CommandError(result.message, result.reason === 'forbidden' ? ExitCode.noPermission : ExitCode.failed);
    }
    print(plan, options.json === true);
  } catch (error) {
    throw toHostStatusError(error);
  } finally {
    connection.close();
  }
}

/** What a person reads of a request for HostStatus objects that failed, with the exit code. */
export function toHostStatusError(error: unknown): unknown {
  if (!(error instanceof ApiRequestError)) return error;
  if (error.status === 404)
    return new CommandError(
      'this cluster has no HostStatus objects: name the right cluster (--kubeconfig, --kubecontext), or start the controller with --bare-metal (bareMetal.enabled of the chart)',
      ExitCode.failed,
      { cause: error },
    );
  return clusterRefusal(error, 'HostStatus objects');
}

function print(plan: Extract<BindingPlan, { ok: true }>, asJson: boolean): void {
  const { hostStatus, address, boundTo, patch } = plan;
  const changed = patch !== undefined;
  if (asJson) process.stdout.write(`${printableJson({ hostStatus, address, boundTo: boundTo ?? null, changed }, 2)}\n`);
  else process.stdout.write(`${address} ${describe(boundTo)} (HostStatus ${hostStatus}${changed ? '' : '; unchanged'})\n`);
}

function describe(boundTo: string | undefined): string {
  if (boundTo === undefined) return 'is bound if enableBindDhcpIP of its ClusterAgent is true';
  return boundTo === 'none' ? 'is bound to no client' : `is bound to ${boundTo}`;
}

/** Bindings of a ClusterAgent are annotations of objects; a pool of a pools file is named NAMESPACE/NAME. */
function refuseOfCluster(pool: string): void {
  if (pool.includes('/')) return;
  throw new CommandError(
    `the leases are those of ClusterAgent ${pool}, which has no pools file: omit --state, and name its cluster (--kubeconfig)`,
    ExitCode.failed,
  );
}

/** On a bare host, bindings belong in the pools file: it is written by a person, or by a tool of that person. */
async function printReservation(
  change: BindingRequest['change'],
  subject: HostSubject,
  { state, to, json }: BindOptions & { readonly state: string },
): Promise<void> {
  const text = subject.kind === 'address' ? formatIpv4Address(subject.address) : subject.macAddress;
  const leases = await readSavedLeases(state);
  const lease = leases.find(({ address, macAddress }) => address === text || macAddress === text);
  if (lease === undefined)
    throw new CommandError(`${state} has no lease of ${text}: vmdhcp-agent leases --state ${state} lists them`, ExitCode.failed);
  const { pool, address } = lease;
  refuseOfCluster(pool);
  const macAddress = to ?? lease.macAddress;
  if (json) process.stdout.write(`${printableJson({ pool, change, reservation: { macAddress, ipAddress: address } }, 2)}\n`);
  else if (change === 'bind')
    process.stdout.write(
      `# Add this to spec.ipv4Config.reservations of IPPool ${pool} in the pools file; the agent applies it without a restart.\n` +
        `- macAddress: ${macAddress}\n  ipAddress: ${address}\n`,
    );
  else
    process.stdout.write(
      `# Remove the reservation of ${macAddress} (${address}) from spec.ipv4Config.reservations of IPPool ${pool} in the pools file; the agent applies it without a restart.\n`,
    );
}
