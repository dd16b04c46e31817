/**
 * Rules by which the kernel finds the route of a packet, and routes in separate tables. Adding an existing rule or route, and deleting a missing one,
 * is not an error. Source: ip-rule(8), linux/fib_rules.h, linux/rtnetlink.h.
 */
import * as libc from '../libc/libc.js';
import type { Netlink } from '../netlink/netlink.js';
import { encodeName, encodeUint32, ipv4, type NetlinkAttribute } from '../netlink/netlink-attributes.js';
import { NetlinkError } from '../netlink/netlink-error.js';
import { type NetlinkRequest, NLM_F_CREATE, NLM_F_EXCL } from '../netlink/netlink-message.js';

/** Addresses of the host itself. */
export const TABLE_LOCAL = 255;
export const TABLE_MAIN = 254;

const RTM_NEWROUTE = 24;
const RTM_DELROUTE = 25;
const RTM_NEWRULE = 32;
const RTM_DELRULE = 33;
const CREATE_NEW = NLM_F_CREATE | NLM_F_EXCL;
const FRA_DST = 1;
const FRA_SRC = 2;
const FRA_IIFNAME = 3;
const FRA_PRIORITY = 6;
const FRA_TABLE = 15;
const FR_ACT_TO_TBL = 1;
const FR_ACT_BLACKHOLE = 6;
const RTA_DST = 1;
const RTA_OIF = 4;
const RTA_TABLE = 15;
const RTPROT_KERNEL = 2;
const RTPROT_STATIC = 4;
const RT_SCOPE_LINK = 253;
const RTN_UNICAST = 1;

export interface RoutingRule {
  readonly family: typeof libc.AF_INET | typeof libc.AF_INET6;
  /** The kernel tries rules in the order of these numbers. */
  readonly priority: number;
  /** Only for packets that came in on this interface. */
  readonly incomingInterface?: string;
  /** Only for packets from this IPv4 address. */
  readonly from?: number;
  /** Only for packets to this IPv4 address. */
  readonly to?: number;
  /** The table to look in, or `drop`: the packet is dropped without an ICMP message. */
  readonly action: number | 'drop';
}

/** A route to hosts on the link of an interface. */
export interface LinkRoute {
  readonly table: number;
  readonly interfaceIndex: number;
  /** Absent for the default route. */
  readonly destination?: { readonly address: number; readonly prefixLength: number };
  /** True for a route that the kernel added together with an address. */
  readonly isAddedByKernel?: boolean;
}

/** @throws NetlinkError */
export function addRule(kernel: Netlink, rule: RoutingRule): boolean {
  return unless('EEXIST', () => kernel.request('add a routing rule', addRuleRequest(rule)));
}

/** @throws NetlinkError */
export function deleteRule(kernel: Netlink, rule: RoutingRule): boolean {
  return unless('ENOENT', () => kernel.request('delete a routing rule', ruleRequest(RTM_DELRULE, rule)));
}

/** @throws NetlinkError */
export function addRoute(kernel: Netlink, route: LinkRoute): boolean {
  return unless('EEXIST', () => kernel.request('add a route', addRouteRequest(route)));
}

/** @throws NetlinkError */
export function deleteRoute(kernel: Netlink, route: LinkRoute): boolean {
  return unless('ESRCH', () => kernel.request('delete a route', routeRequest(RTM_DELROUTE, route)));
}

/** True if it made a change; false if the kernel reports with this error that none was needed. */
function unless(code: string, change: () => void): boolean {
  try {
    change();
    return true;
  } catch (error) {
    if (error instanceof NetlinkError && error.code === code) return false;
    throw error;
  }
}

/** A request to add a rule; it fails with EEXIST if the rule exists. */
export function addRuleRequest(rule: RoutingRule): NetlinkRequest {
  return ruleRequest(RTM_NEWRULE, rule);
}

function ruleRequest(type: number, { family, priority, incomingInterface, from, to, action }: RoutingRule): NetlinkRequest {
  const [kind, table] = action === 'drop' ? [FR_ACT_BLACKHOLE, undefined] : [FR_ACT_TO_TBL, action];
  const body = Buffer.alloc(12);
  body.writeUInt8(family, 0);
  body.writeUInt8(to === undefined ? 0 : 32, 1);
  body.writeUInt8(from === undefined ? 0 : 32, 2);
  body.writeUInt8(kind, 7);
  const attributes = [
    ...attribute(FRA_PRIORITY, encodeUint32, priority),
    ...attribute(FRA_DST, ipv4, to),
    ...attribute(FRA_SRC, ipv4, from),
    ...attribute(FRA_IIFNAME, encodeName, incomingInterface),
    ...attribute(FRA_TABLE, encodeUint32, table),
  ];
  return { type, flags: type === RTM_NEWRULE ? CREATE_NEW : 0, body, attributes };
}

function attribute<Value>(type: number, encode: (value: Value) => Buffer, value: Value | undefined): NetlinkAttribute[] {
  return value === undefined ? [] : [[type, encode(value)]];
}

/** A request to add a route; it fails with EEXIST if the route exists. */
export function addRouteRequest(route: LinkRoute): NetlinkRequest {
  return routeRequest(RTM_NEWROUTE, route);
}

function routeRequest(type: number, { table, interfaceIndex, destination, isAddedByKernel = false }: LinkRoute): NetlinkRequest {
  const body = Buffer.alloc(12);
  body.writeUInt8(libc.AF_INET, 0);
  body.writeUInt8(destination?.prefixLength ?? 0, 1);
  body.writeUInt8(isAddedByKernel ? RTPROT_KERNEL : RTPROT_STATIC, 5);
  body.writeUInt8(RT_SCOPE_LINK, 6);
  body.writeUInt8(RTN_UNICAST, 7);
  const attributes = [
    ...attribute(RTA_TABLE, encodeUint32, table),
    ...attribute(RTA_OIF, encodeUint32, interfaceIndex),
    ...attribute(RTA_DST, ipv4, destination?.address),
  ];
  return { type, flags: type === RTM_NEWROUTE ? CREATE_NEW : 0, body, attributes };
}
