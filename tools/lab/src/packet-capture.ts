import {
  type DhcpMessage,
  decodeMessage,
  formatIpv4Address,
  messageTypeOf,
  OptionCode,
  readMacAddress,
} from '@vmdhcp/dhcp-allocator';
import { PacketSocket } from '@vmdhcp/linux-sockets';
import { waitFor } from './deadline.js';

const POLL_INTERVAL_MS = 2;

/** A DHCP message that was seen on a network. */
export interface CapturedMessage {
  readonly atMs: number;
  readonly from: string;
  readonly to: string;
  /** `discover`, `ack`, ... */
  readonly type: string;
  readonly macAddress: string;
  /** The sender of the frame. */
  readonly senderMacAddress: string;
  readonly message: DhcpMessage;
}

/** Listens on a network of a lab, for all DHCP messages that pass the host's end of it. */
export class PacketCapture {
  readonly #messages: CapturedMessage[] = [];
  readonly #socket: PacketSocket;
  readonly #timer: NodeJS.Timeout;

  constructor(network: string) {
    this.#socket = new PacketSocket(network, { outgoing: true });
    this.#timer = setInterval(() => this.#read(), POLL_INTERVAL_MS);
  }

  /** What has passed until now. */
  get messages(): readonly CapturedMessage[] {
    this.#read();
    return this.#messages;
  }

  /** The first message for which `matches`, also one that came before. */
  async expect(what: string, matches: (message: CapturedMessage) => boolean, timeoutMs?: number): Promise<CapturedMessage> {
    return waitFor(
      `${what} on the wire; seen: ${this.messages.map(({ type, from, to }) => `${type} ${from}>${to}`).join(', ')}`,
      () => this.messages.find(matches),
      timeoutMs,
    );
  }

  clear(): void {
    this.#read();
    this.#messages.length = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#socket.close();
  }

  #read(): void {
    for (const { sourceAddress, destinationAddress, payload, senderHardwareAddress } of this.#socket.receive()) {
      const decoded = decodeMessage(payload);
      if (!decoded.ok) continue;
      const { message } = decoded;
      this.#messages.push({
        atMs: performance.now(),
        from: formatIpv4Address(sourceAddress),
        to: formatIpv4Address(destinationAddress),
        type: messageTypeOf(message.options.uint8(OptionCode.messageType) ?? 0) ?? 'unknown',
        macAddress: readMacAddress(message.chaddr),
        senderMacAddress: readMacAddress(senderHardwareAddress),
        message,
      });
    }
  }
}
