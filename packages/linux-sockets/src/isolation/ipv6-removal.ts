/**
 * Removes IPv6 from an interface. The setting `disable_ipv6` would do, but the routing socket does not offer it, and `/proc/sys` is read-only in a
 * container. Source: rtnetlink(7), linux/if_link.h.
 */
import * as libc from '../libc/libc.js';
import { readLinkSettings, writeLinkSetting } from '../links/link-settings.js';
import type { Netlink } from '../netlink/netlink.js';
import { decodeAttributes, encodeUint32, type NetlinkAttribute } from '../netlink/netlink-attributes.js';
import { NetlinkError } from '../netlink/netlink-error.js';
import type { NetlinkRequest } from '../netlink/netlink-message.js';

const RTM_DELADDR = 21;
const RTM_GETADDR = 22;
const RTM_DELROUTE = 25;
const RTM_GETROUTE = 26;
const IFLA_INET6_ADDR_GEN_MODE = 8;
const IN6_ADDR_GEN_MODE_NONE = 1;
const IFADDRMSG_LENGTH = 8;
const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const RTMSG_LENGTH = 12;
const RTMSG_FLAGS_AT = 8;
const RTN_UNICAST = 1;
const RTA_DST = 1;
const RTA_OIF = 4;
const RTA_GATEWAY = 5;
const RTA_PRIORITY = 6;
const RTA_TABLE = 15;
const NAMES_ADDRESS = [IFA_ADDRESS, IFA_LOCAL];
const NAMES_ROUTE = [RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_PRIORITY, RTA_TABLE];
/** The kernel has removed it since it was listed, by itself or together with the address. */
const GONE: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'ESRCH']);

/**
 * Removes the IPv6 addresses and routes of an interface, and keeps the kernel from creating new ones. Returns what was removed.
 * @throws NetlinkError, SocketError
 */
export function removeIpv6(kernel: Netlink, interfaceIndex: number): string[] {
  const mode = readLinkSettings(kernel, interfaceIndex, libc.AF_INET6).get(IFLA_INET6_ADDR_GEN_MODE);
  // A kernel without IPv6.
  if (mode === undefined) return [];
  const makesAddresses = mode.readUInt8() !== IN6_ADDR_GEN_MODE_NONE;
  if (makesAddresses)
    writeLinkSetting(kernel, interfaceIndex, [libc.AF_INET6, [IFLA_INET6_ADDR_GEN_MODE, Buffer.of(IN6_ADDR_GEN_MODE_NONE)]]);
  const addresses = addressesOf(kernel, interfaceIndex).filter((request) => isRemoved(kernel, 'an IPv6 address', request));
  const routes = routesOf(kernel, interfaceIndex).filter((request) => isRemoved(kernel, 'an IPv6 route', request));
  return [
    ...(makesAddresses ? ['IPv6 addresses that the kernel makes'] : []),
    ...(addresses.length > 0 ? ['IPv6 addresses'] : []),
    ...(routes.length > 0 ? ['IPv6 routes'] : []),
  ];
}

/** As requests to delete them. */
function addressesOf(kernel: Netlink, interfaceIndex: number): NetlinkRequest[] {
  const body = Buffer.alloc(IFADDRMSG_LENGTH);
  body.writeUInt8(libc.AF_INET6, 0);
  body.writeUInt32LE(interfaceIndex, 4);
  return kernel
    .list('list IPv6 addresses', { type: RTM_GETADDR, body, attributes: [] })
    .filter((entry) => entry.readUInt8(0) === libc.AF_INET6 && entry.readUInt32LE(4) === interfaceIndex)
    .map((entry) => toRequest(RTM_DELADDR, entry, { length: IFADDRMSG_LENGTH, names: NAMES_ADDRESS }));
}

/** As requests to delete them, without multicast routes, which belong to the interface itself and come back whenever it is brought up. */
function routesOf(kernel: Netlink, interfaceIndex: number): NetlinkRequest[] {
  const body = Buffer.alloc(RTMSG_LENGTH);
  body.writeUInt8(libc.AF_INET6, 0);
  return kernel
    .list('list IPv6 routes', { type: RTM_GETROUTE, body, attributes: [[RTA_OIF, encodeUint32(interfaceIndex)]] })
    .filter((entry) => entry.readUInt8(0) === libc.AF_INET6 && entry.readUInt8(7) === RTN_UNICAST)
    .map((entry) => toRequest(RTM_DELROUTE, entry, { length: RTMSG_LENGTH, names: NAMES_ROUTE }))
    .filter(({ attributes }) => attributes.some(([type, value]) => type === RTA_OIF && value.readUInt32LE() === interfaceIndex))
    .map((request) => {
      request.body.writeUInt32LE(0, RTMSG_FLAGS_AT);
      return request;
    });
}

/** The fields of a list entry identify it in the request to delete it. */
function toRequest(
  type: number,
  entry: Buffer,
  { length, names }: { readonly length: number; readonly names: readonly number[] },
): NetlinkRequest {
  const attributes: NetlinkAttribute[] = [...decodeAttributes(entry.subarray(length))].filter(([name]) => names.includes(name));
  return { type, body: Buffer.from(entry.subarray(0, length)), attributes };
}

function isRemoved(kernel: Netlink, what: string, request: NetlinkRequest): boolean {
  try {
    kernel.request(`remove ${what}`, request);
    return true;
  } catch (error) {
    if (error instanceof NetlinkError && GONE.has(error.code)) return false;
    throw error;
  }
}
