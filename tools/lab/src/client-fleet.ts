/** Hundreds of DHCP clients in one process: they send on a network of the lab, and receive every answer. */

import { encodeClientPacket } from '@vmdhcp/dhcp-agent';
import {
  BROADCAST_ADDRESS,
  CLIENT_PORT,
  decodeMessage,
  encodeOption,
  formatIpv4Address,
  messageTypeOf,
  OptionCode,
  parseIpv4Address,
  readMacAddress,
  SERVER_PORT,
  UNSPECIFIED_ADDRESS,
} from '@vmdhcp/dhcp-allocator';
import { PacketSocket } from '@vmdhcp/linux-sockets';
import { waitFor } from './deadline.js';

const POLL_INTERVAL_MS = 2;

export interface FleetAnswer {
  readonly atMs: number;
  /** `offer`, `ack` or `nak`. */
  readonly type: string;
  readonly xid: number;
  readonly macAddress: string;
  readonly address: string;
  /** The sender of the frame. */
  readonly senderMacAddress: string;
}

export interface Question {
  readonly macAddress: string;
  readonly xid: number;
  readonly secs?: number;
  /** Absent: DISCOVER; else a REQUEST for this address, as after a restart. */
  readonly address?: string;
  /** The REQUEST takes the offer of this server. */
  readonly server?: string;
}

export class ClientFleet {
  readonly answers: FleetAnswer[] = [];
  readonly #socket: PacketSocket;
  readonly #timer: NodeJS.Timeout;
  /** Above those that tests number themselves. */
  #lastXid = 1_000_000;

  constructor(network: string, pollIntervalMs = POLL_INTERVAL_MS) {
    this.#socket = new PacketSocket(network, { outgoing: true });
    this.#timer = setInterval(() => this.#read(), pollIntervalMs);
  }

  ask({ macAddress, xid, secs = 0, address, server }: Question): void {
    const options = [
      ...(address === undefined ? [] : [encodeOption('requestedAddress', parseIpv4Address(address) ?? 0)]),
      ...(server === undefined ? [] : [encodeOption('serverIdentifier', parseIpv4Address(server) ?? 0)]),
    ];
    const bytes = encodeClientPacket({
      type: address === undefined ? 'discover' : 'request',
      macAddress,
      xid,
      secs,
      wantsBroadcast: true,
      options,
    });
    this.#socket.broadcast(bytes, {
      sourceAddress: UNSPECIFIED_ADDRESS,
      sourcePort: CLIENT_PORT,
      destinationAddress: BROADCAST_ADDRESS,
      destinationPort: SERVER_PORT,
    });
  }

  /**
   * Asks once, as a new client.
   * @returns the address of the first answer; undefined when none came within `patienceMs` milliseconds.
   */
  async addressFor(question: Omit<Question, 'xid'>, patienceMs = 500): Promise<string | undefined> {
    const xid = this.nextXid();
    this.ask({ ...question, xid });
    const answer = await waitFor('an answer', () => this.answerTo(xid), patienceMs).catch(() => undefined);
    return answer?.address;
  }

  /** A transaction id that no other request of this fleet has. */
  nextXid(): number {
    return ++this.#lastXid;
  }

  /** The first answer to this transaction. */
  answerTo(xid: number): FleetAnswer | undefined {
    return this.answers.find((answer) => answer.xid === xid);
  }

  /**
   * Waits for the first answer to this transaction as long as a client does before it asks again: in milliseconds of the protocol, which a busy
   * machine does not stretch.
   */
  async answerWithin(xid: number, intervalMs: number): Promise<FleetAnswer | undefined> {
    const begunAtMs = performance.now();
    const isOver = () => performance.now() - begunAtMs >= intervalMs;
    await waitFor('an answer, or the time to ask again', () => this.answerTo(xid) !== undefined || isOver(), 2 * intervalMs);
    return this.answerTo(xid);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#socket.close();
  }

  #read(): void {
    for (const { destinationPort, payload, senderHardwareAddress } of this.#socket.receive()) {
      const decoded = destinationPort === CLIENT_PORT ? decodeMessage(payload) : undefined;
      if (!decoded?.ok) continue;
      const { xid, yiaddr, chaddr, options } = decoded.message;
      this.answers.push({
        atMs: performance.now(),
        type: messageTypeOf(options.uint8(OptionCode.messageType) ?? 0) ?? 'unknown',
        xid,
        macAddress: readMacAddress(chaddr),
        address: formatIpv4Address(yiaddr),
        senderMacAddress: readMacAddress(senderHardwareAddress),
      });
    }
  }
}
