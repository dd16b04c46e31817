import { parseIpv4Address, readMacAddress } from '@vmdhcp/dhcp-allocator';
import { ArpSocket } from '@vmdhcp/linux-sockets';

const ASK_INTERVAL_MS = 100;

/** Probes an address again and again (ARP), and counts the times that more than one machine answers. */
export class AddressWatch {
  /** Questions that two answered. */
  doubles = 0;
  readonly #socket: ArpSocket;
  readonly #address: number;
  readonly #timer: NodeJS.Timeout;
  #answered = new Set<string>();

  constructor(network: string, address: string) {
    this.#socket = new ArpSocket(network);
    this.#address = parseIpv4Address(address) ?? 0;
    this.#timer = setInterval(() => this.#ask(), ASK_INTERVAL_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#socket.close();
  }

  #ask(): void {
    for (const { senderAddress, senderHardwareAddress, isReply } of this.#socket.receive()) {
      if (isReply && senderAddress === this.#address) this.#answered.add(readMacAddress(senderHardwareAddress));
    }
    if (this.#answered.size > 1) this.doubles++;
    this.#answered = new Set();
    this.#socket.request({ senderAddress: 0, targetAddress: this.#address });
  }
}
