/** Sends magic packets from this host. */
import dgram from 'node:dgram';
import { FrameSocket, openUdpSocket } from '@vmdhcp/linux-sockets';
import { ETHERTYPE_WAKE_ON_LAN } from '../packet/wake-frame.js';

export interface DatagramTarget {
  /** IPv4 address of a host, or a broadcast address. */
  readonly to: string;
  readonly port: number;
  /** Undefined: chosen by the route. */
  readonly interfaceName: string | undefined;
}

/** Resolves when the kernel has sent the datagram. Rejects with a SocketError, or an error of dgram. */
export async function sendDatagram(payload: Uint8Array, { to, port, interfaceName }: DatagramTarget): Promise<void> {
  const socket = dgram.createSocket('udp4');
  try {
    const where = interfaceName === undefined ? {} : { fd: openUdpSocket(interfaceName, 0) };
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind(where, resolve);
    });
    socket.setBroadcast(true);
    await new Promise<void>((resolve, reject) => {
      socket.send(payload, port, to, (error) => (error === null || error === undefined ? resolve() : reject(error)));
    });
  } finally {
    socket.close();
  }
}

/** Sends a frame to every host on the link. @throws SocketError */
export function sendFrame(payload: Uint8Array, interfaceName: string): void {
  const socket = new FrameSocket({ interfaceName, etherType: ETHERTYPE_WAKE_ON_LAN });
  try {
    socket.send(payload);
  } finally {
    socket.close();
  }
}
