/** Decides which HostStatus binds an address to a client, and how its annotation changes: a function of all HostStatus objects. */
import { formatIpv4Address, type MacAddress } from '@vmdhcp/dhcp-allocator/address';
import { BOUND_TO_ANNOTATION, BOUND_TO_NONE, RELEASE_LEASE_ANNOTATION } from '@vmdhcp/ippool-api/bare-metal/keys';
import type { KubernetesObject, MergePatch } from '@vmdhcp/kube-runtime';
import { parseHostStatusName } from '../host/host-name.js';
import { type ObservedHost, readHost } from '../host/read-host.js';
import type { HostSubject } from './host-subject.js';

/** The request of a person. */
export interface BindingRequest {
  /** `bind`: to a client for good. `unbind`: to none, whatever `enableBindDhcpIP` is. `by-switch`: `enableBindDhcpIP` decides. */
  readonly change: 'bind' | 'unbind' | 'by-switch';
  readonly subject: HostSubject;
  /** Limits it to hosts of this ClusterAgent; undefined: of any. */
  readonly clusterAgent: string | undefined;
  /** `bind`: the client; undefined: the one that has the address, or had it last. */
  readonly client: MacAddress | undefined;
}

/** The patch that binds an address to its host for good, or why there is none. */
export type BindingPlan =
  | {
      readonly ok: true;
      readonly hostStatus: string;
      readonly address: string;
      /** `none`; undefined if `enableBindDhcpIP` decides. */
      readonly boundTo: string | undefined;
      /** Undefined if nothing has to change. */
      readonly patch: MergePatch | undefined;
    }
  | { readonly ok: false; readonly message: string };

/** The change of one HostStatus, or why there is none. */
export function planBinding(request: BindingRequest, hostStatuses: readonly KubernetesObject[]): BindingPlan {
  const hosts = hostStatuses.flatMap(toNamedHost);
  const host = findHost(request, hosts);
  if (typeof host === 'string') return refuse(host);
  return request.change === 'bind'
    ? bind(host, request, hosts)
    : change(host, request.change === 'unbind' ? BOUND_TO_NONE : undefined);
}

/** The patch that ends a binding or a lease, or why there is none. */
export type HostReleasePlan =
  | {
      readonly ok: true;
      readonly hostStatus: string;
      readonly clusterAgent: string;
      readonly address: string;
      readonly client: MacAddress | undefined;
      /** False if no client has a lease of the address; it may be in quarantine. */
      readonly isLeased: boolean;
      readonly patch: MergePatch;
    }
  | { readonly ok: false; readonly message: string };

/**
 * The change of one HostStatus that ends the lease or the quarantine of its address, or why there is none. @param now - RFC 3339.
 */
export function planRelease(
  { subject, clusterAgent }: Pick<BindingRequest, 'subject' | 'clusterAgent'>,
  hostStatuses: readonly KubernetesObject[],
  now: string,
): HostReleasePlan {
  const host = findHost({ change: 'release', subject, clusterAgent }, hostStatuses.flatMap(toNamedHost));
  if (typeof host === 'string') return { ok: false, message: host };
  const { name: hostStatus, agent, ipAddress: address, macAddress: client, isActive } = host;
  const patch = { metadata: { annotations: { [RELEASE_LEASE_ANNOTATION]: now } } };
  return { ok: true, hostStatus, clusterAgent: agent, address, client, isLeased: isActive !== false, patch };
}

/**
 * True if the lease of this client has ended: its address has no lease, or another client has it. @param client - undefined if
 * not known.
 */
export function hasLeaseEnded(hostStatus: KubernetesObject | undefined, client: MacAddress | undefined): boolean {
  if (hostStatus === undefined) return true;
  const { isActive, macAddress } = readHost(hostStatus);
  return isActive === false || (client !== undefined && macAddress !== undefined && macAddress !== client);
}

/** Which hosts match, and for which purpose. */
interface HostRequest extends Pick<BindingRequest, 'subject' | 'clusterAgent'> {
  readonly change: BindingRequest['change'] | 'release';
}

