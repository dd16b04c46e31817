import type { QueuedReply } from './reply-queue.js';

/**
 * Answers one packet: writes the reply to the start of `into` (1472 octets) and says where it goes, or undefined for no
 * reply. Must not throw. `packet` is valid only during the call.
 */
export type DhcpPacketHandler = (packet: Uint8Array, into: Buffer) => QueuedReply | undefined;
