/**
 * Kernel settings of an interface for IPv4: the settings in `/proc/sys/net/ipv4/conf/<interface>`, read and written over the routing socket, because
 * `/proc/sys` is read-only in a container. Source: linux/ip.h (the numbers), Documentation/networking/ip-sysctl.rst (what they mean).
 */
import * as libc from '../libc/libc.js';
import type { Netlink } from '../netlink/netlink.js';
import { decodeAttributes, encodeAttributes, encodeUint32, type NetlinkAttribute } from '../netlink/netlink-attributes.js';
import { readLinkSettings, writeLinkSetting } from './link-settings.js';

const RTM_GETNETCONF = 82;
const IFLA_INET_CONF = 1;
const NETCONFA_IFINDEX = 1;
const NETCONFA_RP_FILTER = 3;
const NETCONFA_IFINDEX_ALL = 0xffffffff;
const NETCONFMSG_LENGTH = 4;

/** `IPV4_DEVCONF_...` */
const NUMBERS = {
  forwarding: 1,
  proxy_arp: 3,
  accept_redirects: 4,
  send_redirects: 6,
  rp_filter: 8,
  accept_source_route: 9,
  arp_filter: 13,
  arp_announce: 18,
  arp_ignore: 19,
  accept_local: 23,
  proxy_arp_pvlan: 25,
  route_localnet: 26,
} as const;

export type Ipv4Setting = keyof typeof NUMBERS;
export type Ipv4Settings = Readonly<Record<Ipv4Setting, number>>;

/** @throws NetlinkError, or Error if the kernel does not report them. */
export function readIpv4Settings(kernel: Netlink, interfaceIndex: number): Ipv4Settings {
  const values = readLinkSettings(kernel, interfaceIndex, libc.AF_INET).get(IFLA_INET_CONF);
  if (values === undefined) throw new Error('cannot read the settings of the interface: the kernel does not report them');
  const entries = Object.entries(NUMBERS).map(([name, number]) => [name, values.readUInt32LE((number - 1) * 4)]);
  return Object.fromEntries(entries) as Ipv4Settings;
}

/** @throws NetlinkError */
export function writeIpv4Settings(kernel: Netlink, interfaceIndex: number, settings: Partial<Ipv4Settings>): void {
  const values = Object.entries(settings).map(([name, value]) => [NUMBERS[name as Ipv4Setting], encodeUint32(value)] as const);
  writeLinkSetting(kernel, interfaceIndex, [libc.AF_INET, [IFLA_INET_CONF, encodeAttributes(values)]]);
}

/** `conf/all/rp_filter`: an interface checks source addresses as strictly as this setting or its own setting, whichever is higher. */
export function readSourceCheckOfAll(kernel: Netlink): number {
  const body = Buffer.alloc(NETCONFMSG_LENGTH);
  body.writeUInt8(libc.AF_INET, 0);
  const attributes: NetlinkAttribute[] = [[NETCONFA_IFINDEX, encodeUint32(NETCONFA_IFINDEX_ALL)]];
  const [answer] = kernel.request('read the settings of all interfaces', { type: RTM_GETNETCONF, body, attributes });
  const values = decodeAttributes(answer?.subarray(NETCONFMSG_LENGTH) ?? Buffer.alloc(0));
  return values.get(NETCONFA_RP_FILTER)?.readUInt32LE() ?? 0;
}
