import type { Netlink } from '../netlink/netlink.js';
import type { NetlinkRequest } from '../netlink/netlink-message.js';

const RTM_NEWLINK = 16;
const IFF_UP = 1;

/** `struct ifinfomsg` with one flag, and which flags change. */
export function bringUpRequest(interfaceIndex: number): NetlinkRequest {
  const body = Buffer.alloc(16);
  body.writeInt32LE(interfaceIndex, 4);
  body.writeUInt32LE(IFF_UP, 8);
  body.writeUInt32LE(IFF_UP, 12);
  return { type: RTM_NEWLINK, body, attributes: [] };
}

/** Brings an interface up; no error where it is up. @throws NetlinkError, SocketError */
export function bringUp(kernel: Netlink, interfaceIndex: number): void {
  kernel.request('bring the interface up', bringUpRequest(interfaceIndex));
}
