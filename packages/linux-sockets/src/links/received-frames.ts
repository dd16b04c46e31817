/** How many frames an interface has received. Source: rtnetlink(7), linux/if_link.h. */
import type { Netlink } from '../netlink/netlink.js';
import { decodeAttributes } from '../netlink/netlink-attributes.js';
import type { NetlinkRequest } from '../netlink/netlink-message.js';

const RTM_GETLINK = 18;
const IFINFOMSG_LENGTH = 16;
const IFLA_STATS64 = 23;

/**
 * Frames of other hosts since the interface is there: what is sent on it does not count. Undefined: the kernel does not report them.
 *
 * @throws NetlinkError where there is no such interface
 */
export function readReceivedFrames(kernel: Netlink, interfaceIndex: number): number | undefined {
  const [link] = kernel.request('read the statistics of the interface', receivedFramesRequest(interfaceIndex));
  return link && framesIn(link);
}

export function receivedFramesRequest(interfaceIndex: number): NetlinkRequest {
  const body = Buffer.alloc(IFINFOMSG_LENGTH);
  body.writeInt32LE(interfaceIndex, 4);
  return { type: RTM_GETLINK, body, attributes: [] };
}

/** `struct rtnl_link_stats64` begins with the number of packets that were received. */
export function framesIn(link: Buffer): number | undefined {
  const statistics =
    link.length < IFINFOMSG_LENGTH ? undefined : decodeAttributes(link.subarray(IFINFOMSG_LENGTH)).get(IFLA_STATS64);
  return statistics === undefined || statistics.length < 8 ? undefined : Number(statistics.readBigUInt64LE(0));
}
