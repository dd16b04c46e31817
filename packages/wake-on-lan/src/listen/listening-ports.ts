/** What the listeners need from their environment. */
import type { ListenableLink } from './listenable-link.js';

/** Where a listener receives: a UDP port of an interface, or frames with EtherType 0x0842. */
export type ListeningPlace =
  | { readonly interfaceName: string; readonly way: 'udp'; readonly port: number }
  | { readonly interfaceName: string; readonly way: 'ethernet' };

/** Who sent a packet. */
export interface MagicPacketSender {
  /** IPv4 address, or MAC address of a frame. */
  readonly address: string;
  /** UDP port; 0 for a frame. */
  readonly port: number;
}

/** Handles one payload. `sender` is read only when it is asked for; both are valid only during the call. */
export type PayloadHandler = (payload: Uint8Array, place: ListeningPlace, sender: () => MagicPacketSender) => void;

/** An open socket of one interface. */
export interface WakeSocket {
  /** The interface when the socket was opened. */
  readonly interfaceIndex: number;
  close(): void;
}

export interface ListeningPorts {
  /** Every interface of the host. Throws if the kernel refuses. */
  readonly listLinks: () => readonly ListenableLink[];
  /** Rejects if the place is in use, or not permitted. `onError` is called if the socket fails later. */
  readonly open: (place: ListeningPlace, onPayload: PayloadHandler, onError: (error: Error) => void) => Promise<WakeSocket>;
  /** The changes. */
  readonly observe: (event: ListeningEvent) => void;
}

/** What happens to the listeners. */
export type ListeningEvent =
  | { readonly kind: 'listening'; readonly place: ListeningPlace }
  /** Reported once for each message; opening is tried again. */
  | { readonly kind: 'listener-failed'; readonly place: ListeningPlace; readonly error: Error }
  /** The interface is gone, is down, or was replaced. */
  | { readonly kind: 'interface-lost'; readonly interfaceName: string }
  | { readonly kind: 'interface-missing'; readonly interfaceName: string }
  | { readonly kind: 'interfaces-not-listed'; readonly error: Error };

/** `eth1 UDP port 9`, `eth1 EtherType 0x0842` */
export function describePlace(place: ListeningPlace): string {
  return place.way === 'udp' ? `${place.interfaceName} UDP port ${place.port}` : `${place.interfaceName} EtherType 0x0842`;
}
