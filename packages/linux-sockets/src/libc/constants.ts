/** Values from the headers of Linux, the same on x64 and arm64. */

export const AF_INET = 2;
export const AF_INET6 = 10;
export const AF_PACKET = 17;
/** With close-on-exec (0x80000), so that no child process keeps a port open. */
export const SOCK_DGRAM = 2 | 0x80000;
export const SOCK_STREAM = 1 | 0x80000;
export const SOL_SOCKET = 1;
export const SO_REUSEADDR = 2;
export const SO_BROADCAST = 6;
export const SO_RCVBUF = 8;
export const SO_SNDBUF = 7;
export const SO_BINDTODEVICE = 25;
export const SO_ATTACH_FILTER = 26;
export const SO_SNDBUFFORCE = 32;
export const SO_RCVBUFFORCE = 33;
export const SOL_PACKET = 263;
export const PACKET_STATISTICS = 6;
export const MSG_DONTWAIT = 0x40;
export const LOCK_EX = 2;
export const LOCK_NB = 4;
export const ETHERTYPE_IPV4 = 0x0800;
/** Every protocol, and packets in both directions. */
export const ETHERTYPE_ALL = 0x0003;
