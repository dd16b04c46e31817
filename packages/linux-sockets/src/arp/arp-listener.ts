import { type EthernetAddress, formatMacAddress, type Ipv4Number } from '../ethernet/mac-address.js';
import { ArpSocket } from './arp-socket.js';

/** For some hundred packets: in a flood the others are lost, and nothing is heard late. */
const BUFFER_OCTETS = 128 << 10;

/** The sender of an ARP packet, who may lie about its address. */
export interface ArpSender {
  readonly address: Ipv4Number;
  /** The source address of the frame. */
  readonly macAddress: EthernetAddress;
}

/** Hears which hosts of a network have addresses of a range, from the ARP packets that reach this host. Sends nothing. Needs CAP_NET_RAW. */
export class ArpListener {
  readonly #socket: ArpSocket;

  /** @throws SocketError */
  constructor(interfaceName: string, lowest: Ipv4Number, highest: Ipv4Number) {
    this.#socket = new ArpSocket(interfaceName, BUFFER_OCTETS);
    this.#socket.receiveBetween(lowest, highest);
  }

  /** What was heard since the last call, each host and address once. In a flood much of it is lost. */
  heard(): ArpSender[] {
    const heard = new Map<string, ArpSender>();
    for (const { senderAddress: address, frameHardwareAddress } of this.#socket.receive()) {
      const macAddress = formatMacAddress(frameHardwareAddress);
      heard.set(`${address} ${macAddress}`, { address, macAddress });
    }
    return [...heard.values()];
  }

  close(): void {
    this.#socket.close();
  }
}
