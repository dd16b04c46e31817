/** The interfaces of the network namespace. Source: rtnetlink(7), linux/if_link.h. */

import { Netlink } from '../netlink/netlink.js';
import { decodeAttributes, encodeUint32 } from '../netlink/netlink-attributes.js';
import type { NetlinkRequest } from '../netlink/netlink-message.js';

const RTM_GETLINK = 18;
const IFINFOMSG_LENGTH = 16;
const IFLA_IFNAME = 3;
const IFLA_MASTER = 10;
const IFLA_LINKINFO = 18;
const IFLA_INFO_KIND = 1;
const IFLA_EXT_MASK = 29;
const RTEXT_FILTER_SKIP_STATS = 8;
const ARPHRD_ETHER = 1;
const IFF_UP = 1;
const IFF_BROADCAST = 2;

/** An interface, up or down. */
export interface ListedLink {
  readonly interfaceName: string;
  readonly interfaceIndex: number;
  readonly isUp: boolean;
  /** True if it sends Ethernet frames, and has a broadcast address. */
  readonly isEthernet: boolean;
  /** `bridge`, `bond`, `vlan`, `veth`, `tun`, ...; undefined for a hardware interface, and for `lo`. */
  readonly kind: string | undefined;
  /** The index of the bridge or bond that it is a port of. */
  readonly masterIndex: number | undefined;
}

/** Every interface of the network namespace. @throws NetlinkError, SocketError */
export function listLinks(): ListedLink[] {
  return Netlink.shared()
    .list('list the interfaces', listLinksRequest())
    .flatMap((entry) => readLink(entry) ?? []);
}

/** A request to list every interface, without statistics. */
export function listLinksRequest(): Omit<NetlinkRequest, 'flags'> {
  return {
    type: RTM_GETLINK,
    body: Buffer.alloc(IFINFOMSG_LENGTH),
    attributes: [[IFLA_EXT_MASK, encodeUint32(RTEXT_FILTER_SKIP_STATS)]],
  };
}

/** The interface that an entry of the list describes; undefined for one that is cut off or has no name. */
export function readLink(entry: Buffer): ListedLink | undefined {
  if (entry.length < IFINFOMSG_LENGTH) return undefined;
  const values = decodeAttributes(entry.subarray(IFINFOMSG_LENGTH));
  const name = textOf(values.get(IFLA_IFNAME));
  if (name === undefined) return undefined;
  const flags = entry.readUInt32LE(8);
  const information = values.get(IFLA_LINKINFO);
  const master = values.get(IFLA_MASTER);
  return {
    interfaceName: name,
    interfaceIndex: entry.readInt32LE(4),
    isUp: (flags & IFF_UP) !== 0,
    isEthernet: entry.readUInt16LE(2) === ARPHRD_ETHER && (flags & IFF_BROADCAST) !== 0,
    kind: information === undefined ? undefined : textOf(decodeAttributes(information).get(IFLA_INFO_KIND)),
    masterIndex: master === undefined || master.length < 4 ? undefined : master.readUInt32LE(),
  };
}

/** Without the zero at its end. */
function textOf(value: Buffer | undefined): string | undefined {
  const text = value?.toString('latin1').replace(/\0.*$/s, '');
  return text === '' ? undefined : text;
}
