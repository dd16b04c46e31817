import type { ReleaseAnswer } from '@vmdhcp/agent-process';
import { askControl, stateControlPath } from '@vmdhcp/agent-process';
import { describeNoLease, type HostReleasePlan, hasLeaseEnded, planRelease } from '@vmdhcp/bare-metal';
import type { HostSubject } from '@vmdhcp/bare-metal/host-subject';
import { formatIpv4Address, type Ipv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type ApiResource, formatTime, type KubernetesObject, listAll } from '@vmdhcp/kube-runtime';
import { ApiConnection, ApiObjectClient, ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode, printableJson } from '@vmdhcp/service-process';
import { toHostStatusError } from './bind-host.js';
import { connectToCluster } from './connect-to-cluster.js';
import { readSavedLeases } from './read-saved-leases.js';

const WAIT_MS = 10_000;
const LOOK_INTERVAL_MS = 250;

export interface ReleaseOptions {
  readonly clusterAgent?: string;
  readonly state?: string;
  readonly kubeconfig?: string;
  readonly kubecontext?: string;
  readonly json?: boolean;
}

type PlannedRelease = Extract<HostReleasePlan, { readonly ok: true }>;

/** The result, as it is printed. */
interface Released {
  readonly address: string;
  /** Absent if there was no lease. */
  readonly macAddress?: string | undefined;
  /** The address was in quarantine, and no longer is. */
  readonly wasQuarantined?: true | undefined;
  /** The agent was told to end the quarantine of the address, if it is in one. */
  readonly mayBeQuarantined?: true;
  readonly changed: boolean;
}

/** Ends the lease of a host that is gone, and waits until it has ended. @throws CommandError if it stays. */
export async function releaseLease(subject: HostSubject, options: ReleaseOptions): Promise<void> {
  const { state, json = false } = options;
  const released = await (state === undefined ? releaseInCluster(subject, options) : releaseOnHost(subject, state));
  process.stdout.write(`${json ? printableJson(released, 2) : describeReleased(released)}\n`);
}

function describeReleased({ address, macAddress, wasQuarantined, mayBeQuarantined, changed }: Released): string {
  if (wasQuarantined) return `the quarantine of ${address} has ended`;
  if (mayBeQuarantined)
    return `no client has a lease of ${address}; if it is in quarantine, that ends now unless a host answers for the address`;
  if (!changed) return `no client has a lease of ${address}, and it is not in quarantine`;
  return `the lease of ${address} has ended${macAddress === undefined ? '' : ` (${macAddress})`}`;
}

async function releaseInCluster(subject: HostSubject, options: ReleaseOptions): Promise<Released> {
  const connection = new ApiConnection(await connectToCluster(options), { userAgent: 'vmdhcp-agent' });
  try {
    const client = new ApiObjectClient<KubernetesObject>(connection, Resource.hostStatuses);
    const request = { subject, clusterAgent: options.clusterAgent };
    const plan = planRelease(request, await listAll(client), formatTime(Date.now()));
    if (!plan.ok) throw new CommandError(plan.message, ExitCode.failed);
    const { hostStatus: key, address, client: macAddress, isLeased, patch } = plan;
    const noLease = await whyNoLease(connection, plan);
    if (noLease !== undefined) throw new CommandError(noLease, ExitCode.failed);
    const result = await client.patch({ key }, patch);
    if (!result.ok)
      throw new CommandError(result.message, result.reason === 'forbidden' ? ExitCode.noPermission : ExitCode.failed);
    if (!isLeased) return { address, macAddress, mayBeQuarantined: true, changed: false };
    await waitForEnd(client, plan);
    return { address, macAddress, changed: true };
  } catch (error) {
    throw toHostStatusError(error);
  } finally {
    connection.close();
  }
}

/** Undefined if there may be one, or the objects that show it cannot be read. */
async function whyNoLease(connection: ApiConnection, plan: PlannedRelease): Promise<string | undefined> {
  const list = (resource: ApiResource) => listAll(new ApiObjectClient<KubernetesObject>(connection, resource));
  try {
    const clusterAgents = await list(Resource.clusterAgents);
    return describeNoLease(plan, { clusterAgents, hostEndpoints: await list(Resource.hostEndpoints) });
  } catch (error) {
    if (error instanceof ApiRequestError && error.status === 403) return undefined;
    throw error;
  }
}

async function waitForEnd(
  client: ApiObjectClient<KubernetesObject>,
  { hostStatus, address, client: macAddress }: PlannedRelease,
): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  do {
    if (hasLeaseEnded(await client.get(hostStatus), macAddress)) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
  } while (performance.now() < deadline);
  throw new CommandError(
    `the lease of ${address} has not ended: its host still answers, or no agent of the ClusterAgent is leader; kubectl describe hoststatus ${hostStatus} has the reason (LeaseKept)`,
    ExitCode.failed,
  );
}

async function releaseOnHost(subject: HostSubject, state: string): Promise<Released> {
  const address = formatIpv4Address(await addressOf(subject, state));
  let text = '';
  for await (const part of askControl(stateControlPath(state), { ask: 'release', address }))
    text += Buffer.from(part).toString('utf8');
  const { kept, macAddress, wasQuarantined } = JSON.parse(text) as ReleaseAnswer;
  if (kept !== undefined) throw new CommandError(kept, ExitCode.failed);
  return { address, macAddress, wasQuarantined, changed: macAddress !== undefined || wasQuarantined === true };
}

async function addressOf(subject: HostSubject, state: string): Promise<Ipv4Address> {
  if (subject.kind === 'address') return subject.address;
  const lease = (await readSavedLeases(state)).find(({ macAddress }) => macAddress === subject.macAddress);
  const address = lease === undefined ? undefined : parseIpv4Address(lease.address);
  if (address === undefined)
    throw new CommandError(
      `${state} has no lease of ${subject.macAddress}: vmdhcp-agent leases --state ${state} lists them`,
      ExitCode.failed,
    );
  return address;
}
