/** The condition RouterReady of a pool with IPv6 addresses: what its machines hear from the routers of their network. */
import { formatIpv6Address, parseIpv6Address } from '@vmdhcp/dhcp-allocator/address';
import { type ConditionOf, IPPoolConditionType, type ReasonAt, type ReportedRouter } from '@vmdhcp/ippool-api';
import { describeNames, readConditions } from '@vmdhcp/kube-runtime';
import type { PoolForAgents } from './pool-for-agents.js';

/** Which hosts may be routers of the network of a pool. */
export interface ExpectedRouters {
  /** Their addresses; undefined for each host that is not a machine of the pool. */
  readonly addresses: readonly string[] | undefined;
  /** True if agents advertise them, as they send no Router Advertisements. */
  readonly areSilent: boolean;
  /** True if the pool records an address for this MAC address. */
  readonly isMachine: (macAddress: string) => boolean;
}

/** Empty if the routers are not known, or do not matter. @param found - by the leader of the agents. */
export function routerConditions(
  found: readonly ReportedRouter[] | undefined,
  { network }: Pick<PoolForAgents, 'network'>,
  expected: ExpectedRouters | undefined,
): ConditionOf<'IPPool'>[] {
  if (found === undefined || expected === undefined) return [];
  const rogues = found.filter((router) => !mayBeRouter(router, found, expected));
  if (rogues.length > 0) {
    return notReady('RogueRouter', `${describeRogues(network, rogues, expected.areSilent)}${describeOthers(found, rogues)}`);
  }
  const routers = found.filter(({ isDefaultRouter }) => isDefaultRouter);
  if (routers.length === 0 && expected.addresses?.length !== 0) {
    return notReady('NoRouter', describeNone(network, expected));
  }
  const unmanaged = routers.filter(({ isManaged }) => !isManaged);
  if (unmanaged.length > 0) {
    const message = `a router of network ${network} says that addresses do not come by DHCPv6 (M=0): ${describeRouters(unmanaged)}; set its flags M and O`;
    return notReady('RouterSaysNoManaged', message);
  }
  return [{ type: IPPoolConditionType.routerReady, status: 'True' }];
}

/** The conditions with RouterReady as unknown, if it was known before. @param known - those of the agents; empty if nothing is known about them. */
export function withLastRouterReady(known: readonly ConditionOf<'IPPool'>[], status: unknown): readonly ConditionOf<'IPPool'>[] {
  const type = IPPoolConditionType.routerReady;
  const isOver = known.length > 0 && !known.some((one) => one.type === type);
  const wasKnown = readConditions(status).some((one) => one.type === type);
  return isOver && wasKnown ? [...known, { type, status: 'Unknown' }] : known;
}

/** A machine that takes the address of a named router beside it is not that router. */
function mayBeRouter(
  { address, macAddress }: ReportedRouter,
  found: readonly ReportedRouter[],
  { addresses, isMachine }: ExpectedRouters,
): boolean {
  if (addresses === undefined) return !isMachine(macAddress);
  if (!addresses.some((one) => canonical(one) === canonical(address))) return false;
  return !isMachine(macAddress) || found.every((other) => other.address !== address || isMachine(other.macAddress));
}

function canonical(text: string): string {
  const address = parseIpv6Address(text);
  return address === undefined ? text : formatIpv6Address(address);
}

/** To list a router means to make a default route to it where agents advertise routers. */
function describeRogues(network: string, rogues: readonly ReportedRouter[], areSilent: boolean): string {
  const what = areSilent ? 'answers as a router of it, or sends' : 'sends';
  const remedy = areSilent
    ? 'if it is a router, let all routers send them, set spec.ipv6Config.routerAdvertisements to Assist, and list each of them in routers'
    : 'list each router of the network in spec.ipv6Config.routers';
  return `on network ${network}, a host that should not be a router ${what} IPv6 Router Advertisements: ${describeRouters(rogues)}; switch that off there, or ${remedy}`;
}

function describeNone(network: string, { addresses = [], areSilent }: ExpectedRouters): string {
  const then = 'machines reach nothing beyond the network by IPv6';
  if (areSilent)
    return `no router of network ${network} answers as a router at ${describeNames(addresses)}, to which agents advertise a default route: ${then}; see that it is up, has that address there and forwards IPv6, or correct spec.ipv6Config.routers`;
  return `no IPv6 router of network ${network} offers a default route: ${then}; let its router send Router Advertisements (if it cannot, name it in spec.ipv6Config.routers and set routerAdvertisements to DefaultRoute), or set routers to [] if it should have none`;
}

/** A list that names one router must name all. */
function describeOthers(found: readonly ReportedRouter[], rogues: readonly ReportedRouter[]): string {
  const others = found.filter((one) => one.isDefaultRouter && !rogues.includes(one));
  return others.length === 0 ? '' : ` (others that are heard: ${describeRouters(others)})`;
}

function describeRouters(routers: readonly ReportedRouter[]): string {
  return describeNames(routers.map(({ address, macAddress }) => `${address} (${macAddress})`));
}

function notReady(reason: ReasonAt<'IPPool RouterReady=False'>, message: string): ConditionOf<'IPPool'>[] {
  return [{ type: IPPoolConditionType.routerReady, status: 'False', reason, message }];
}