/** The single host that matches, or why there is none. */
function findHost(request: HostRequest, hosts: readonly NamedHost[]): NamedHost | string {
  const found = hosts.filter((one) => isMeant(one, request));
  const [host, ...others] = oneOf(found, request);
  if (host === undefined) return describeMissing(request);
  if (others.length > 0) return describeSeveral([host, ...others]);
  if (host.mode === 'hostEndpoint')
    return `${host.ipAddress} is the address of a HostEndpoint, which no client gets: delete HostEndpoint first`;
  return host;
}

interface NamedHost extends ObservedHost {
  readonly agent: string;
  readonly ipAddress: string;
  readonly annotation: string | undefined;
}

/** From the name of the object, as its agent reads it. */
function toNamedHost(object: KubernetesObject): NamedHost[] {
  const named = parseHostStatusName(object.metadata.name);
  if (named === undefined) return [];
  const { clusterAgent: agent, address: ipAddress } = named;
  return [{ ...readHost(object), agent, ipAddress, annotation: object.metadata.annotations?.[BOUND_TO_ANNOTATION] }];
}

/** A binding is not a lease: `release` concerns the client that has the address, not the one that it is bound to. */
function isMeant(host: NamedHost, { change, subject, clusterAgent }: HostRequest): boolean {
  if (clusterAgent !== undefined && host.agent !== clusterAgent) return false;
  if (subject.kind === 'address') return host.ipAddress === formatIpv4Address(subject.address);
  return host.macAddress === subject.macAddress || (change !== 'release' && boundClient(host) === subject.macAddress);
}

/** If a client has several addresses: the bound ones are unbound, and the current one is bound or released. */
function oneOf(found: readonly NamedHost[], { subject, change }: HostRequest): readonly NamedHost[] {
  if (subject.kind === 'address' || found.length <= 1) return found;
  const isOfLease = change === 'bind' || change === 'release';
  const preferred = found.filter((host) => (isOfLease ? host.isActive === true : boundClient(host) === subject.macAddress));
  return preferred.length === 1 ? preferred : found;
}

function boundClient({ binding }: NamedHost): MacAddress | undefined {
  return binding.kind === 'bound' ? binding.macAddress : undefined;
}

function bind(host: NamedHost, { client }: BindingRequest, hosts: readonly NamedHost[]): BindingPlan {
  const macAddress = client ?? host.macAddress ?? boundClient(host);
  if (macAddress === undefined)
    return refuse(`HostStatus ${host.name} has no MAC address: give the one of its client with --to MAC`);
  const other = hosts.find((one) => one !== host && one.agent === host.agent && boundClient(one) === macAddress);
  if (other !== undefined)
    return refuse(`${macAddress} is bound to ${other.ipAddress} by HostStatus ${other.name}: unbind that address first`);
  return change(host, macAddress);
}

function change({ name, ipAddress, annotation }: NamedHost, boundTo: string | undefined): BindingPlan {
  const isSo = annotation === boundTo;
  const patch = { metadata: { annotations: { [BOUND_TO_ANNOTATION]: boundTo ?? null } } };
  return { ok: true, hostStatus: name, address: ipAddress, boundTo, patch: isSo ? undefined : patch };
}

function describeMissing({ subject, clusterAgent }: HostRequest): string {
  const whose = clusterAgent === undefined ? '' : ` of ClusterAgent ${clusterAgent}`;
  return subject.kind === 'address'
    ? `no HostStatus${whose} has the address ${formatIpv4Address(subject.address)}: it exists once a client got the address`
    : `no HostStatus${whose} has a client with the MAC address ${subject.macAddress}: it exists once the client got an address`;
}

function describeSeveral(found: readonly NamedHost[]): string {
  const names = found.map(({ name, ipAddress }) => `${name} (${ipAddress})`).join(', ');
  return `several hosts match: ${names}; name one by its address, or by --cluster-agent NAME`;
}

function refuse(message: string): BindingPlan {
  return { ok: false, message };
}
