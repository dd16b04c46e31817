import type { Ipv4Number } from '../ethernet/mac-address.js';

/**
 * How a datagram leaves:
 * - `routed`: by the UDP socket; the kernel finds the next hop, by ARP where that is on the link.
 * - `framed`: in an Ethernet frame to a hardware address, without ARP. A process that may not send frames sends it as `routed`.
 * - `framed-or-broadcast`: the same, to a host that does not answer ARP for the address yet. A process that may not send frames
 *   broadcasts it.
 */
export type Delivery = 'routed' | 'framed' | 'framed-or-broadcast';

/** The destination of a UDP datagram whose payload was written elsewhere. */
export interface OutgoingDatagram {
  /** Octets of the payload, up to 1472. */
  readonly length: number;
  readonly delivery: Delivery;
  readonly destinationAddress: Ipv4Number;
  readonly destinationPort: number;
  /** The source address of a frame. In a routed datagram the kernel uses the address of the interface. */
  readonly sourceAddress: Ipv4Number;
  /** Destination of frames, six octets. */
  readonly hardwareAddress: Uint8Array;
}
