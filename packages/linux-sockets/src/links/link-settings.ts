/** The settings of an interface for one family, IPv4 or IPv6, over the routing socket. Source: rtnetlink(7), linux/if_link.h. */
import type * as libc from '../libc/libc.js';
import type { Netlink } from '../netlink/netlink.js';
import { decodeAttributes, encodeAttributes, encodeUint32, type NetlinkAttribute } from '../netlink/netlink-attributes.js';

const RTM_GETLINK = 18;
const RTM_SETLINK = 19;
const IFLA_AF_SPEC = 26;
const IFLA_EXT_MASK = 29;
const RTEXT_FILTER_SKIP_STATS = 8;
const IFINFOMSG_LENGTH = 16;

type Family = typeof libc.AF_INET | typeof libc.AF_INET6;

/** The settings by type; empty if the interface has none for the family. @throws NetlinkError */
export function readLinkSettings(kernel: Netlink, interfaceIndex: number, family: Family): Map<number, Buffer> {
  const attributes: NetlinkAttribute[] = [[IFLA_EXT_MASK, encodeUint32(RTEXT_FILTER_SKIP_STATS)]];
  const [link] = kernel.request('read the settings of the interface', {
    type: RTM_GETLINK,
    body: linkBody(interfaceIndex),
    attributes,
  });
  const families = attributesIn(link?.subarray(IFINFOMSG_LENGTH)).get(IFLA_AF_SPEC);
  return attributesIn(attributesIn(families).get(family));
}

/** @throws NetlinkError */
export function writeLinkSetting(kernel: Netlink, interfaceIndex: number, [family, setting]: [Family, NetlinkAttribute]): void {
  const attributes: NetlinkAttribute[] = [[IFLA_AF_SPEC, encodeAttributes([[family, encodeAttributes([setting])]])]];
  kernel.request('change the settings of the interface', { type: RTM_SETLINK, body: linkBody(interfaceIndex), attributes });
}

function linkBody(interfaceIndex: number): Buffer {
  const body = Buffer.alloc(IFINFOMSG_LENGTH);
  body.writeInt32LE(interfaceIndex, 4);
  return body;
}

function attributesIn(octets: Buffer | undefined): Map<number, Buffer> {
  return octets === undefined ? new Map() : decodeAttributes(octets);
}
