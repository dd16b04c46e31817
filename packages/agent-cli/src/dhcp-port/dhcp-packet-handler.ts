import type { ReplyDestination } from '@vmdhcp/dhcp-allocator';

/** A reply that was written, and where it goes. */
export interface QueuedReply {
  /** Octets that were written. */
  readonly length: number;
  readonly destination: ReplyDestination;
  /** Source of the frame. */
  readonly serverAddress: number;
  /** chaddr: six octets. */
  readonly hardwareAddress: Uint8Array;
  /**
   * True: the client is on the link, so a unicast reply goes in a frame to its MAC address where frames can be sent. The kernel would ask
   * for that address by ARP, and keep room for it and for the reply for seconds where a message names an address that is not there.
   */
  readonly isOnLink: boolean;
}

/**
 * Answers one packet: writes the reply to the start of `into` (1472 octets) and returns where it goes, or undefined for no
 * reply. Must not throw. `packet` is valid only during the call.
 */
export type DhcpPacketHandler = (packet: Uint8Array, into: Uint8Array) => QueuedReply | undefined;
