/** Values from the headers of Linux, the same on x64 and arm64. */

export const AF_INET = 2;
/** IPv6, as an address family. Source: socket(2). */
export const AF_INET6 = 10;
/** Frames of an interface, as an address family. Source: packet(7). */
export const AF_PACKET = 17;
/** With close-on-exec (0x80000), so that no child process keeps a port open. */
export const SOCK_DGRAM = 2 | 0x80000;
/** A connection, with close-on-exec. Source: socket(2). */
export const SOCK_STREAM = 1 | 0x80000;
/** The level of options of every socket. Source: socket(7). */
export const SOL_SOCKET = 1;
/** Option of a socket: its address may be in use by another one. Source: socket(7). */
export const SO_REUSEADDR = 2;
/** Option of a socket: it may send to broadcast addresses. Source: socket(7). */
export const SO_BROADCAST = 6;
/** Option of a socket: octets that may wait to be received. Source: socket(7). */
export const SO_RCVBUF = 8;
/** Option of a socket: octets that may wait to be sent. Source: socket(7). */
export const SO_SNDBUF = 7;
/** Option of a socket: only this interface. Source: socket(7). */
export const SO_BINDTODEVICE = 25;
/** Option of a socket: a filter that the kernel runs on each packet. Source: socket(7). */
export const SO_ATTACH_FILTER = 26;
/** The same as `SO_SNDBUF`, above the limit of the system. Source: socket(7). */
export const SO_SNDBUFFORCE = 32;
/** The same as `SO_RCVBUF`, above the limit of the system. Source: socket(7). */
export const SO_RCVBUFFORCE = 33;
/** The level of options of packet sockets. Source: packet(7). */
export const SOL_PACKET = 263;
/** Option of a packet socket: how many frames came, and how many were dropped. Source: packet(7). */
export const PACKET_STATISTICS = 6;
/** Returns at once if there is nothing to receive or no room to send. Source: recv(2). */
export const MSG_DONTWAIT = 0x40;
/** An exclusive lock. Source: flock(2). */
export const LOCK_EX = 2;
/** Fails instead of waiting for a lock. Source: flock(2). */
export const LOCK_NB = 4;
/** The EtherType of IPv4. Source: linux/if_ether.h. */
export const ETHERTYPE_IPV4 = 0x0800;
/** Every protocol, and packets in both directions. */
export const ETHERTYPE_ALL = 0x0003;
