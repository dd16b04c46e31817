/** Sockets of Linux for tests and benches of this repository; not a stable interface. */
export { ArpSocket } from './arp-socket.js';
export { HEADERS_LENGTH, writeHeaders } from './frame-headers.js';
export * as libc from './libc.js';
export { MessageSlab } from './message-slab.js';
export { PacketSocket, type ReceivedFrame } from './packet-socket.js';
export { writeLinkName } from './reply-queue.js';
export { SocketError } from './socket-error.js';
